"""Every option of a recall over HTTP: it reaches the domain, or is refused aloud."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest
from django.test import override_settings
from django.utils import timezone

from prism_memory import backends, signals
from prism_memory.api.recall.inputs import RecallInput
from prism_memory.api.recall.outputs import (
    DeepRecalledOutput,
    ExplanationOutput,
    HitOutput,
    RecalledOutput,
    SeenOutput,
)
from prism_memory.errors import DeadlineExceeded
from prism_memory.memory import Memory
from prism_memory.models import Record
from prism_memory.recall.question import WEIGHTS
from prism_memory.types import Options, Permission, TombstoneReason
from tests.api.conftest import ALICE, Caller, make_token, refused
from tests.api.test_openapi import validator
from tests.factories import make_tombstone
from tests.recall.providers import CONFIGURED, Opinion, Words

pytestmark = pytest.mark.django_db

YESTERDAY = timezone.now() - dt.timedelta(days=1)
LONG_AGO = "2001-01-01T00:00:00Z"
SECRET = "zanzibar"

NOT_OVER_HTTP = {"cancelled", "authorization"}
"""A caller who does not want the answer any more closes the connection; and as whom
documents are read, the key alone says."""

EVERYTHING: dict[str, Any] = {
    "kinds": ["entry"],
    "tiers": [""],
    "namespaces": [""],
    "tags": ["home"],
    "partition": "",
    "filter": {"n": 1},
    "as_of": "2030-01-01T00:00:00Z",
    "known_at": "2030-01-01T00:00:00Z",
    "require_consent": False,
    "include_superseded": True,
    "include_quarantined": True,
    "legs": ["text", "vector", "recency"],
    "fusion": "rrf",
    "weights": {"vector": 1, "text": 0.5, "recency": 0},
    "rrf_k": 20,
    "blend": 0.5,
    "candidates": 20,
    "context": True,
    "scoring": {
        "recency_weight": 0.2,
        "importance_weight": 0.1,
        "half_life_ms": 86_400_000,
    },
    "trust_weighting": False,
    "decay_days": 30,
    "reranker": "opinion",
    "diversity": 0.5,
    "multi_query": 2,
    "hyde": True,
    "transformer": "words",
    "expand_hops": 1,
    "entity_match": True,
    "max_bytes": 65_536,
    "max_tokens": 2_000,
    "message_range": 1,
    "explain": True,
    "deadline_seconds": 60,
    "reinforce": True,
}


def reader(*more: Permission) -> Caller:
    """A key of Alice's that may read, and what else is said."""
    return Caller(make_token(ALICE, (Permission.READ, *more)))


def columns(memory_id: str, **changed: Any) -> Record:
    rows = Record.objects.filter(id=memory_id)
    rows.update(**changed)
    return rows.get()


def test_every_option_of_recall_is_one_over_http() -> None:
    fields = set(RecallInput().fields) - {"query", "top_k"}

    # Named of what is there: see below, and test_shares.py.
    assert fields - {"ids", "share_from_parent_thread_id"} == set(EVERYTHING)
    assert fields == set(Options.__annotations__) - NOT_OVER_HTTP


@override_settings(PRISM_MEMORY=CONFIGURED)
def test_all_options_at_once_are_answered_as_described(alice: Caller) -> None:
    """B114 to B133 over HTTP."""
    source = {"key": "chat", "ordinal": 0}
    memory_id = alice.remember(
        "Ada moved to Porto.",
        metadata={"n": 1, "tags": ["home"]},
        source=source,
        wait=True,
    )
    alice.remember("The tram is yellow.", source=source | {"ordinal": 1}, wait=True)
    question = {"query": "Where did Ada move?", "ids": [memory_id], **EVERYTHING}

    answer = alice.post("recall", question)

    assert answer.status_code == 200, answer.content
    validator("RecallInput").validate(question)
    validator("RecalledOutput").validate(answer.json())
    found = answer.json()
    assert list(found) == list(RecalledOutput().fields)
    assert [hit["id"] for hit in found["hits"]] == [memory_id]
    assert list(found["hits"][0]) == list(HitOutput().fields)
    assert list(found["explanations"][0]) == list(ExplanationOutput().fields)
    assert found["bounded"] is False
    assert found["timings_ms"]["candidates"] > 0


