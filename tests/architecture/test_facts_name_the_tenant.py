"""B22: the tenant is in every statement of every verb of ``memory.facts``.

The verbs are found by looking, so that a new one without a call here fails; and each
has an asynchronous twin, which does nothing of its own.
"""

from __future__ import annotations

import inspect
import uuid
from collections.abc import Callable
from typing import Any, Final

import pytest

from prism_memory.memory.claims import Facts
from prism_memory.types import ReviewAction, Trust, Verdict
from tests.capture import tenant_in_every_statement
from tests.factories import make_memory
from tests.facts.asserted import assert_one, said, supersede_one
from tests.facts.near import planned

pytestmark = pytest.mark.django_db

Call = Callable[[], object]
METHODS: Final = sorted(
    name
    for name, _ in inspect.getmembers(Facts, inspect.isfunction)
    if not name.startswith("_")
)


def facts() -> Facts:
    return make_memory().facts


def on(verb: str, trust: Trust = Trust.USER, **given: Any) -> Callable[[], Call]:
    def made() -> Call:
        fact = assert_one(trust=trust, key="home")
        return lambda: getattr(facts(), verb)(fact.id, **given)

    return made


def asserting() -> Call:
    cited = said()
    return lambda: assert_one(evidence=[cited])


def asserting_again() -> Call:
    again = asserting()
    again()
    return again


def superseding() -> Call:
    old, cited = assert_one(), said("Lisbon.")
    return lambda: supersede_one(old, evidence=[cited])


def unarchiving() -> Call:
    fact = assert_one()
    facts().archive(fact.id)
    return lambda: facts().unarchive(fact.id)


def validating() -> Call:
    new = supersede_one(assert_one(), trust=Trust.TOOL, on_unaccepted="pending")
    facts().quarantine(new.id, reason="odd")
    facts().accept(new.id)
    return lambda: facts().validate(new.id)


def listing() -> Call:
    for n in range(2):
        assert_one(f"Town {n}")
    first = facts()("Ada", limit=1)
    return lambda: facts()("Ada", limit=1, cursor=first.next_cursor)


def looking_back() -> Call:
    assert_one()
    return lambda: facts().timeline("Ada")


def reviewing() -> Call:
    assert_one(trust=Trust.TOOL)
    return lambda: facts().reviews()


def deciding() -> Call:
    assert_one(trust=Trust.TOOL)
    (review,) = facts().reviews()
    return lambda: facts().decide(review.id, ReviewAction.ACCEPT)


def remembering() -> Call:
    return lambda: facts().remember("Ada lives in Porto")


def remembering_again() -> Call:
    again = remembering()
    again()
    return again


def waiting() -> uuid.UUID:
    """Let a claim wait beside another; return the conflict's id."""
    with planned({"cello": 0.6}):
        facts().remember("Ada lives in Porto")
        return facts().remember_with_decision("Ada plays the cello").decision_id


def waiting_beside() -> Call:
    return lambda: waiting()


def in_conflict() -> Call:
    waiting()
    return lambda: facts().conflicts()


def settling() -> Call:
    conflict_id = waiting()
    return lambda: facts().settle_conflict(conflict_id, Verdict.SUPERSEDE)


CALLS: Final = {
    "call": listing,
    "assert_fact": asserting,
    "assert_fact, again": asserting_again,
    "supersede": superseding,
    "get": on("get"),
    "timeline": looking_back,
    "history": on("history"),
    "accept": on("accept", Trust.TOOL),
    "retract": on("retract"),
    "validate": validating,
    "quarantine": on("quarantine", reason="odd"),
    "forget": on("forget"),
    "purge": on("purge"),
    "archive": on("archive"),
    "unarchive": unarchiving,
    "reviews": reviewing,
    "decide": deciding,
    "remember": remembering,
    "remember, again": remembering_again,
    "remember_with_decision": waiting_beside,
    "conflicts": in_conflict,
    "settle_conflict": settling,
}
"""What makes a verb's facts, and then the call itself."""


def test_every_verb_is_called_below_and_has_its_twin() -> None:
    """B22. ``alist`` is the twin of the call of ``memory.facts`` itself."""
    plain = {n for n in METHODS if not inspect.iscoroutinefunction(getattr(Facts, n))}
    assert {*METHODS} - plain == {f"a{name}" for name in plain} | {"alist"}
    assert {name.partition(",")[0] for name in CALLS} - {"call"} == plain


def test_a_verb_is_documented_and_typed() -> None:
    for name in METHODS:
        method = getattr(Facts, name)
        assert inspect.getdoc(method), name
        assert "return" in method.__annotations__, name


@pytest.mark.parametrize("verb", CALLS)
def test_a_verb_names_the_tenant(verb: str) -> None:
    """B22."""
    call = CALLS[verb]()
    with tenant_in_every_statement("acme") as seen:
        call()
    assert seen.on_tenants()
