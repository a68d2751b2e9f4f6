"""B114 to B128, B371 to B377: rankings through the door, against values by hand."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from prism_memory import backends
from prism_memory.recall.blending import coverage
from prism_memory.recall.question import WEIGHTS
from prism_memory.types import Entry, Hit, Options, Recalled, Scoring, SourceRef
from tests.factories import make_memory, remember
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


def in_order(found: Recalled) -> bool:
    """Tell whether hits stand by score, then sequence, then id (B114)."""
    places = [(-hit.score, hit.sequence, str(hit.id)) for hit in found]
    return places == sorted(places)


# Ties


def test_equal_scores_go_by_sequence() -> None:
    """B114: whatever was written first."""
    sequences = (30, 10, 20)
    make_memory().remember(
        [Entry("green tea", key=f"k{n}", sequence=n) for n in sequences], wait=True
    )

    for fusion in ("convex", "blend"):
        found = recalled(fusion=fusion)
        assert len({hit.score for hit in found}) == 1
        assert [hit.sequence for hit in found] == [10, 20, 30]


def test_equal_scores_and_sequences_go_by_id() -> None:
    """B114."""
    make_memory().remember(
        [Entry("green tea", key=f"k{n}", sequence=7) for n in range(6)], wait=True
    )

    found = [str(hit.id) for hit in recalled(fusion="blend")]

    assert found == sorted(found)
    assert len(found) == 6


@pytest.mark.parametrize("legs", ["text", "vector", "hybrid"])
def test_equal_texts_are_cut_in_the_order_they_were_given(legs: str) -> None:
    """B114: also within a leg, which cuts ties by id before anything is ranked."""
    entries = [Entry("green tea", key=f"k{n:02}") for n in range(40)]
    make_memory().remember(entries, wait=True)

    found = recalled(top_k=5, legs=legs)

    assert [hit.key for hit in found] == [f"k{n:02}" for n in range(5)]


def test_a_record_of_no_matter_changes_no_order_under_a_scoring() -> None:
    """B120: one with a source made similarity count a quarter of what it did."""
    memory = make_memory()
    then = timezone.now() - 60 * DAY
    memory.remember(
        [Entry("zebra lion tiger", happened_at=then), Entry("zebra lion cow dog ox")],
        wait=True,
    )
    scoring = Scoring(recency_weight=0.3, half_life_ms=WEEK_MS)

    def first() -> str:
        found = memory.recall("zebra lion tiger", legs="text", scoring=scoring)
        return str(found[0].text)

    assert first() == "zebra lion tiger"
    source = SourceRef("s", ordinal=0)
    memory.remember(Entry("zebra", source=source, happened_at=then), wait=True)
    assert first() == "zebra lion tiger"


# Fusion by name


@pytest.mark.parametrize("lam", [None, 0, 0.2, 0.75, 1])
def test_a_blend_is_its_formula(lam: float | None) -> None:
    """B115: of the cosine and the share of the question's words."""
    remember(*TEXTS, wait=True)
    words = 0.2 if lam is None else lam

    found = recalled(fusion="blend", blend=lam)

    assert {*texts(found)} == {*TEXTS}
    for hit in found:
        assert hit.cosine is not None
        share = coverage(QUESTION, hit.text)
        by_hand = (1 - words) * max(hit.cosine, 0.0) + words * share
        assert hit.score == pytest.approx(by_hand)
    assert in_order(found)


def test_a_blend_without_words_is_similarity_alone() -> None:
    """B115: the order of the vector leg."""
    remember(*TEXTS, wait=True)

    blended = recalled(fusion="blend", blend=0)

    assert [hit.ranks["vector"] for hit in blended] == [1, 2, 3, 4, 5]
    assert [hit.score for hit in blended] == [
        pytest.approx(max(hit.cosine or 0.0, 0.0)) for hit in blended
    ]


