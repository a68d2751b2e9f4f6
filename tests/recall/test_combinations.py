"""Options together: whatever is asked for at once, what holds of each answer holds."""

from __future__ import annotations

import datetime as dt
import random
from itertools import product
from typing import Any, Final

import pytest
from pytest_django import DjangoAssertNumQueries

from prism_memory import backends
from prism_memory.memory import Memory
from prism_memory.models import Record
from prism_memory.types import Entry, Kind, Options, Origin, Scoring, SourceRef, Trust
from tests.factories import NOON, make_memory, make_scope
from tests.recall.providers import CONFIGURED
from tests.recall.scored import QUESTION, TEXTS, WEEK_MS, recalled

pytestmark = pytest.mark.django_db

FAR: Final = dt.datetime(2100, 1, 1, tzinfo=dt.UTC)

VALUES: Final[dict[str, list[Any]]] = {
    "kinds": [[Kind.ENTRY], [Kind.ENTRY, Kind.TURN]],
    "namespaces": [[""], ["", "notes"]],
    "tags": [["food"], ["food", "drink"]],
    "filter": [{"n": {"gte": 2}}, {"or": [{"n": 1}, {"tags": {"exists": True}}]}],
    "as_of": [NOON],
    "known_at": [FAR],
    "include_superseded": [True],
    "include_quarantined": [True],
    "require_consent": [True, False],
    "legs": ["vector", "text", "recency", ["recency", "text"], ["recency", "vector"]],
    "fusion": ["convex", "rrf", "blend"],
    "weights": [{"text": 0}, {"vector": 0.5, "recency": 2}],
    "rrf_k": [1, 500.5],
    "blend": [0, 1],
    "candidates": [1, 128],
    "max_bytes": [200],
    "max_tokens": [50],
    "context": [True, False],
    "scoring": [Scoring(0.5, 0.2, WEEK_MS), Scoring(1, 1, 1000), Scoring()],
    "trust_weighting": [False],
    "decay_days": [1, 365],
    "reranker": ["opinion"],
    "diversity": [0, 0.5, 1],
    "multi_query": [2, 4],
    "hyde": [True],
    "expand_hops": [1, 2],
    "entity_match": [True],
    "message_range": [1, 4],
    "explain": [True],
    "deadline_seconds": [60],
    "reinforce": [True],
}


@pytest.fixture(autouse=True)
def _configured(settings: Any) -> None:
    wish = {"WAKE": False, **CONFIGURED, "TRANSFORMER": "words"}
    settings.PRISM_MEMORY = settings.PRISM_MEMORY | wish
    words: Any = backends.get_transformer("words")
    words.said = ["What is green?", "Who is awake at noon?"]


@pytest.fixture
def stored() -> Memory:
    """Rows of every sort: with and without source, vector, tags, trust, validity."""
    memory = make_memory()
    entries = [
        Entry(
            f"{TEXTS[n % 5]} {'Why?' if n % 4 == 0 else ''} Part {n}.",
            source=SourceRef(f"chat-{n % 2}", n) if n % 3 else None,
            namespace="notes" if n % 5 == 0 else "",
            metadata={"n": n, "tags": ["food"]} if n % 2 else {"n": n},
            importance=(None, 0.0, 0.7)[n % 3],
            origin=Origin(Trust.TOOL, "search") if n % 4 == 1 else None,
            happened_at=NOON if n % 2 else None,
            valid_to=NOON if n % 7 == 6 else None,
        )
        for n in range(40)
    ]
    memory.remember(entries, wait=True)
    memory.remember(["green tea without a vector", "drinks at noon"])
    held = Record.objects.filter(tenant="acme", text__contains="Part 3")
    held.update(gate="quarantined")
    return memory


