"""B371 to B377, B382: decay, trust, validity and narrowing, through the door."""

from __future__ import annotations

import math
import uuid
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.utils import timezone

from prism_memory import backends
from prism_memory.models import Record, Reinforcement
from prism_memory.types import Entry, Origin, Scoring, Trust
from tests.factories import make_memory, make_scope, remember, remember_one
from tests.recall.providers import CONFIGURED
from tests.recall.scored import (
    DAY,
    QUESTION,
    TEXTS,
    WEEK_MS,
    aged,
    recalled,
    texts,
)

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _configured(settings: Any) -> None:
    settings.PRISM_MEMORY = settings.PRISM_MEMORY | {"WAKE": False, **CONFIGURED}


# Decay


def reinforced(record_id: uuid.UUID, strength: float) -> None:
    Reinforcement.objects.create(
        tenant="acme",
        record_id=record_id,
        strength=strength,
        recalls=3,
        last_recalled_at=timezone.now() - 10 * DAY,
    )


def test_what_is_old_fades_and_what_was_recalled_fades_less() -> None:
    """B377."""
    never, strong, weak = aged(20, 20, 20)
    reinforced(strong, 2.0)
    reinforced(weak, 0.1)
    plain = {hit.id: hit.score for hit in recalled()}

    found = {hit.id: hit for hit in recalled(decay_days=10)}

    by_hand = {never: math.exp(-2), strong: math.exp(-0.5), weak: math.exp(-2)}
    for record_id, factor in by_hand.items():
        hit = found[record_id]
        assert hit.signals["decay"] == pytest.approx(factor, rel=1e-3)
        assert hit.score == pytest.approx(plain[record_id] * factor, rel=1e-3)


def test_decay_is_before_the_cut() -> None:
    """B377: what fades makes room on a page of one."""
    aged(400, 0)

    assert texts(recalled(1)) == [TEXTS[0]]
    assert texts(recalled(1, decay_days=1)) == [TEXTS[1]]


# Trust


def of_trust(text: str, trust: Trust, **columns: Any) -> uuid.UUID:
    record_id = remember_one(text, wait=True, origin=Origin(trust, "x"))
    if columns:
        Record.objects.filter(tenant="acme", id=record_id).update(**columns)
    return record_id


def test_what_is_not_first_party_counts_less_and_quarantine_wins() -> None:
    """B371: and all of it is told."""
    for trust in Trust:
        of_trust(f"green tea of {trust}", trust)
    of_trust("green tea held", Trust.USER, gate="quarantined")

    found = recalled(include_quarantined=True)

    factors = {hit.text: hit.signals["trust"] for hit in found}
    mine = {f"green tea of {t}": 1.0 for t in (Trust.USER, Trust.SYSTEM)}
    theirs = {f"green tea of {t}": 0.8 for t in Trust}
    assert factors == {**theirs, **mine, "green tea held": 0.3}
    plain = {h.id: h for h in recalled(include_quarantined=True, trust_weighting=False)}
    for hit in found:
        base = plain[hit.id].score
        assert hit.score == pytest.approx(base * hit.signals["trust"])
        assert "trust" not in plain[hit.id].signals


def test_the_factors_are_a_setting(settings: Any) -> None:
    """B371."""
    of_trust("green tea", Trust.TOOL)
    factors = {"TRUST_FACTORS": {"tool": 0.25}}
    settings.PRISM_MEMORY = {**settings.PRISM_MEMORY, **factors}

    assert recalled()[0].signals["trust"] == 0.25


def test_the_discount_can_push_a_foreign_hit_off_the_page() -> None:
    """B372, B373."""
    of_trust("Who drinks green tea?", Trust.TOOL)
    of_trust("Who drinks green tea there?", Trust.USER)

    assert texts(recalled(1, fusion="blend")) == ["Who drinks green tea there?"]
    unweighted = recalled(1, fusion="blend", trust_weighting=False)
    assert texts(unweighted) == ["Who drinks green tea?"]


def test_first_party_results_do_not_change() -> None:
    """B372."""
    remember(*TEXTS, wait=True)

    weighed, plain = recalled(), recalled(trust_weighting=False)

    assert [(h.id, h.score) for h in weighed] == [(h.id, h.score) for h in plain]


