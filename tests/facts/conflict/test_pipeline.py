"""What becomes of a claim that meets others: each stage, and all of them."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prism_memory.facts.conflict import Existing, New, Rules, decide
from prism_memory.facts.conflict.configured import configured_rules
from prism_memory.types import Acceptance, ConflictStage, ConflictZone, Verdict

RULES = configured_rules()
A, B, C = (uuid.UUID(int=number) for number in (1, 2, 3))


def old(text: str, cosine: float | None, which: uuid.UUID = A, **more: Any) -> Existing:
    return Existing(id=which, text=text, cosine=cosine, **more)


def outcome(
    text: str, *existing: Existing, **more: Any
) -> tuple[Verdict, ConflictStage]:
    found = decide(New(text, **more), existing, RULES)
    return found.verdict, found.stage


def test_the_same_words_are_a_duplicate_without_any_vector():
    """B333, B334."""
    found = decide(New("ada LIVES in  Porto"), [old("Ada lives in Porto", None)], RULES)
    assert (found.verdict, found.stage) == (Verdict.DEDUP, ConflictStage.EXACT)
    assert (found.zone, found.similarity) == (ConflictZone.EXACT, 1.0)
    assert found.target == A


def test_hot_is_a_duplicate_before_any_marker():
    """B336."""
    moved = old("Ada moved from Faro to Porto", 0.95)
    assert outcome("Ada moved to Porto", moved) == (
        Verdict.DEDUP,
        ConflictStage.ZONES,
    )


def test_a_near_duplicate_is_one_only_after_markers_and_triples():
    """B336."""
    lives = old("Ada lives in Porto", 0.9)
    assert outcome("Ada has a home in Porto", lives) == (
        Verdict.DEDUP,
        ConflictStage.ZONES,
    )
    assert outcome("Ada moved to Porto", lives) == (
        Verdict.SUPERSEDE,
        ConflictStage.MARKERS,
    )
    assert outcome("Ada lives in Lisbon", lives) == (
        Verdict.SUPERSEDE,
        ConflictStage.SUBJECT_PREDICATE,
    )


@pytest.mark.parametrize("text", ["Ada moved to Porto", "Ada lives in Lisbon", "Tea"])
def test_what_is_cold_is_admitted_whatever_its_words(text):
    """B335, B338."""
    assert outcome(text, old("Ada lives in Porto", 0.4)) == (
        Verdict.ADMIT,
        ConflictStage.ZONES,
    )


def test_triples_never_reach_below_the_cold_threshold():
    """B338: the nearest is warm, and the one of the same subject is not."""
    near = old("Ada has a house", 0.6, A)
    far = old("Ada lives in Porto", 0.4, B)
    assert outcome("Ada lives in Lisbon", near, far) == (
        Verdict.PENDING,
        ConflictStage.DEFER,
    )
    warm = replace(far, cosine=0.41)
    found = decide(New("Ada lives in Lisbon"), [near, warm], RULES)
    assert (found.verdict, found.target) == (Verdict.SUPERSEDE, B)


def test_a_marker_replaces_the_nearest():
    """B337."""
    found = decide(
        New("Ada no longer drinks coffee"),
        [old("Ada drinks coffee", 0.7, B), old("Ada drinks tea", 0.6, A)],
        RULES,
    )
    assert (found.verdict, found.target) == (Verdict.SUPERSEDE, B)
    assert found.reason == "marker en:no longer"
    assert found.others == (B, A)


def test_what_an_author_gave_is_compared_before_what_the_words_say():
    """B339."""
    tea = old("x", 0.5, subject="Ada", predicate="drinks", value="tea")
    same = New("y", subject="ADA", predicate="drinks", value="Tea")
    assert decide(same, [tea], RULES).verdict is Verdict.DEDUP
    other = replace(same, value="milk")
    assert decide(other, [tea], RULES).verdict is Verdict.SUPERSEDE


def test_what_nothing_tells_waits_with_all_its_neighbours():
    """B340, B341."""
    found = decide(
        New("Ada plays the cello"),
        [old("Ada hears music", 0.5, C), old("Ada owns a cello", 0.8, B)],
        RULES,
    )
    assert (found.verdict, found.stage) == (Verdict.PENDING, ConflictStage.DEFER)
    assert found.zone is ConflictZone.CHECK
    assert found.others == (B, C)
    assert found.similarity == 0.8
    assert found.target is None


@pytest.mark.parametrize("cosine", [0.99, 0.9, 0.6])
def test_other_numbers_are_never_a_duplicate(cosine):
    """B357."""
    bill = old("Invoice 4711 is due", cosine)
    assert outcome("Invoice 4712 is due", bill) == (
        Verdict.PENDING,
        ConflictStage.DEFER,
    )


def test_other_numbers_are_no_duplicate_of_the_same_triple_either():
    """B357."""
    triple: dict[str, Any] = {
        "subject": "Ada",
        "predicate": "lives in",
        "value": "Porto",
    }
    before = old("Ada lives in Porto since 2019", 0.97, **triple)
    assert outcome("Ada lives in Porto since 2021", before, **triple) == (
        Verdict.PENDING,
        ConflictStage.DEFER,
    )


def test_the_same_words_of_another_time_are_another_claim():
    """C31."""
    before = old("Ada works at Globex", 1.0, is_of_other_time=True)
    assert outcome("Ada works at Globex", before)[0] is Verdict.PENDING
    assert outcome("Ada works at Globex", before, is_over=True) == (
        Verdict.ADMIT,
        ConflictStage.ZONES,
    )


def test_what_began_no_later_ends_nothing():
    """C31: learnt today, true since before what is known: a person has to say."""
    since = old("Ada lives in Porto", 0.9, starts_later=True)
    assert outcome("Ada lives in Lisbon", since) == (
        Verdict.PENDING,
        ConflictStage.SUBJECT_PREDICATE,
    )
    assert outcome("Ada moved to Lisbon", since) == (
        Verdict.PENDING,
        ConflictStage.MARKERS,
    )


def test_a_claim_never_meets_itself():
    """B342."""
    itself = old("Ada lives in Porto", 1.0, A)
    assert outcome("Ada lives in Porto", itself, id=A)[0] is Verdict.ADMIT


def test_what_a_tool_said_does_not_swallow_what_the_user_says():
    said = old("Ada lives in Porto", 0.99, acceptance=Acceptance.PROPOSAL)
    assert outcome("Ada lives in Porto", said) == (
        Verdict.SUPERSEDE,
        ConflictStage.EXACT,
    )
    assert outcome("Ada's home is Porto", said)[0] is Verdict.SUPERSEDE
    weak = {"acceptance": Acceptance.PROPOSAL}
    assert outcome("Ada lives in Porto", said, **weak)[0] is Verdict.DEDUP


def test_what_is_quarantined_does_not_swallow_what_is_not():
    shut = old("Ada lives in Porto", None, is_open=False)
    assert outcome("Ada lives in Porto", shut)[0] is Verdict.ADMIT
    assert outcome("Ada lives in Porto", shut, is_open=False)[0] is Verdict.DEDUP


TEXTS = (
    "Ada lives in Porto",
    "Ada lives in Lisbon",
    "ada lives in  porto",
    "Ada moved to Lisbon",
    "Ada never drinks coffee",
    "Invoice 4711 is due",
    "Invoice 4712 is due",
    "Ada plays the cello",
)
COSINES = (None, -1.0, 0.0, 0.4, 0.41, 0.8, 0.85, 0.9, 0.95, 1.0)
SAME_SUBJECT = dict.fromkeys(TEXTS[:3])
MARKED = {"Ada moved to Lisbon", "Ada never drinks coffee"}


def naive(
    new: New, existing: list[Existing]
) -> Iterator[tuple[Verdict, uuid.UUID | None]]:
    """Say the rules again, one after the other, for the texts above."""
    others = [one for one in existing if one.id != new.id]
    same = [one for one in others if one.text.lower().split() == words(new)]
    if same:
        yield Verdict.DEDUP, max(same, key=lambda one: (cosine(one), one.id)).id
    near = [one for one in others if one.cosine is not None]
    near.sort(key=lambda one: (-cosine(one), one.id))
    if not near or cosine(near[0]) <= 0.4:
        yield Verdict.ADMIT, None
        return
    top = near[0]
    invoices = new.text.startswith("Inv") or top.text.startswith("Inv")
    if cosine(top) >= 0.95 and not invoices:
        yield Verdict.DEDUP, top.id
    if new.text in MARKED:
        yield Verdict.SUPERSEDE, top.id
    # Those of the same object are the same words.
    yield from (
        (Verdict.SUPERSEDE, one.id)
        for one in near
        if cosine(one) > 0.4 and {new.text, one.text} <= SAME_SUBJECT.keys()
    )
    if cosine(top) >= 0.85 and not invoices:
        yield Verdict.DEDUP, top.id
    yield Verdict.PENDING, None


def words(new: New) -> list[str]:
    return new.text.lower().split()


def cosine(one: Existing) -> float:
    return -2.0 if one.cosine is None else one.cosine


@given(
    st.sampled_from(TEXTS),
    st.lists(st.tuples(st.sampled_from(TEXTS), st.sampled_from(COSINES)), max_size=5),
    st.integers(min_value=0, max_value=4),
    st.randoms(),
)
def test_all_stages_together_are_the_naive_rules(text, drawn, own, random):
    """B333 to B342, B357, in any order of what is found."""
    existing = [
        old(words, cosine, uuid.UUID(int=n)) for n, (words, cosine) in enumerate(drawn)
    ]
    new = New(text, id=uuid.UUID(int=own))
    wanted = next(naive(new, existing))
    random.shuffle(existing)
    found = decide(new, existing, RULES)
    assert (found.verdict, found.target) == wanted
    assert new.id not in found.others
    if found.verdict in (Verdict.DEDUP, Verdict.SUPERSEDE):
        assert found.target in found.others
    assert found.similarity is None or -1 <= found.similarity <= 1


def test_rules_without_packs_still_decide_by_cosine():
    """B337: packs are data."""
    found = decide(New("Ada moved to Rome"), [old("Ada lives in Rome", 0.9)], Rules())
    assert (found.verdict, found.stage) == (Verdict.DEDUP, ConflictStage.ZONES)