def test_the_default_fusion_is_convex_and_scoring_of_nothing_changes_nothing() -> None:
    """B115, B122."""
    remember(*TEXTS, wait=True)
    plain = recalled()

    wishes: list[Options] = [
        {"fusion": "convex"},
        {"scoring": None},
        {"scoring": Scoring()},
        {"weights": WEIGHTS},
        {"weights": {leg: 8 * weight for leg, weight in WEIGHTS.items()}},
    ]
    for wish in wishes:
        assert recalled(**wish) == plain
    assert recalled(weights={}) == recalled(weights={"vector": 2, "text": 2})
    assert in_order(plain)


@pytest.mark.parametrize("k", [None, 1, 60, 500])
@pytest.mark.parametrize("weights", [None, {"text": 3}, {"vector": 0, "text": 1}])
def test_ranks_are_fused_as_the_formula_says(
    k: float | None, weights: Mapping[str, float] | None
) -> None:
    """B360 to B363: relative to the first of each leg; k is 60 by default."""
    remember(*TEXTS, wait=True)

    found = recalled(fusion="rrf", rrf_k=k, weights=weights, context=False)

    told = {"vector": 1.0, "text": 1.0, **(weights or {})}
    offset = 60 if k is None else k
    for hit in found:
        by_hand = sum(
            told[leg] * (offset + 1) / (offset + rank)
            for leg, rank in hit.ranks.items()
        )
        assert hit.score == pytest.approx(by_hand / sum(told.values()))
    assert in_order(found)


def test_a_leg_of_no_weight_says_nothing() -> None:
    """B362: the order is the other leg's."""
    remember(*TEXTS, wait=True)

    found = recalled(weights={"text": 0}, context=False)
    alone = recalled(legs="vector")

    assert [hit.id for hit in found] == [hit.id for hit in alone]


def test_a_score_tells_how_well_alone_and_a_rank_which_leg_found_it() -> None:
    """B383: signals and ranks of a plain recall."""
    remember(*TEXTS, wait=True)

    best = recalled()[0]

    assert best.text == TEXTS[0]
    assert best.ranks == {"vector": 1, "text": 1}
    assert {*best.signals} == {"vector", "bm25", "fused", "trust"}
    assert best.signals["vector"] == best.cosine
    assert best.signals["bm25"] == best.bm25


# Composite scoring


def components(hit: Hit) -> tuple[float, float, float]:
    told = hit.signals
    return told["similarity"], told["recency"], told["importance"]


@pytest.mark.parametrize(
    ("recency", "importance"),
    [(0.3, 0.2), (0.5, 0.5), (0.9, 0.6), (1, 1), (0, 0.4), (0.4, 0)],
)
def test_a_composite_is_its_formula(recency: float, importance: float) -> None:
    """B120, B121, B123, B124, B126."""
    aged(0, 7, 14, None, -3, importances=[0.5, None, 1.0, 0.0, 0.25])
    plain = {hit.id: hit.score for hit in recalled()}

    found = recalled(scoring=Scoring(recency, importance, WEEK_MS))

    shared = max(1.0, recency + importance)
    for hit in found:
        similar, recent, important = components(hit)
        assert similar == pytest.approx(plain[hit.id])
        by_hand = (
            (1 - (recency + importance) / shared) * similar
            + recency / shared * recent
            + importance / shared * important
        )
        assert hit.score == pytest.approx(by_hand)
    by_text = {hit.text: components(hit)[1:] for hit in found}
    recencies = [1, 0.5, 0.25, 1, 1] if recency else [1, 1, 1, 1, 1]
    importances = [0.5, 1, 1, 0, 0.25]
    for place, text in enumerate(TEXTS):
        told = pytest.approx((recencies[place], importances[place]), abs=1e-3)
        assert by_text[text] == told
    assert in_order(found)


def test_over_1_in_sum_similarity_says_nothing() -> None:
    """B121: what is least alike but newest and most important is first."""
    aged(30, 20, 10, 5, 0, importances=[0, 0, 0, 0, 1])

    found = recalled(scoring=Scoring(1, 1, WEEK_MS))

    assert texts(found) == [*reversed(TEXTS)]


@pytest.mark.parametrize("scoring", [None, Scoring(), Scoring(half_life_ms=WEEK_MS)])
def test_without_weights_no_component_is_told(scoring: Scoring | None) -> None:
    """B122."""
    aged(0, 7)

    for hit in recalled(scoring=scoring, explain=True):
        assert not {"similarity", "recency", "importance"} & {*hit.signals}


