"""The recency leg: the newest in sight, whatever they say. Only where asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from prism_memory.models import Record
from prism_memory.types import Entry, Kind, Recalled, Scope
from tests.db.asking import ask
from tests.factories import NOON, make_memory, make_scope, remember
from tests.recall.bulk import analyze
from tests.recall.worded import (
    HERE,
    STRANGERS,
    count_of,
    recall_plan,
    say,
    texts,
)

pytestmark = pytest.mark.django_db

NEWEST = """
UPDATE prism_memory_record SET sequence = sequence + 1000000000 WHERE writer = 'bulk'
"""
TURNS = [f"turn {n}" for n in range(60)]


def newest(top_k: int = 5, question: str = "zulu", **asked: Any) -> Recalled:
    return make_memory().recall(question, top_k, **{"legs": ["recency"], **asked})


def test_the_newest_come_first_whatever_they_say() -> None:
    remember(*TURNS)

    found = newest()

    assert texts(found) == [f"turn {n}" for n in (59, 58, 57, 56, 55)]
    assert [hit.ranks for hit in found] == [{"recency": n} for n in range(1, 6)]
    assert {hit.method for hit in found} == {"recency"}
    assert [hit.score for hit in found] == sorted(
        (hit.score for hit in found), reverse=True
    )
    assert found.strategy == "none"
    assert found.degraded == ""
    assert not found.bounded


def test_new_is_what_was_written_last_not_what_happened_last() -> None:
    """And not what was changed last, which its row on disk would tell."""
    make_memory().remember([Entry("written first", happened_at=NOON)])
    ids = remember("written last")
    remember("zulu")
    Record.objects.filter(tenant="acme", id=ids[0]).update(uses=9)

    assert texts(newest()) == ["zulu", "written last", "written first"]


def test_it_asks_no_embedder_and_one_statement() -> None:
    """B128: words and vectors are no matter."""
    remember(*TURNS[:3])

    assert count_of(newest) == 1


def test_it_is_asked_only_by_name() -> None:
    remember(*TURNS[:3])

    assert texts(make_memory().recall("zulu", legs="text")) == []
    assert all("recency" not in hit.ranks for hit in make_memory().recall("turn"))


@pytest.mark.parametrize(
    "legs", [["text", "recency"], ["vector", "recency"], ["vector", "text", "recency"]]
)
def test_it_goes_with_the_others(legs: list[str]) -> None:
    remember("zulu of old", wait=True)
    remember(*TURNS[:40], wait=True)

    found = newest(32, legs=legs)

    # Candidates of all legs fill the page; by words or meaning the old one is there.
    assert len(found) == 32
    assert "zulu of old" in texts(found)
    assert any("recency" in hit.ranks for hit in found)
    ranks = [hit.ranks for hit in found if hit.text == "zulu of old"]
    assert {*ranks[0]} <= {*legs}
    assert ranks[0].keys() & {"vector", "text"}


def test_a_record_that_two_legs_find_beats_those_of_one() -> None:
    remember("zulu one", "zulu two", *TURNS[:10], "zulu of today")

    found = newest(legs=["text", "recency"])

    assert found[0].text == "zulu of today"
    assert found[0].method == "hybrid"


HIDDEN: Mapping[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "revoked": ({"revoked_at": NOON}, {}),
    "hidden": ({"visible": False}, {}),
    "strict": ({"visible": None}, {"require_consent": True}),
    "quarantined": ({"gate": "quarantined"}, {}),
    "expired": ({"expires_at": NOON}, {}),
    "retired": ({"retired_at": NOON}, {}),
    "not valid any more": ({"valid_to": NOON}, {}),
    "kinds": ({"kind": "note"}, {"kinds": [Kind.ENTRY]}),
    "namespaces": ({"namespace": "other"}, {"namespaces": [""]}),
    "partition": ({"partition": "other"}, {"partition": ""}),
    "tags": ({"metadata": {"tags": ["food"]}}, {"tags": ["drinks"]}),
    "equality": ({"metadata": {"n": 2}}, {"filter": {"n": 1}}),
    "range": ({"metadata": {"n": 2}}, {"filter": {"n": {"lt": 2}}}),
}
"""Columns of the newest rows; what the reader asks for."""


@pytest.mark.parametrize(("columns", "asked"), HIDDEN.values(), ids=HIDDEN.keys())
def test_a_page_is_full_whatever_hides_the_newest(
    columns: dict[str, Any], asked: dict[str, Any]
) -> None:
    """B13, B131, B134."""
    say({"newer": 1_500}, **columns)
    wanted = remember(*TURNS)
    metadata = {"n": 1, "tags": ["drinks"]}
    Record.objects.filter(tenant="acme", id__in=wanted).update(metadata=metadata)
    ask(NEWEST)

    found = newest(32, **asked)

    assert texts(found) == TURNS[:27:-1]


@pytest.mark.parametrize("stranger", STRANGERS, ids=str)
def test_a_strangers_newest_are_not_seen(stranger: Scope) -> None:
    """B4, B5, B18."""
    remember(*TURNS[:3])
    remember("secret", scope=stranger)

    assert texts(newest()) == ["turn 2", "turn 1", "turn 0"]
    nobody = make_memory(make_scope(owner="nobody"))
    assert texts(nobody.recall("zulu", legs=["recency"])) == []


def test_the_levels_above_are_seen_and_mixed_by_their_time() -> None:
    """B5, B17."""
    above = [Scope("acme"), Scope("acme", "ada"), Scope("acme", "ada", "support")]
    for number, scope in enumerate([*above, HERE, *above, HERE]):
        remember(f"turn {number}", scope=scope)

    assert texts(newest(8)) == [f"turn {n}" for n in range(7, -1, -1)]


def test_a_large_scope_is_read_from_its_newest_on() -> None:
    """B166: not whole, nor sorted, though others have as many."""
    say({"turn": 4_000})
    say({"turn": 4_000}, make_scope(owner="bob"))
    analyze()

    plan = recall_plan(newest)

    assert "prism_memory_record_order" in plan
    assert "Seq Scan on prism_memory_record" not in plan
    assert "Gather" not in plan
