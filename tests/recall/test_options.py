"""Every option of a recall: what it takes, and what it refuses by its name."""

from __future__ import annotations

import datetime as dt
import math
from typing import Any, Final

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from prism_memory import backends
from prism_memory.conf import Settings
from prism_memory.errors import Invalid, LimitExceeded
from prism_memory.types import (
    TRUST_OPTIONS,
    Authorization,
    Kind,
    Open,
    Options,
    Scoring,
    Tier,
    uuid7,
)
from tests.factories import NOON, make_memory, make_scope, remember_one
from tests.recall.providers import CONFIGURED

pytestmark = pytest.mark.django_db

SHARING: Final = make_scope(thread="sharing")
TEA: Final = "Ada drinks tea, not coffee."
NAIVE: Final = dt.datetime(2026, 1, 1)  # noqa: DTZ001 - meant

no_collections: Final[list[Any]] = ["", "entry", 1, [None], [["entry"]]]
no_flags: Final[list[Any]] = [None, 0, 1, "yes", []]
no_wishes: Final[list[Any]] = [0, 1, "yes", []]
no_times: Final[list[Any]] = [NAIVE, "2026-01-01", 1]
no_numbers: Final[list[Any]] = [True, "1", math.nan, math.inf, 10**400, [1]]
no_shares: Final[list[Any]] = [*no_numbers, -0.01, 1.01]

BAD: Final[dict[str, list[Any]]] = {
    "kinds": [*no_collections, ["no such kind"]],
    "tiers": [*no_collections, ["no such tier"]],
    "namespaces": ["", 1, [None], [1], ["nul \0"]],
    "tags": ["food", 1, [None], [1], ["nul \0"]],
    "partition": [1, ["p"], "nul \0"],
    "filter": [1, "n", [1], {"n": {"$no": 1}}, {"n": math.nan}],
    "ids": ["", 1, ["no id"], [None]],
    "as_of": no_times,
    "known_at": no_times,
    "require_consent": no_wishes,
    "include_superseded": no_flags,
    "include_quarantined": no_flags,
    "authorization": ["", "ada", 1, True, {"principal": "ada"}],
    "share_from_parent_thread_id": ["", " ", 1, b"chat", ["chat"], "nul \0", "a" * 257],
    "legs": [None, "", "both", [], [1], [["text"]]],
    "fusion": [None, "", "mean", 1, ["rrf"]],
    "weights": [1, [1], "text", {"text": -1}, {"words": 1}, {"text": math.nan}],
    "rrf_k": [*no_numbers, 0, -1],
    "blend": no_shares,
    "candidates": [0, 129, True, 1.5, "2"],
    "max_bytes": [0, 524_289, True, 1.5, "2"],
    "max_tokens": [0, 8_001, True, 1.5, "2"],
    "context": no_wishes,
    "scoring": [1, {"recency_weight": 1}, "recency"],
    "trust_weighting": no_flags,
    "decay_days": [*no_numbers, 0, -1],
    "reranker": [1, True, ["opinion"]],
    "diversity": no_shares,
    "multi_query": [0, 9, True, 1.5, "2"],
    "hyde": no_flags,
    "transformer": [1, True, ["words"]],
    "expand_hops": [None, -1, 3, True, 1.5, "1"],
    "entity_match": no_flags,
    "message_range": [-1, 5, True, 1.5, "2"],
    "explain": no_flags,
    "deadline_seconds": [*no_numbers, 0, -1],
    "cancelled": [True, 1, "no"],
    "reinforce": no_flags,
}

GOOD: Final[dict[str, list[Any]]] = {
    "kinds": [None, [Kind.ENTRY], ["entry"], {Kind.ENTRY, Kind.TURN}],
    "tiers": [None, [Tier.NONE]],
    "namespaces": [None, [""], ("", "other")],
    "tags": [None, ["food", "drink"]],
    "partition": [None, ""],
    "filter": [None, {}, {"n": 1}, {"n": {"gte": 1}}],
    "ids": [None],
    "as_of": [None, NOON],
    "known_at": [None, dt.datetime(2100, 1, 1, tzinfo=dt.UTC)],
    "require_consent": [None, False, True],
    "include_superseded": [False, True],
    "include_quarantined": [False, True],
    "authorization": [None, Authorization("ada", ["hr"], open=Open.ALLOW)],
    "share_from_parent_thread_id": [None, SHARING.thread, SHARING],
    "legs": ["hybrid", "vector", "text", "recency", ["recency", "text"]],
    "fusion": ["convex", "rrf", "blend"],
    "weights": [None, {}, {"text": 0}, {"vector": 2, "text": 0.5, "recency": 1}],
    "rrf_k": [None, 0.5, 60],
    "blend": [None, 0, 0.2, 1],
    "candidates": [None, 1, 128],
    "max_bytes": [None, 200, 524_288],
    "max_tokens": [None, 50, 8_000],
    "context": [None, False, True],
    "scoring": [None, Scoring(), Scoring(0.5, 0.5, 1000)],
    "trust_weighting": [False, True],
    "decay_days": [None, 0.1, 30],
    "reranker": [None, "", "opinion"],
    "diversity": [None, 0, 0.5, 1],
    "multi_query": [None, 1, 8],
    "hyde": [False, True],
    "transformer": [None, "", "words"],
    "expand_hops": [0, 1, 2],
    "entity_match": [False, True],
    "message_range": [None, 0, 4],
    "explain": [False, True],
    "deadline_seconds": [None, 60],
    "cancelled": [None, lambda: False],
    "reinforce": [False, True],
}


