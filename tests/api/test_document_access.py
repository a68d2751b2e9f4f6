"""B212, B216, B217 over HTTP: the key alone says as whom documents are read."""

from __future__ import annotations

from typing import Any

import pytest

from prism_memory.types import AccessGrant, Permission
from tests.api.conftest import ALICE, CAROL, Caller, make_token, refused
from tests.documents import document
from tests.factories import make_memory

pytestmark = pytest.mark.django_db

SECRET = "Bob earns 5000."
MENU = "Bob eats soup."


@pytest.fixture
def hr() -> Caller:
    return Caller(make_token(principal="hr-bot", groups=["hr"]))


@pytest.fixture
def ids() -> list[Any]:
    grants = [AccessGrant(group="hr")]
    return [
        *document("salaries", SECRET, scope=ALICE, grants=grants),
        *document("menu", MENU, scope=ALICE),
    ]


def shown(caller: Caller, ids: list[Any]) -> list[set[str]]:
    """What each way over HTTP shows."""
    got = [caller.get(f"memories/{known}") for known in ids]
    return [
        {*caller.recalls("Bob")},
        {*caller.recalls("Bob", ids=[str(known) for known in ids])},
        {*caller.lists()},
        {one.json()["text"] for one in got if one.status_code == 200},
        {
            hit["text"]
            for hit in caller.post("recall/deep", {"query": "Bob"}).json()["hits"]
        },
    ]


STRANGERS: dict[str, dict[str, Any]] = {
    "no principal": {},
    "another": {"principal": "eve", "groups": ["sales"]},
    "the group as a principal": {"principal": "hr"},
    "with all permissions": {"permissions": tuple(Permission)},
}


def test_a_key_reads_what_its_principal_was_granted(hr: Caller, ids: list[Any]) -> None:
    """B217: beside all that it opens."""
    assert all(texts == {SECRET, MENU} for texts in shown(hr, ids))


@pytest.mark.parametrize("who", STRANGERS)
def test_other_keys_of_the_scope_do_not(who: str, ids: list[Any]) -> None:
    """B212, B213: an id that may not be read looks like an unknown one."""
    stranger = Caller(make_token(**STRANGERS[who]))
    assert all(texts == {MENU} for texts in shown(stranger, ids))
    refused(stranger.get(f"memories/{ids[0]}"), 404, "not_visible")


def test_a_key_of_another_tenant_with_the_same_names_does_not(ids: list[Any]) -> None:
    """B8, B216."""
    carol = Caller(make_token(CAROL, principal="hr-bot", groups=["hr"]))
    assert all(not texts for texts in shown(carol, ids))


CLAIMS: list[dict[str, Any]] = [
    {"authorization": {"principal": "hr-bot", "groups": ["hr"]}},
    {"principal": "hr-bot"},
    {"groups": ["hr"]},
    {"include_restricted": True},
    {"access_version": 1},
]


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: next(iter(claim)))
def test_no_body_and_no_query_says_as_whom(claim: dict[str, Any]) -> None:
    """C27: who asks does not vouch for themselves."""
    caller = Caller(make_token())
    name = next(iter(claim))
    refused(caller.post("recall", {"query": "Bob", **claim}), 400, "validation")
    refused(caller.get("memories", f"?{name}=hr"), 400, "validation")


def test_no_header_says_as_whom(ids: list[Any]) -> None:
    caller = Caller(make_token(), {"Prism-Principal": "hr-bot"})
    assert caller.post("recall", {"query": "Bob"}).status_code == 400


def test_a_group_that_loses_its_grant_reads_no_more(hr: Caller, ids: list[Any]) -> None:
    """B217: at the next request."""
    make_memory(ALICE).sources.set_access({"salaries": []})
    assert all(texts == {MENU} for texts in shown(hr, ids))
