"""B369, B370: what a recall takes unless its call says otherwise."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest
from django.core import checks

from prism_memory.checks import check_settings
from prism_memory.errors import Misconfigured
from prism_memory.types import TRUST_OPTIONS, Options, Origin, Scoring, Trust
from tests.factories import make_memory, remember
from tests.recall.providers import CONFIGURED

BAD: list[tuple[str, Any]] = [
    ("kinds", "entry"),
    ("tiers", ["tall"]),
    ("namespaces", "notes"),
    ("tags", "home"),
    ("partition", 1),
    ("filter", {"n": {"$no": 1}}),
    ("ids", ["x"]),
    ("as_of", "now"),
    ("known_at", dt.datetime(2026, 1, 1)),  # noqa: DTZ001 - naive, so refused
    ("legs", "words"),
    ("fusion", "mean"),
    ("weights", {"graph": 1}),
    ("rrf_k", 0),
    ("blend", 2),
    ("candidates", 0),
    ("max_bytes", 0),
    ("max_tokens", "1"),
    ("context", "yes"),
    ("scoring", 0.5),
    ("decay_days", -1),
    ("reranker", "nobody"),
    ("diversity", 9),
    ("multi_query", 99),
    ("hyde", 1),
    ("transformer", "nobody"),
    ("expand_hops", 3),
    ("entity_match", "yes"),
    ("message_range", 5),
    ("explain", "yes"),
    ("deadline_seconds", 0),
    ("cancelled", 1),
    ("reinforce", None),
]

TEXTS = ("Ada drinks tea.", "Ada drinks coffee.", "The train leaves at noon.")


@pytest.fixture(autouse=True)
def _configured(settings: Any) -> None:
    settings.PRISM_MEMORY = settings.PRISM_MEMORY | {"WAKE": False, **CONFIGURED}


@pytest.fixture
def defaults(settings: Any) -> Any:
    """Set the defaults of the setting."""

    def set_to(**wish: Any) -> None:
        own = {**settings.PRISM_MEMORY, "SEARCH_DEFAULTS": wish}
        settings.PRISM_MEMORY = own

    return set_to


def legs_of(found: Any) -> set[str]:
    return {leg for hit in found for leg in hit.ranks}


@pytest.mark.django_db
def test_the_calls_options_win_over_the_memorys_over_the_settings(
    defaults: Any,
) -> None:
    """B369: key by key."""
    remember(*TEXTS, wait=True)
    defaults(legs="recency", message_range=1, explain=True)
    memory = make_memory(search_defaults={"legs": "text", "message_range": 0})

    plain = make_memory().recall("tea", 1)
    assert legs_of(plain) == {"recency"}
    assert len(plain.adjacent) == 1
    assert plain.explanations

    own = memory.recall("tea", 1)
    assert legs_of(own) == {"text"}
    assert own.adjacent == ()
    assert own.explanations

    called = memory.recall("tea", 1, legs="vector", explain=False)
    assert legs_of(called) == {"vector"}
    assert called.adjacent == ()
    assert called.explanations == ()


@pytest.mark.django_db
def test_a_call_can_take_a_default_back() -> None:
    """B369: None and its like are values too."""
    remember(*TEXTS, wait=True)
    memory = make_memory(
        search_defaults={
            "tags": [],
            "scoring": Scoring(0, 1),
            "diversity": 0.5,
            "fusion": "rrf",
        }
    )
    assert len(memory.recall("tea")) == 0

    found = memory.recall(
        "tea", tags=None, scoring=None, diversity=None, fusion="convex"
    )

    assert found == make_memory().recall("tea")
    assert len(found) == 3


@pytest.mark.django_db
def test_defaults_hold_in_a_deep_recall_too() -> None:
    remember(*TEXTS, wait=True)
    memory = make_memory(search_defaults={"legs": "text"})

    assert legs_of(memory.deep_recall("tea")) == {"text"}


@pytest.mark.django_db
def test_defaults_do_not_leak_into_another_memory() -> None:
    remember(*TEXTS, wait=True)
    make_memory(search_defaults={"legs": "text"}).recall("tea")

    assert legs_of(make_memory().recall("tea")) == {"vector", "text"}


@pytest.mark.parametrize("name", sorted(TRUST_OPTIONS))
def test_a_memory_with_a_default_about_trust_is_not_made(name: str) -> None:
    """B370."""
    wish: Any = {"legs": "text", name: False}
    with pytest.raises(Misconfigured, match=name) as raised:
        make_memory(search_defaults=wish)
    assert raised.value.field == "search_defaults"


@pytest.mark.parametrize("wish", [{"owner": "user"}, {"topk": 3}, {1: 1}, ["legs"], 1])
def test_a_memory_with_a_default_that_is_no_option_is_not_made(wish: Any) -> None:
    """B370."""
    with pytest.raises(Misconfigured) as raised:
        make_memory(search_defaults=wish)
    assert raised.value.field == "search_defaults"


@pytest.mark.parametrize(("name", "value"), BAD, ids=[name for name, _ in BAD])
def test_a_memory_with_a_default_that_no_recall_can_take_is_not_made(
    name: str, value: Any
) -> None:
    """B369: said where it is written, and not at each recall."""
    wish: Any = {name: value}
    with pytest.raises(Misconfigured, match=name) as raised:
        make_memory(search_defaults=wish)
    assert raised.value.field == "search_defaults"


def test_every_option_that_may_be_a_default_is_checked() -> None:
    assert {name for name, _ in BAD} == set(Options.__annotations__) - TRUST_OPTIONS


def test_defaults_are_held_to_the_limits_of_their_memory() -> None:
    """B30."""
    narrow = {"filter_terms": 1, "query_characters": 1, "query_words": 1}
    make_memory(limits=narrow, search_defaults={"filter": {"n": 1}, "multi_query": 8})

    with pytest.raises(Misconfigured, match="filter has more than 1"):
        make_memory(limits=narrow, search_defaults={"filter": {"n": 1, "m": 1}})


def test_defaults_that_only_together_are_wrong_are_refused(defaults: Any) -> None:
    """B369: the memory's stand over the setting's."""
    defaults(fusion="blend")

    with pytest.raises(Misconfigured, match="blend"):
        make_memory(search_defaults={"legs": "recency"})
    make_memory(search_defaults={"legs": "recency", "fusion": "rrf"})


def test_a_memory_without_defaults_does_not_look_at_the_settings(defaults: Any) -> None:
    """So that a console opens on a site whose settings the checks complain of."""
    defaults(diversity=9)

    assert make_memory().search_defaults is None
    assert make_memory(search_defaults={}).search_defaults == {}


def test_a_default_about_trust_that_is_added_later_is_refused_at_the_recall() -> None:
    """B370."""
    wish = Options(legs="text")
    memory = make_memory(search_defaults=wish)
    wish["include_quarantined"] = True

    with pytest.raises(Misconfigured, match="include_quarantined"):
        memory.recall("tea")


@pytest.mark.parametrize("name", sorted(TRUST_OPTIONS))
def test_a_setting_about_trust_is_an_error_of_the_checks_and_of_a_recall(
    defaults: Any, name: str
) -> None:
    """B370."""
    defaults(**{name: False})

    (error,) = check_settings()
    assert error.id == "prism_memory.E030"
    assert isinstance(error, checks.Error)
    assert name in error.msg
    with pytest.raises(Misconfigured, match=name):
        make_memory().recall("tea")


@pytest.mark.parametrize(
    ("wish", "named"),
    [
        ({"topk": 3}, "topk"),
        ({"fusion": "mean"}, "fusion"),
        ({"multi_query": 99}, "multi_query"),
        ({"kinds": "entry"}, "kinds"),
        ({"filter": {"n": {"$no": 1}}}, "filter"),
    ],
)
def test_the_checks_report_defaults_that_no_recall_can_take(
    defaults: Any, wish: Any, named: str
) -> None:
    defaults(**wish)

    (error,) = check_settings()
    assert error.id == "prism_memory.E030"
    assert named in error.msg


@pytest.mark.parametrize("wish", [{}, {"fusion": "rrf", "rrf_k": 20, "legs": "text"}])
def test_the_checks_let_usable_defaults_pass(defaults: Any, wish: Any) -> None:
    defaults(**wish)

    assert check_settings() == []


def test_defaults_of_another_type_are_reported_once(settings: Any) -> None:
    settings.PRISM_MEMORY = {**settings.PRISM_MEMORY, "SEARCH_DEFAULTS": ["legs"]}

    assert [error.id for error in check_settings()] == ["prism_memory.E003"]


@pytest.mark.django_db
def test_trust_is_weighed_whatever_the_defaults() -> None:
    """B371: what may be defaulted leaves the discount where it is."""
    remember("tea one", wait=True)
    remember("tea two", wait=True, origin=Origin(Trust.TOOL, "search"))
    memory = make_memory(search_defaults={"fusion": "blend", "scoring": Scoring(0, 1)})

    factors = {hit.text: hit.signals["trust"] for hit in memory.recall("tea")}

    assert factors == {"tea one": 1.0, "tea two": 0.8}