def pairs(of: dict[str, list[Any]]) -> list[Any]:
    """Every option with each of its values."""
    return [
        pytest.param(name, value, id=f"{name}-{place}")
        for name, values in of.items()
        for place, value in enumerate(values)
    ]


@pytest.fixture(autouse=True)
def _configured(settings: Any) -> None:
    wish = {"WAKE": False, **CONFIGURED}
    settings.PRISM_MEMORY = settings.PRISM_MEMORY | wish


@pytest.fixture
def tea() -> None:
    """Tea, and a thread that shares what it then withholds."""
    withheld = remember_one("a train", scope=SHARING)
    make_memory(SHARING).share_with("chat-1", [withheld])
    make_memory(SHARING).set_consent(withheld, visible=False)
    remember_one(TEA, wait=True, metadata={"n": 1, "tags": ["food"]})


def test_every_option_is_tested() -> None:
    """One without a value that is refused, and one that is taken, fails here."""
    assert {*BAD} == {*GOOD} == {*Options.__annotations__}
    assert TRUST_OPTIONS.issubset(Options.__annotations__)


@pytest.mark.parametrize(("name", "value"), pairs(BAD))
def test_a_bad_value_is_refused_by_the_options_name(name: str, value: Any) -> None:
    """B130: before anybody is asked anything."""
    options: Any = {name: value}
    with (
        CaptureQueriesContext(connection) as queries,
        pytest.raises((Invalid, LimitExceeded)) as raised,
    ):
        make_memory().recall("tea", **options)

    assert raised.value.field == name
    assert [*queries] == []
    assert backends.get_embedder().asked == []  # type: ignore[attr-defined]


@pytest.mark.usefixtures("tea")
@pytest.mark.parametrize(("name", "value"), pairs(GOOD))
def test_a_good_value_is_taken(name: str, value: Any) -> None:
    options: Any = {name: value}

    found = make_memory().recall("Who drinks tea?", **options)

    assert [hit.text for hit in found] == [TEA]


@pytest.mark.usefixtures("tea")
def test_all_options_are_taken_at_once() -> None:
    options: Any = {name: values[-1] for name, values in GOOD.items()}

    found = make_memory().recall("Who drinks tea?", **options | {"tiers": None})

    assert [hit.text for hit in found] == [TEA]


@pytest.mark.parametrize("name", ["k", "topk", "scope", "tenant", "owner", "query_"])
def test_an_option_that_is_not_there_is_a_mistake_of_the_code(name: str) -> None:
    """B30: never passed over in silence."""
    options: Any = {name: 1}
    memory = make_memory()
    for ask in (memory.recall, memory.deep_recall):
        with pytest.raises(TypeError, match=name):
            ask("tea", **options)


@pytest.mark.parametrize(("name", "value"), [("hyde", "yes"), ("blend", 2)])
def test_a_deep_recall_refuses_as_a_recall_does(name: str, value: Any) -> None:
    options: Any = {name: value}
    with pytest.raises(Invalid) as raised:
        make_memory().deep_recall("tea", **options)
    assert raised.value.field == name


@pytest.mark.parametrize("alias", ["reranker", "transformer"])
@pytest.mark.usefixtures("tea")
def test_a_backend_that_is_not_configured_is_told(alias: str) -> None:
    """Whether or not this question needs it."""
    options: Any = {alias: "absent"}
    with pytest.raises(Invalid, match="none of the aliases") as raised:
        make_memory().recall("tea", **options)
    assert raised.value.field == alias


@pytest.mark.parametrize(
    ("name", "limit"), [("multi_query", "MULTI_QUERY"), ("message_range",) * 2]
)
def test_limits_are_named_with_their_bounds(name: str, limit: str) -> None:
    """B30, B116."""
    setting = getattr(Settings, limit.upper())
    options: Any = {name: setting.maximum + 1}
    with pytest.raises(LimitExceeded, match=rf"{name} must be .* {setting.maximum}"):
        make_memory().recall("tea", **options)


def test_too_many_ids_are_refused() -> None:
    memory = make_memory(limits={"recall_ids": 2})
    with pytest.raises(LimitExceeded, match="recall_ids") as raised:
        memory.recall("tea", ids=[uuid7() for _ in range(3)])
    assert raised.value.field == "ids"
