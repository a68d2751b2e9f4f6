"""Recall over HTTP."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import override_settings

from prism_memory.api.memories.outputs import MemoryOutput
from prism_memory.api.recall.outputs import HitOutput
from prism_memory.errors import ProviderUnavailable
from prism_memory.memory import Memory
from tests.api.conftest import Caller, refused

pytestmark = pytest.mark.django_db


def test_every_hit_can_be_traced(alice: Caller) -> None:
    """case_C35, B116."""
    memory_id = alice.remember(
        "Ada moved to Porto in May.",
        key="move",
        source={"key": "chat", "ordinal": 3},
        happened_at="2026-05-01T00:00:00Z",
        metadata={"n": 1},
        wait=True,
    )

    answer = alice.post("recall", {"query": "Where did Ada move?"})

    assert answer.json()["strategy"] == "exact"
    assert answer.json()["degraded"] == ""
    (hit,) = answer.json()["hits"]
    assert hit["id"] == memory_id
    assert hit["text"] == "Ada moved to Porto in May."
    assert hit["scope"]["owner"] == "alice"
    assert (hit["source"], hit["ordinal"]) == ("chat", 3)
    assert (hit["trust"], hit["writer"][:4]) == ("agent", "key:")
    assert hit["happened_at"] == "2026-05-01T00:00:00.000000Z"
    assert hit["created_at"].endswith("Z")
    assert hit["method"] == "hybrid"
    assert hit["ranks"] == {"vector": 1, "text": 1}
    assert 0 < hit["score"] <= 1
    assert -1 <= hit["cosine"] <= 1
    assert hit["bm25"] > 0


def test_what_is_answered_is_what_is_described(alice: Caller) -> None:
    memory_id = alice.remember("Ada moved to Porto in May.")

    (hit,) = alice.post("recall", {"query": "Porto"}).json()["hits"]
    assert list(hit) == list(HitOutput().fields)
    found = alice.get(f"memories/{memory_id}").json()
    assert list(found) == list(MemoryOutput().fields)


def test_a_leg_that_found_nothing_is_null(alice: Caller) -> None:
    alice.remember("Ada moved to Porto in May.", wait=True)

    (by_text,) = alice.post("recall", {"query": "Porto", "legs": "text"}).json()["hits"]
    assert (by_text["method"], by_text["cosine"]) == ("text", None)
    asked = {"query": "Porto", "legs": "vector"}
    (by_vector,) = alice.post("recall", asked).json()["hits"]
    assert (by_vector["method"], by_vector["bm25"]) == ("vector", None)


@pytest.mark.parametrize("name", ["kinds", "tiers", "namespaces", "ids"])
def test_an_empty_list_lets_nothing_through(alice: Caller, name: str) -> None:
    """case_C04."""
    alice.remember("Ada moved to Porto in May.")

    assert alice.recalls("Porto", **{name: []}) == []
    assert alice.recalls("Porto", **{name: None}) == ["Ada moved to Porto in May."]


def test_a_recall_is_narrowed_by_what_is_asked(alice: Caller) -> None:
    ids = [
        alice.remember("tea a", kind="turn", namespace="x", metadata={"n": 2}),
        alice.remember("tea b", kind="note", tier="semantic", partition="p"),
        alice.remember("tea c", metadata={"n": 10}),
    ]

    def narrowed(**given: Any) -> list[str]:
        return sorted(alice.recalls("tea", **given))

    assert narrowed() == ["tea a", "tea b", "tea c"]
    assert narrowed(kinds=["turn", "note"]) == ["tea a", "tea b"]
    assert narrowed(tiers=["semantic"]) == ["tea b"]
    assert narrowed(tiers=[""]) == ["tea a", "tea c"]
    assert narrowed(namespaces=["x"]) == ["tea a"]
    assert narrowed(namespaces=[""]) == ["tea b", "tea c"]
    assert narrowed(partition="p") == ["tea b"]
    assert narrowed(filter={"n": {"gt": 9}}) == ["tea c"]
    assert narrowed(ids=ids[:2]) == ["tea a", "tea b"]
    assert len(narrowed(top_k=2)) == 2


def test_strict_mode_shows_only_what_was_consented_to(alice: Caller) -> None:
    alice.remember("tea")

    assert alice.recalls("tea", require_consent=True) == ["tea"]
    hidden = {"text": "tea hidden", "consent": {"visible": False}}
    alice.post("memories", hidden)
    assert alice.recalls("tea", require_consent=True) == ["tea"]


@pytest.mark.parametrize("top_k", [1, 5, 20, 32])
def test_a_page_is_full_whenever_enough_is_visible(
    alice: Caller, bob: Caller, top_k: int
) -> None:
    """B131, case_C05: with nearer rows of others in the way."""
    bob.post("memories", {"entries": [{"text": f"tea {n}"} for n in range(200)]})
    entries = [{"text": f"tea {n} and other drinks"} for n in range(25)]
    alice.post("memories", {"entries": entries, "wait": True})

    for _ in range(12):
        assert len(alice.recalls("tea", top_k=top_k)) == min(top_k, 25)


@pytest.mark.parametrize("query", ["", " ", "\n"])
def test_a_blank_query_is_refused(alice: Caller, query: str) -> None:
    """B130."""
    refused(alice.post("recall", {"query": query}), 400, "validation", "query")


def test_no_match_is_an_empty_list(alice: Caller) -> None:
    """B130."""
    assert alice.recalls("anything") == []


@pytest.mark.parametrize("top_k", [-1, 33, 10_000, 2**62])
def test_more_than_the_hard_cap_is_refused(alice: Caller, top_k: int) -> None:
    """B499."""
    answer = alice.post("recall", {"query": "tea", "top_k": top_k})

    refused(answer, 422, "limit", "top_k")


def test_a_query_over_its_limit_is_refused(alice: Caller) -> None:
    """B498."""
    answer = alice.post("recall", {"query": "a" * 4_097})

    refused(answer, 422, "limit", "query")
    assert "query_characters" in answer.json()["detail"]


@pytest.mark.parametrize("count", [257, 1_001])
def test_too_many_ids_are_refused(alice: Caller, count: int) -> None:
    """B30: at most 256; a list of more than 1,000 is not even read."""
    ids = ["00000000-0000-7000-8000-000000000000"] * count

    refused(alice.post("recall", {"query": "a", "ids": ids}), 422, "limit", "ids")


@override_settings(PRISM_MEMORY={"EMBEDDERS": {}})
def test_without_an_embedder_the_answer_says_that_it_is_poorer(alice: Caller) -> None:
    alice.remember("tea")

    answer = alice.post("recall", {"query": "tea"}).json()

    assert [hit["text"] for hit in answer["hits"]] == ["tea"]
    assert answer["degraded"] == "no embedder is configured"


def test_a_provider_that_is_down_is_a_503_without_its_words(
    alice: Caller, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """B498."""

    def down(*_: Any, **__: Any) -> None:
        message = "http://user:secret@provider refused"
        raise ProviderUnavailable(message)

    monkeypatch.setattr(Memory, "recall", down)

    answer = alice.post("recall", {"query": "tea", "legs": "vector"})

    refused(answer, 503, "provider_unavailable")
    assert "secret" not in answer.content.decode()
    assert "provider refused" in caplog.text
