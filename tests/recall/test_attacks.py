"""What was tried against recall, and must not work."""

from __future__ import annotations

from typing import Any

import pytest

from prism_memory import Entry, Scope, backends
from prism_memory.errors import LimitExceeded
from prism_memory.indexing import spaces
from prism_memory.models import EmbeddingSpace, Record
from prism_memory.types import Grade
from tests.factories import (
    NOON,
    make_edge,
    make_memory,
    make_record,
    make_scope,
    make_tombstone,
    remember,
    remember_one,
)
from tests.recall.providers import CONFIGURED

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("withheld", [1, 5, 20])
def test_no_score_tells_how_many_records_are_withheld(withheld: int) -> None:
    """B134: their number stood in the weight of every word."""
    above = make_memory(Scope("acme"))
    reader = make_memory(make_scope(owner="bob"))
    others = ["green tea", *(f"milk {n}" for n in range(39))]
    reader.remember([Entry(text, key=text) for text in others])
    before = reader.recall("tea", legs="text")[0]

    hidden = above.remember([f"secret {n}" for n in range(withheld)]).accepted
    for record_id in hidden:
        above.set_consent(record_id, visible=False)

    after = reader.recall("tea", legs="text")[0]
    assert (after.bm25, after.score) == (before.bm25, before.score)


def test_words_withheld_by_lineage_alone_weigh_nothing() -> None:
    """What blocks a source blocks what derives from it, its words included."""
    remember("salt one", "two")
    make_tombstone(source := make_record("zzz"))
    memory = make_memory()
    before = [(hit.text, hit.bm25) for hit in memory.recall("salt two", legs="text")]

    make_edge(make_record("salt salt"), source)

    after = [(hit.text, hit.bm25) for hit in memory.recall("salt two", legs="text")]
    assert after == before


def test_a_score_does_not_depend_on_what_was_asked_before(monkeypatch: Any) -> None:
    """A process that knows a place has common words asks another way."""
    monkeypatch.setattr("prism_memory.recall.candidates.statement.TERM_ROWS", 5)
    memory = make_memory()
    rare = [Entry("rare words", namespace=name) for name in ("a", "b")]
    memory.remember([*rare, *(f"common {n}" for n in range(9))])
    narrowed: Any = {"legs": "text", "namespaces": ["a"]}
    before = memory.recall("rare", **narrowed)

    assert memory.recall("common", legs="text").bounded

    after = memory.recall("rare", **narrowed)
    assert [hit.score for hit in after] == [hit.score for hit in before]
    assert after.bounded == before.bounded


@pytest.mark.parametrize("joint", ["_", "²", "-", "\u200b", "."])
def test_words_are_counted_however_they_are_joined(joint: str) -> None:
    """QUERY_WORDS bounds what PostgreSQL looks up, which splits at all of these."""
    words = joint.join(f"w{n}" for n in range(70))
    with pytest.raises(LimitExceeded, match="different words") as raised:
        make_memory().recall(words)
    assert raised.value.field == "query"


@pytest.mark.parametrize("operator", ["contains", "eq", "ne"])
def test_an_operand_holds_few_values(operator: str) -> None:
    """What contains what is compared each with each: minutes, within all limits."""
    many = [[n, 1] for n in range(2_400)]
    with pytest.raises(LimitExceeded, match="more than 100 values") as raised:
        make_memory().recall("tea", filter={"k": {operator: many}})
    assert raised.value.field == "filter"


@pytest.fixture
def judge(settings: Any) -> Any:
    settings.PRISM_MEMORY = {**settings.PRISM_MEMORY, **CONFIGURED, "GRADER": "judge"}
    return backends.get_grader("judge")


def test_what_was_revoked_while_a_grader_thought_goes_to_nobody(
    judge: Any, monkeypatch: Any
) -> None:
    """B231's kind: neither to the next verdict nor to the caller."""
    secret, _ = remember("the tea is green", "the tea is hot", wait=True)
    shown: list[list[str]] = []

    def grade(question: str, passages: Any, *, timeout_seconds: float) -> Grade:
        shown.append(list(passages))
        Record.objects.filter(tenant="acme", id=secret).update(revoked_at=NOON)
        return Grade(sufficient=False, reformulation=f"hot tea {len(shown)}")

    monkeypatch.setattr(judge, "grade", grade)
    found = make_memory().deep_recall("Which tea?", force_hard=True)

    assert "the tea is green" in shown[0]
    assert not any("the tea is green" in passages for passages in shown[1:])
    assert [hit.text for hit in found] == ["the tea is hot"]


def test_a_space_that_was_changed_meanwhile_is_not_compared_with() -> None:
    """C23: another process switched the embedder between two questions."""
    remember("tea", wait=True)
    memory = make_memory()
    assert memory.recall("tea", legs="vector")
    known = dict(spaces._known)
    (old,) = EmbeddingSpace.objects.filter(state="active")
    EmbeddingSpace.objects.filter(id=old.id).update(state="retired")
    EmbeddingSpace.objects.create(
        alias=old.alias,
        provider=old.provider,
        model=old.model,
        dimensions=old.dimensions,
        state="active",
    )
    spaces._known.update(known)  # what this process still believes

    assert not memory.recall("tea", legs="vector")


@pytest.mark.parametrize("legs", ["vector", "hybrid"])
def test_an_answer_says_that_something_waits_for_its_vector(legs: str) -> None:
    """Nothing was found, because nothing could be."""
    remember_one("seen", wait=True)
    make_memory(make_scope(owner="bob")).remember("The heron stood in the water")

    found = make_memory(make_scope(owner="bob")).recall("two wheels bird", legs=legs)

    assert not found
    assert found.degraded == "some records have no vector yet"
    assert not make_memory().recall("two wheels bird", legs=legs).degraded