def test_what_is_asked_reaches_the_domain_as_it_is(
    alice: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that no option is taken and then forgotten."""
    seen: dict[str, Any] = {}

    def stop(self: Memory, query: str, **given: Any) -> None:
        seen.update(given)
        raise DeadlineExceeded

    monkeypatch.setattr(Memory, "recall", stop)

    with override_settings(PRISM_MEMORY=CONFIGURED):
        refused(alice.post("recall", {"query": "a", **EVERYTHING}), 504, "deadline")

    scoring = seen.pop("scoring")
    told = {name: getattr(scoring, name) for name in EVERYTHING["scoring"]}
    assert told == EVERYTHING["scoring"]
    moments = {name: seen.pop(name).isoformat() for name in ("as_of", "known_at")}
    assert set(moments.values()) == {"2030-01-01T00:00:00+00:00"}
    assert seen == {k: v for k, v in EVERYTHING.items() if k in seen}
    assert set(seen) | {"scoring", *moments} == set(EVERYTHING)


def test_tags_let_through_what_has_one_of_them(alice: Caller) -> None:
    alice.remember("tea a", metadata={"tags": ["x", "y"]})
    alice.remember("tea b", metadata={"tags": ["z"]})
    alice.remember("tea c")

    assert sorted(alice.recalls("tea", tags=["x", "z"])) == ["tea a", "tea b"]
    assert alice.recalls("tea", tags=["y"]) == ["tea a"]
    assert alice.recalls("tea", tags=[]) == []


def test_legs_may_be_a_list(alice: Caller) -> None:
    alice.remember("tea", wait=True)
    alice.remember("something else", wait=True)

    answer = alice.post("recall", {"query": "tea", "legs": ["recency"]}).json()
    assert {hit["method"] for hit in answer["hits"]} == {"recency"}
    assert len(answer["hits"]) == 2
    answer = alice.post("recall", {"query": "tea", "legs": ["text"]}).json()
    assert [hit["text"] for hit in answer["hits"]] == ["tea"]


def test_what_the_gate_holds_back_needs_govern(alice: Caller) -> None:
    """case_C26: an agent's key does not read what is quarantined."""
    memory_id = alice.remember("tea of strangers")
    columns(memory_id, gate="quarantined", gate_reason="it gives orders")
    governor = reader(Permission.GOVERN)

    for agent in (reader(), reader(Permission.WRITE)):
        answer = agent.post("recall", {"query": "tea", "include_quarantined": True})
        refused(answer, 403, "permission", "include_quarantined")
        assert agent.recalls("tea", include_quarantined=False) == []
    assert governor.recalls("tea") == []
    asked = {"query": "tea", "include_quarantined": True}
    (hit,) = governor.post("recall", asked).json()["hits"]
    assert (hit["id"], hit["gate"]) == (memory_id, "quarantined")
    assert hit["gate_reason"] == "it gives orders"


def test_why_an_open_record_was_held_once_is_not_told(alice: Caller) -> None:
    memory_id = alice.remember("tea")
    columns(memory_id, gate="open", gate_reason="it gave orders")

    (hit,) = alice.post("recall", {"query": "tea"}).json()["hits"]
    assert (hit["gate"], hit["gate_reason"]) == ("open", "")


def test_what_is_not_valid_any_more_needs_govern(alice: Caller) -> None:
    alice.remember("tea of old", valid_to=LONG_AGO)

    answer = reader().post("recall", {"query": "tea", "include_superseded": True})
    refused(answer, 403, "permission", "include_superseded")
    governor = reader(Permission.GOVERN)
    assert governor.recalls("tea") == []
    assert governor.recalls("tea", include_superseded=True) == ["tea of old"]


def test_strengthening_needs_write(alice: Caller) -> None:
    """B430: a key that may only read changes nothing, not even later."""
    alice.remember("tea")
    wanted: list[bool] = []

    def note(reinforce: bool, **_: Any) -> None:
        wanted.append(reinforce)

    signals.trace_wanted.connect(note)
    try:
        answer = reader().post("recall", {"query": "tea", "reinforce": True})
        refused(answer, 403, "permission", "reinforce")
        assert reader().recalls("tea", reinforce=False) == ["tea"]
        assert wanted == []
        assert reader(Permission.WRITE).recalls("tea", reinforce=True) == ["tea"]
        assert wanted == [True]
    finally:
        signals.trace_wanted.disconnect(note)


def test_only_a_governor_lifts_what_the_server_requires(
    alice: Caller, settings: Any
) -> None:
    """B136: strict mode is the operator's to set, and any key's to ask for."""
    memory_id = alice.remember("tea")
    columns(memory_id, visible=None)
    settings.PRISM_MEMORY = {**settings.PRISM_MEMORY, "REQUIRE_CONSENT": True}

    for caller in (reader(), reader(Permission.WRITE)):
        assert caller.recalls("tea") == caller.recalls("tea", require_consent=True)
        assert caller.recalls("tea") == []
        answer = caller.post("recall", {"query": "tea", "require_consent": False})
        refused(answer, 403, "permission", "require_consent")
    governor = reader(Permission.GOVERN)
    assert governor.recalls("tea", require_consent=False) == ["tea"]


def test_what_changed_since_is_marked(alice: Caller) -> None:
    memory_id = alice.remember("tea")
    before = YESTERDAY - dt.timedelta(days=1)
    columns(memory_id, created_at=before, granted_at=before)
    then = YESTERDAY.isoformat()

    (hit,) = alice.post("recall", {"query": "tea", "known_at": then}).json()["hits"]
    assert hit["changed"] is False
    columns(memory_id, changed_at=timezone.now())
    (hit,) = alice.post("recall", {"query": "tea", "known_at": then}).json()["hits"]
    assert hit["changed"] is True
    assert alice.recalls("tea", known_at=LONG_AGO) == []


def test_what_stands_beside_is_shown_only_when_asked_for(
    alice: Caller, bob: Caller
) -> None:
    """B116, B117."""
    for caller in (bob, alice):
        texts = ["Where is the key?", "Under the mat.", "Thanks."]
        entries = [
            {"text": text, "source": {"key": "chat", "ordinal": place}}
            for place, text in enumerate(texts)
        ]
        caller.post("memories", {"entries": entries})
    asked = {"query": "mat", "legs": "text", "context": False}

    assert alice.post("recall", asked).json()["adjacent"] == []
    found = alice.post("recall", asked | {"message_range": 1}).json()
    assert [item["text"] for item in found["adjacent"]] == [
        "Where is the key?",
        "Thanks.",
    ]
    assert {item["scope"]["owner"] for item in found["adjacent"]} == {"alice"}
    assert list(found["adjacent"][0]) == list(SeenOutput().fields)


def test_a_hit_is_explained_without_its_words(alice: Caller) -> None:
    """B129, B383."""
    memory_id = alice.remember(f"tea from {SECRET}", wait=True)
    make_tombstone(Record.objects.get(), reason=TombstoneReason.CORRECTED.value)

    found = alice.post("recall", {"query": "tea", "explain": True}).json()
    (one,) = found["explanations"]
    assert (one["id"], one["rank"], one["strategy"]) == (memory_id, 1, "exact")
    assert one["weights"] == {leg: WEIGHTS[leg] for leg in ("vector", "text")}
    assert one["signals"] == found["hits"][0]["signals"]
    assert one["tombstone"]["reason"] == "corrected"
    assert one["tombstone"]["at"].endswith("Z")
    assert SECRET not in str(one)


BAD: list[tuple[str, Any, str]] = [
    ("tags", "home", "tags"),
    ("tags", [5], "tags[0]"),
    ("known_at", "2026-01-01", "known_at"),
    ("include_superseded", 1, "include_superseded"),
    ("include_quarantined", "yes", "include_quarantined"),
    ("legs", "words", "legs"),
    ("legs", [], "legs"),
    ("legs", ["hybrid"], "legs"),
    ("legs", ["text", "words"], "legs"),
    ("legs", [["text"]], "legs"),
    ("legs", {"text": 1}, "legs"),
    ("legs", None, "legs"),
    ("fusion", "magic", "fusion"),
    ("fusion", None, "fusion"),
    ("weights", {"vector": -1}, "weights"),
    ("weights", {"vector": "1"}, "weights.vector"),
    ("weights", {"vector": None}, "weights.vector"),
    ("weights", [1, 2], "weights"),
    ("rrf_k", 0, "rrf_k"),
    ("rrf_k", "60", "rrf_k"),
    ("blend", 1.5, "blend"),
    ("context", "on", "context"),
    ("scoring", 1, "scoring"),
    ("scoring", {"recency_weight": 2}, "scoring.recency_weight"),
    ("scoring", {"recency_weight": 0.5}, "scoring.half_life_ms"),
    ("scoring", {"importance_weight": "1"}, "scoring.importance_weight"),
    ("trust_weighting", 0, "trust_weighting"),
    ("decay_days", 0, "decay_days"),
    ("decay_days", -1, "decay_days"),
    ("diversity", -0.1, "diversity"),
    ("hyde", "true", "hyde"),
    ("expand_hops", None, "expand_hops"),
    ("entity_match", 1, "entity_match"),
    ("explain", 1, "explain"),
    ("deadline_seconds", 0, "deadline_seconds"),
    ("deadline_seconds", -5, "deadline_seconds"),
    ("deadline_seconds", "soon", "deadline_seconds"),
    ("deadline_seconds", 10**400, "deadline_seconds"),
    ("reinforce", None, "reinforce"),
    ("reranker", 5, "reranker"),
]


@pytest.mark.parametrize("path", ["recall", "recall/deep"])
@pytest.mark.parametrize(("name", "value", "field"), BAD)
def test_a_value_that_is_not_acceptable_is_refused_by_its_name(
    alice: Caller, path: str, name: str, value: Any, field: str
) -> None:
    if path == "recall/deep" and name == "explain":
        return
    answer = alice.post(path, {"query": SECRET, name: value})

    refused(answer, 400, "validation", field)
    assert SECRET not in answer.content.decode()


@pytest.mark.parametrize("path", ["recall", "recall/deep"])
@pytest.mark.parametrize("name", ["weights", "scoring"])
def test_an_unknown_name_in_a_part_is_refused_without_repeating_it(
    alice: Caller, path: str, name: str
) -> None:
    answer = alice.post(path, {"query": "tea", name: {SECRET: 1}})

    refused(answer, 400, "validation", name)
    assert SECRET not in answer.content.decode()


@pytest.mark.parametrize(
    ("name", "value", "limit"),
    [
        ("message_range", 5, "message_range must be 0 to 4"),
        ("expand_hops", 3, "expand_hops must be in 0..2"),
        ("message_range", -1, "message_range must be 0 to 4"),
        ("multi_query", 9, "multi_query must be 1 to 8"),
        ("multi_query", 0, "multi_query must be 1 to 8"),
        ("top_k", 33, "top_k must be 0 to 32"),
    ],
)
def test_more_than_a_limit_is_refused_with_its_bounds(
    alice: Caller, name: str, value: int, limit: str
) -> None:
    """B30."""
    answer = alice.post("recall", {"query": "tea", name: value})

    refused(answer, 422, "limit", name)
    assert limit in answer.json()["detail"]


@pytest.mark.parametrize("path", ["recall", "recall/deep"])
@pytest.mark.parametrize("name", ["reranker", "transformer"])
@override_settings(PRISM_MEMORY=CONFIGURED)
def test_an_alias_that_is_not_configured_is_the_callers_fault(
    alice: Caller, path: str, name: str
) -> None:
    """Not a 503 that calls the operator, and the ones there are stay unsaid."""
    for alias in (SECRET, "judge", "default", "__class__"):
        answer = alice.post(path, {"query": "tea", "multi_query": 2, name: alias})
        refused(answer, 400, "validation", name)
        assert not {SECRET, "opinion", "words"} & {*answer.json()["detail"].split()}


@pytest.mark.parametrize("name", ["grader", "embedder", "cancelled", "using"])
@pytest.mark.parametrize("path", ["recall", "recall/deep"])
def test_what_the_installation_chooses_is_no_option(
    alice: Caller, path: str, name: str
) -> None:
    refused(alice.post(path, {"query": "tea", name: "judge"}), 400, "validation")


@override_settings(PRISM_MEMORY={**CONFIGURED, "RERANKER": "opinion"})
def test_a_configured_reranker_is_asked_unless_the_caller_wants_none(
    alice: Caller,
) -> None:
    """B231."""
    alice.post("memories", {"entries": [{"text": "tea"}, {"text": "more tea"}]})
    opinion = backends.get_reranker("opinion")
    assert isinstance(opinion, Opinion)

    usual = alice.recalls("tea", reranker="")
    assert (len(usual), opinion.asked) == (2, [])
    assert alice.recalls("tea") == usual[::-1]
    assert alice.recalls("tea", reranker="opinion") == usual[::-1]
    assert len(opinion.asked) == 2


@override_settings(PRISM_MEMORY=CONFIGURED)
def test_a_question_is_asked_in_other_words_too(alice: Caller) -> None:
    """B378."""
    alice.remember("A tram", wait=True)
    words = backends.get_transformer("words")
    assert isinstance(words, Words)
    words.said = ["tram"]
    asked = {"legs": "text", "multi_query": 2}

    assert alice.recalls("streetcar", transformer="words", **asked) == ["A tram"]
    assert alice.recalls("streetcar", transformer="", **asked) == []
    assert words.asked == [("variants", "streetcar", 1)]


def test_a_time_that_is_over_is_a_status_of_its_own(alice: Caller) -> None:
    """B112: told apart from a server that is down."""
    alice.remember("tea", wait=True)

    answer = alice.post("recall", {"query": "tea", "deadline_seconds": 1e-9})

    refused(answer, 504, "deadline")


@pytest.mark.parametrize(
    "given",
    [
        {"deadline_seconds": 1e9},
        {"deadline_seconds": 1e300},
        {"rrf_k": 1e308, "fusion": "rrf"},
        {"rrf_k": 5e-324, "fusion": "rrf"},
        {"weights": {"vector": 1e308, "text": 1e308}},
        {"weights": {"vector": 1e308, "text": 1e308}, "fusion": "rrf"},
        {"weights": {"vector": 5e-324, "text": 5e-324}},
        {"weights": {"vector": 0, "text": 0}},
        {"decay_days": 5e-324},
        {"decay_days": 1e308},
        {"scoring": {"recency_weight": 1, "half_life_ms": 1e308}},
        {"scoring": {"recency_weight": 5e-324, "half_life_ms": 1e-300}},
        {"scoring": {}},
    ],
    ids=str,
)
def test_extreme_numbers_break_nothing(alice: Caller, given: dict[str, Any]) -> None:
    alice.remember("tea", wait=True)

    answer = alice.post("recall", {"query": "tea", **given})

    assert answer.status_code == 200, answer.content
    assert [hit["text"] for hit in answer.json()["hits"]] == ["tea"]
    assert 0 <= answer.json()["hits"][0]["score"] <= 1


def test_the_answer_of_deep_recall_has_its_form(alice: Caller) -> None:
    alice.remember("tea", wait=True)

    answer = alice.post("recall/deep", {"query": "tea"}).json()

    validator("DeepRecalledOutput").validate(answer)
    assert list(answer) == list(DeepRecalledOutput().fields)
    assert list(answer["hits"][0]) == list(HitOutput().fields)
