"""B481: each choice of VECTOR_INDEX answers right, and shows nobody a stranger's."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from prism_memory.models import Embedding, EmbeddingSpace, Record
from prism_memory.recall.candidates import attempts
from prism_memory.types import Recalled
from tests.factories import make_memory, make_scope, remember, remember_one
from tests.indexes import WATCHED, WatchedIndex, chosen, watched

pytestmark = pytest.mark.django_db

FIVE = ["pgvector", "exact", "none", "numpy", WATCHED]
RAISING = {"default": {"BACKEND": "tests.embedders.FaultyEmbedder"}}


@pytest.fixture
def index() -> Iterator[WatchedIndex]:
    with chosen(WATCHED):
        yield watched()


def recall(query: str, top_k: int = 5, **given: Any) -> Recalled:
    return make_memory().recall(query, top_k, **given)


def texts(found: Recalled) -> list[str]:
    return [hit.text for hit in found]


@pytest.mark.parametrize("choice", FIVE, ids=str)
def test_strangers_see_nothing(choice: Any) -> None:
    """B481, B482: another tenant, owner, agent and thread, with the same words."""
    mine = make_scope()
    strangers = [
        make_scope(tenant="other"),
        make_scope(owner="bob"),
        make_scope(agent="sales"),
        make_scope(thread="chat-2"),
    ]
    with chosen(choice):
        for scope in (mine, *strangers):
            remember(*[f"Tea {n}" for n in range(20)], scope=scope, wait=True)
        for scope in (mine, *strangers):
            found = make_memory(scope).recall("Tea", 32)
            assert len(found) == 20
            assert {hit.scope for hit in found} == {scope}
        assert not make_memory(make_scope(owner="carol")).recall("Tea")
        near = make_memory(mine).recall("Tea", 32, legs="vector")
    assert len(near) == (0 if choice == "none" else 20)
    assert {hit.scope for hit in near} <= {mine}


# none


def test_none_asks_no_embedder_and_is_not_degraded() -> None:
    """B481."""
    with chosen("none", EMBEDDERS=RAISING):
        stored = make_memory().remember("Ada drinks tea: unavailable.", wait=True)
        found = recall("unavailable")

    assert not stored.pending
    assert len(found) == 1
    assert (found.strategy, found.degraded) == ("text", "")
    assert not Embedding.objects.filter(tenant="acme").exists()


def test_none_says_that_only_vectors_were_asked_for() -> None:
    remember_one(wait=True)
    with chosen("none"):
        found = recall("tea", legs="vector")

    assert not found
    assert found.strategy == "none"
    assert "VECTOR_INDEX" in found.degraded


def test_none_leaves_no_vector_of_words_that_changed() -> None:
    """The vectors are used again later: none of them may be of another text."""
    kept, corrected = remember("a", "b", wait=True)
    remember_one("c", key="c", wait=True)
    with chosen("none"):
        remember_one("other words", key="c")
        make_memory().correct(corrected, "other words too")

    rows = Embedding.objects.filter(tenant="acme", vector__isnull=False)
    assert set(rows.values_list("record_id", flat=True)) == {kept}


# exact


def test_exact_never_asks_the_index() -> None:
    """B481, B483: also where there is one, and the place is large."""
    remember("Tea", "Coffee", wait=True)
    EmbeddingSpace.objects.update(index_mode="hnsw")
    with chosen("exact", EXACT_SCAN_ROWS=0), CaptureQueriesContext(connection) as seen:
        found = recall("Tea", legs="vector")

    assert (found.strategy, len(found)) == ("exact", 2)
    assert not any("hnsw" in query["sql"] for query in seen.captured_queries)


# External ones


def test_an_external_index_names_what_is_found(index: WatchedIndex) -> None:
    ids = remember("Tea", "Coffee", "Cocoa", wait=True)
    found = recall("Tea", 2, legs="vector")

    assert index.held() == {*ids}
    assert (found.strategy, found.degraded) == ("external", "")
    assert texts(found)[0] == "Tea"
    assert found[0].cosine == pytest.approx(1, abs=1e-3)


def test_what_it_was_not_told_yet_is_found_too(index: WatchedIndex) -> None:
    remember("Coffee", wait=True)
    index.down = True
    remember("Tea", wait=True)
    index.down = False
    found = recall("Tea", legs="vector")

    assert (found.strategy, texts(found)) == ("external", ["Tea", "Coffee"])


def test_who_comes_from_pgvector_misses_nothing(index: WatchedIndex) -> None:
    """Until all was told once, PostgreSQL looks itself."""
    with chosen("pgvector"):
        remember("Tea", wait=True)
    assert recall("Tea", legs="vector").strategy == "exact"

    remember("Coffee", wait=True)
    found = recall("Tea", legs="vector")
    assert (found.strategy, len(found)) == ("external", 2)


def test_it_names_strangers_and_none_is_shown(index: WatchedIndex) -> None:
    """B482: it may name whatever it likes; sight is decided in SQL."""
    own = remember("Coffee", wait=True)
    strangers = [
        remember_one("Tea", scope=scope, wait=True)
        for scope in (
            make_scope(tenant="other"),
            make_scope(owner="bob"),
            make_scope(agent="sales"),
            make_scope(thread="chat-2"),
        )
    ]
    watched().adds = [*strangers, uuid.uuid4()]
    found = recall("Tea")

    assert [hit.id for hit in found] == own


def test_a_page_is_full_behind_nearer_rows_that_are_hidden(index: WatchedIndex) -> None:
    """B482: it is asked for more until enough are visible, or it has no more."""
    hidden = remember(*[f"Tea {n}" for n in range(400)], wait=True)
    Record.objects.filter(id__in=hidden).update(revoked_at="2026-01-01T00:00:00Z")
    remember(*[f"Coffee {n}" for n in range(16)], wait=True)
    found = recall("Tea", 5, legs="vector")

    assert len(found) == 5
    assert found.strategy == "external"
    assert index.asked == [48, 384, 3_072]


def test_beyond_its_bound_postgresql_looks_itself(
    index: WatchedIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attempts, "NAMED_AT_MOST", 48)
    hidden = remember(*[f"Tea {n}" for n in range(60)], wait=True)
    Record.objects.filter(id__in=hidden).update(revoked_at="2026-01-01T00:00:00Z")
    remember("Coffee", wait=True)
    found = recall("Tea", legs="vector")

    assert (found.strategy, texts(found)) == ("exact", ["Coffee"])
    assert index.asked == [48]


def test_without_it_the_answer_is_as_good_and_says_so(index: WatchedIndex) -> None:
    """B487."""
    remember("Tea", "Coffee", wait=True)
    index.down = True
    found = recall("Tea", legs="vector")

    assert (found.strategy, texts(found)) == ("exact", ["Tea", "Coffee"])
    assert found.degraded == "the external index of vectors could not be asked"


def test_an_index_that_lost_its_vectors_hides_nothing(index: WatchedIndex) -> None:
    """C06."""
    remember("Tea", "Coffee", wait=True)
    index.lose()
    found = recall("Tea", legs="vector")

    assert (found.strategy, texts(found)) == ("exact", ["Tea", "Coffee"])


def test_a_few_ids_are_compared_without_it(index: WatchedIndex) -> None:
    tea, _ = remember("Tea", "Coffee", wait=True)
    found = recall("Coffee", legs="vector", ids=[tea])

    assert (found.strategy, texts(found), index.asked) == ("exact", ["Tea"], [])


def test_neighbors_go_by_it_too(index: WatchedIndex) -> None:
    ids = remember("Tea", "Coffee", wait=True)
    found = make_memory().neighbors("Tea", 2)

    assert [near.id for near in found] == ids
    assert index.asked


def test_all_levels_in_sight_are_asked_for(index: WatchedIndex) -> None:
    owner = make_scope(agent="", thread="")
    remember("Tea", scope=owner, wait=True)
    remember("Coffee", wait=True)
    found = recall("Tea", legs="vector")

    assert {hit.scope for hit in found} == {owner, make_scope()}


@pytest.mark.parametrize(
    "answer", [None, [["a"]], ["x"], 1.5, RuntimeError("boom")], ids=repr
)
def test_an_index_that_answers_rubbish_is_not_believed(
    index: WatchedIndex, monkeypatch: pytest.MonkeyPatch, answer: Any
) -> None:
    def search(*_args: object, **_given: object) -> Any:
        if isinstance(answer, Exception):
            raise answer
        return answer

    remember("Tea", "Coffee", wait=True)
    monkeypatch.setattr(WatchedIndex, "search", search)

    found = recall("Tea", legs="vector")
    assert len(found) == 2
    assert "external index" in found.degraded


def test_an_answer_that_comes_too_late_counts_as_none(
    index: WatchedIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    def search(*_args: object, **given: Any) -> list[uuid.UUID]:
        time.sleep(given["timeout_seconds"] + 0.01)
        return []

    remember("Tea", wait=True)
    with chosen(WATCHED, VECTOR_INDEX_SECONDS=0.05):
        monkeypatch.setattr(WatchedIndex, "search", search)
        found = recall("Tea", legs="vector")
    assert "external index" in found.degraded