def test_what_is_held_back_is_shown_as_such_and_only_if_asked() -> None:
    """B382: in every leg."""
    of_trust("green tea", Trust.USER, gate="quarantined", gate_reason="a suspicion")

    for legs in ("vector", "text", "recency", "hybrid"):
        assert texts(recalled(legs=legs)) == []
        (hit,) = recalled(legs=legs, include_quarantined=True)
        assert (hit.gate, hit.gate_reason) == ("quarantined", "a suspicion")


# Validity and what narrows


def test_reads_are_as_of_now_unless_asked_otherwise() -> None:
    """B374, B382: in every leg."""
    now = timezone.now()
    entries = [
        Entry("green tea then", valid_to=now - DAY),
        Entry("green tea now", valid_from=now - DAY),
        Entry("green tea later", valid_from=now + DAY),
    ]
    make_memory().remember(entries, wait=True)

    for legs in ("vector", "text", "recency", "hybrid"):
        assert texts(recalled(legs=legs)) == ["green tea now"]
        past = recalled(legs=legs, as_of=now - 2 * DAY)
        assert texts(past) == ["green tea then"]
        assert texts(recalled(legs=legs, as_of=now - DAY)) == ["green tea now"]
        every = {*texts(recalled(legs=legs, include_superseded=True))}
        assert every == {entry.text for entry in entries}
        both = recalled(legs=legs, include_superseded=True, as_of=now + 2 * DAY)
        assert {*texts(both)} == {"green tea now", "green tea later"}


def test_what_changed_since_it_was_known_is_marked() -> None:
    """data-model.md: visible now and then; changes are flagged."""
    first, second = remember("green tea one", "green tea two", wait=True)
    known = timezone.now()
    make_memory().set_consent(second, visible=True, reason="again")
    Record.objects.filter(tenant="acme", id=second).update(changed_at=known + DAY)
    Record.objects.filter(tenant="acme", id=first).update(changed_at=known - DAY)

    changed = {hit.id: hit.changed for hit in recalled(known_at=known)}

    assert changed == {first: False, second: True}
    assert not any(hit.changed for hit in recalled())


@pytest.mark.parametrize("legs", ["vector", "text", "recency", "hybrid"])
def test_a_tagged_search_is_full_and_any_tag_will_do(legs: str) -> None:
    """B375, B131: 40 untagged records are nearer."""
    remember(*[f"green tea green tea {n}" for n in range(40)], wait=True)
    for tags in (["food"], ["drink", "x"], "food", ["other"]):
        remember_one(f"tea {tags}", wait=True, metadata={"tags": tags})

    found = recalled(3, legs=legs, tags=["drink", "food"])

    wanted = {"tea ['food']", "tea ['drink', 'x']", "tea food"}
    assert {*texts(found)} == wanted


STRANGERS = [
    make_scope(tenant="other"),
    make_scope(owner="bob"),
    make_scope(owner="ADA"),
    make_scope(agent="sales"),
    make_scope(thread="chat-2"),
    make_scope(thread=""),
    make_scope(agent="", thread=""),
]


OPTIONS: list[dict[str, Any]] = [
    {"legs": "recency"},
    {"fusion": "rrf"},
    {"fusion": "blend"},
    {"scoring": Scoring(1, 1, WEEK_MS)},
    {"decay_days": 1},
    {"diversity": 0},
    {"message_range": 4, "explain": True},
    {"reranker": "opinion"},
    {"hyde": True, "multi_query": 8, "transformer": "words"},
    {"include_superseded": True, "include_quarantined": True},
    {"tags": ["food"]},
]


@pytest.mark.parametrize("stranger", STRANGERS, ids=str)
def test_a_stranger_finds_nothing_however_they_ask(stranger: Any) -> None:
    """B4, B5, B6, B18, B382: also beside hits of their own."""
    for text in TEXTS:
        remember_one(text, wait=True, metadata={"tags": ["food"]})
    own = remember_one(
        "green tea of my own", scope=stranger, wait=True, metadata={"tags": ["food"]}
    )
    backends.get_transformer("words").said = [*TEXTS]  # type: ignore[attr-defined]

    for options in OPTIONS:
        found = make_memory(stranger).recall(QUESTION, 32, **options)

        assert [hit.id for hit in found] == [own], options
        assert found.adjacent == ()
        assert {why.id for why in found.explanations} <= {own}


def test_the_asynchronous_twin_takes_the_same_options() -> None:
    remember(*TEXTS, wait=True)
    options: Any = {"scoring": Scoring(0, 0.5), "fusion": "rrf", "explain": True}

    found = async_to_sync(make_memory().arecall)(QUESTION, 3, **options)

    assert found == recalled(3, **options)