def drawn(seed: int) -> dict[str, Any]:
    """A third of the options, each with one of its values."""
    chance = random.Random(seed)  # noqa: S311 - no secret
    names = [name for name in VALUES if chance.random() < 1 / 3]
    options = {name: chance.choice(VALUES[name]) for name in names}
    if options.get("fusion") == "blend" and options.get("legs") == "recency":
        del options["legs"]  # refused: nothing could be blended
    return options


@pytest.mark.parametrize("first", range(6))
def test_whatever_is_asked_together_each_answer_is_whole(
    stored: Memory, first: int
) -> None:
    """B114, B116, B117, B129, B382: and the same each time."""
    for seed in range(first, 60, 6):
        check_an_answer_is_whole(stored, seed)


def check_an_answer_is_whole(stored: Memory, seed: int) -> None:
    options: Any = drawn(seed)
    top_k = random.Random(-seed).choice([1, 5, 32])  # noqa: S311

    found = stored.recall(QUESTION, top_k, **options)

    ids = [hit.id for hit in found]
    assert len({*ids}) == len(ids) <= top_k
    assert all(0 <= hit.score <= 1 for hit in found)
    if not {"reranker", "diversity"} & options.keys():
        places = [(-hit.score, hit.sequence, str(hit.id)) for hit in found]
        assert places == sorted(places)
    assert not {item.id for item in found.adjacent} & {*ids}
    explained = [why.id for why in found.explanations]
    assert explained == (ids if options.get("explain") else [])
    if not {"scoring", "decay_days"} & options.keys():  # which age from call to call
        assert stored.recall(QUESTION, top_k, **options) == found


@pytest.mark.parametrize(
    "stranger", [make_scope(tenant="other"), make_scope(thread="chat-2")], ids=str
)
@pytest.mark.usefixtures("stored")
def test_a_stranger_finds_nothing_by_any_options_together(stranger: Any) -> None:
    """B4, B5, B18."""
    for seed in range(0, 60, 3):
        options: Any = drawn(seed)
        found = make_memory(stranger).recall(QUESTION, 32, **options)
        assert (found.hits, found.adjacent, found.explanations) == ((), (), ())


@pytest.mark.parametrize(
    ("legs", "fusion", "context"),
    [
        *product(
            ["hybrid", "vector", "text", ["vector", "text", "recency"]],
            ["convex", "rrf", "blend"],
            [True, False],
        ),
        *product(["recency"], ["convex", "rrf"], [True, False]),
    ],
)
def test_a_page_of_any_ranking_is_full(
    stored: Memory, legs: Any, fusion: str, *, context: bool
) -> None:
    """B131: a page is never short of what is in sight."""
    options: Options = {"legs": legs, "fusion": fusion, "context": context}

    for top_k in (1, 5, 20):
        assert len(stored.recall(QUESTION, top_k, **options)) == top_k


@pytest.mark.parametrize(
    "more",
    [
        {"explain": True},
        {"message_range": 4},
        {"deadline_seconds": 60},
        {"cancelled": lambda: False},
        {"reinforce": True},
        {"known_at": FAR},
        {"kinds": [Kind.ENTRY]},
        {"filter": {"n": {"exists": True}}},
    ],
    ids=lambda more: "".join(more),
)
def test_what_only_tells_more_or_narrows_nothing_changes_no_hit(
    stored: Memory, more: Any
) -> None:
    Record.objects.filter(tenant="acme", metadata={}).update(visible=False)
    plain = stored.recall(QUESTION, 9)

    assert stored.recall(QUESTION, 9, **more).hits == plain.hits


@pytest.mark.parametrize("legs", ["text", "recency", ["text", "recency"]])
def test_legs_without_vectors_do_not_ask_the_embedder(
    legs: Any, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    make_memory().remember(TEXTS, wait=True)
    recalled()
    embedder: Any = backends.get_embedder()
    embedder.asked.clear()

    with django_assert_num_queries(1):
        found = recalled(legs=legs)

    assert embedder.asked == []
    assert found.strategy == "none"
    assert found.degraded == ""