def test_what_is_further_down_can_come_to_the_top() -> None:
    """B125: a page of one is chosen from four candidates and more."""
    aged(30, 30, 30, 30, 0)

    assert texts(recalled(1)) == [TEXTS[0]]
    assert texts(recalled(1, scoring=Scoring(0.9, 0, WEEK_MS))) == [TEXTS[4]]


def test_explanations_tell_the_components() -> None:
    """B126, B129."""
    aged(7, 0)
    found = recalled(scoring=Scoring(0.5, 0.25, WEEK_MS), explain=True)

    for hit, why in zip(found, found.explanations, strict=True):
        assert tuple(why.components.values()) == components(hit)
        assert (why.id, why.score) == (hit.id, hit.score)
        assert why.weights == {leg: WEIGHTS[leg] for leg in ("vector", "text")}


def test_the_order_is_that_of_a_reference_in_memory() -> None:
    """B127: the same rows, vectors and arithmetic without PostgreSQL."""
    now = timezone.now()
    rows = [
        Entry(
            f"{TEXTS[n % 5]} Part {n}.",
            sequence=100 - n % 7,
            importance=(None, 0.2, 0.9)[n % 3],
            happened_at=now - n % 11 * DAY,
        )
        for n in range(28)
    ]
    make_memory().remember(rows, wait=True)
    weights = Scoring(0.4, 0.3, WEEK_MS)
    embed = backends.get_embedder().embed_texts
    passages = [entry.text for entry in rows]
    vectors = embed(passages, role="passage", timeout_seconds=9)
    (asked,) = embed([QUESTION], role="query", timeout_seconds=9)

    def score(place: int) -> Any:
        entry, vector = rows[place], vectors[place]
        cosine = math.fsum(a * b for a, b in zip(asked, vector, strict=True))
        similar = 0.8 * max(cosine, 0) + 0.2 * coverage(QUESTION, entry.text)
        assert entry.happened_at is not None
        recent = 0.5 ** ((now - entry.happened_at) / DAY / 7)
        important = 1.0 if entry.importance is None else entry.importance
        return 0.3 * similar + 0.4 * recent + 0.3 * important

    found = recalled(fusion="blend", scoring=weights)

    by_text = {entry.text: score(place) for place, entry in enumerate(rows)}
    assert texts(found) == sorted(passages, key=lambda text: -by_text[text])
    for hit in found:  # halves of vectors, and the moments between writing and asking
        assert hit.score == pytest.approx(by_text[hit.text], abs=2e-3)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"scoring": Scoring(0.5, 0.5, WEEK_MS)},
        {"fusion": "rrf"},
        {"fusion": "blend", "scoring": Scoring(0.5, 0, WEEK_MS)},
        {"trust_weighting": False},
        {"legs": ["vector", "text", "recency"]},
    ],
)
def test_scoring_costs_no_query_and_no_call(
    django_assert_num_queries: DjangoAssertNumQueries, options: Options
) -> None:
    """B128: one statement and one embedding, as without."""
    remember(*TEXTS, wait=True)
    memory = make_memory()
    memory.recall(QUESTION)
    asked = backends.get_embedder().asked  # type: ignore[attr-defined]
    before = len(asked)

    with django_assert_num_queries(1):
        memory.recall(QUESTION, **options)

    assert asked[before:] == [("query", [QUESTION])]
    assert backends.get_reranker("opinion").asked == []  # type: ignore[attr-defined]
    assert backends.get_transformer("words").asked == []  # type: ignore[attr-defined]
    assert backends.get_grader("judge").asked == []  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "options",
    [{"decay_days": 7}, {"diversity": 0.5}, {"message_range": 1}, {"explain": True}],
    ids=str,
)
def test_what_costs_a_query_costs_one(
    django_assert_num_queries: DjangoAssertNumQueries, options: Any
) -> None:
    """As ``Options`` says of each."""
    remember(*TEXTS, wait=True)
    memory = make_memory()
    memory.recall(QUESTION)

    with django_assert_num_queries(2):
        memory.recall(QUESTION, **options)
