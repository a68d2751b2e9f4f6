"""Retrieval: fused by ranks, labelled, bounded, and of nothing that went meanwhile."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

import pytest

from prism_memory import backends, signals
from prism_memory.errors import Invalid, LimitExceeded, ScopeDenied, Unsupported
from prism_memory.memory import Memory
from prism_memory.models import Source
from prism_memory.rag import PROVIDER
from prism_memory.recalling import Recalling
from prism_memory.types import Recalled, Retrieved, Trace, TrustLabels
from tests.factories import remember_one
from tests.rag.documents import BOOK, LOADER, OWNER, change, make_store, write

pytestmark = pytest.mark.django_db

TEXTS = (
    "Trains are booked at the desk.",
    "Tea is free, and so is coffee.",
    "Green tea is in the green tin.",
    "Trams are cheap, trains are not.",
)


def texts(found: Retrieved) -> list[str]:
    return [one.text for one in found]


def test_a_passage_carries_its_provenance_and_is_trusted_in_nothing() -> None:
    """B232: also B278's span and B233's citation id."""
    (first, *_) = write(
        *TEXTS,
        metadata={"heading": ["Travel", "Trains"]},
        offset_start=0,
        offset_end=30,
        generation=None,
    )
    Source.objects.filter(tenant="acme").update(uri="https://example.org/handbook")
    found = make_store().retrieve("booked desk", 1)
    (one,) = found
    whence = one.provenance
    assert one.trust == TrustLabels()
    assert all(asdict(one.trust).values())
    assert (one.id, one.text, whence.chunk_id) == (first, TEXTS[0], first)
    assert whence.citation == "handbook.md#0001"
    assert (whence.source, whence.uri) == (
        "handbook.md",
        "https://example.org/handbook",
    )
    assert whence.source_id == Source.objects.get(tenant="acme").id
    assert (whence.line_start, whence.line_end) == (1, 1)
    assert (whence.offset_start, whence.offset_end) == (0, 30)
    assert whence.heading == ("Travel", "Trains")
    assert (whence.scope, whence.provider) == (BOOK, PROVIDER)
    assert whence.retrieval == one.retrieval == "hybrid"
    assert found.strategy == "exact"


def test_lists_are_fused_by_their_ranks_and_say_what_found_each() -> None:
    """B227: by 1 / (k + rank), best first; against the two lists themselves."""
    write(*TEXTS)
    store = make_store()
    near = [one.id for one in store.query("green tea", 4)]
    said = [one.id for one in store.lexical_query("green tea", 4)]
    for k in (60, 1, 1_000):
        score = {
            i: sum(1 / (k + ids.index(i) + 1) for ids in (near, said) if i in ids)
            for i in near + said
        }
        found = store.retrieve("green tea", 4, rrf_k=k)
        expected = sorted(score, key=lambda i: -score[i])
        assert [score[one.id] for one in found] == [score[i] for i in expected]
        for one in found:
            both = one.id in near and one.id in said
            alone = "vector" if one.id in near else "lexical"
            assert one.retrieval == ("hybrid" if both else alone)
            assert set(one.ranks) == {
                name
                for name, ids in (("vector", near), ("lexical", said))
                if one.id in ids
            }
    assert {one.retrieval for one in store.query("green tea")} == {"vector"}
    assert {one.retrieval for one in store.lexical_query("green tea")} == {"lexical"}


def test_only_passages_of_documents_are_found() -> None:
    """B228: what is remembered in a scope of that name is no document."""
    remember_one("Green tea is what Ada likes.", scope=BOOK, wait=True)
    write(*TEXTS)
    for found in (
        make_store().retrieve("green tea", 8),
        make_store().query("green tea", 8),
        make_store().lexical_query("green tea", 8),
    ):
        assert {*texts(found)} <= {*TEXTS}


def test_what_is_usual_for_recall_changes_no_retrieval(settings: Any) -> None:
    """B227: ranks alone decide."""
    write(*TEXTS)
    before = make_store().retrieve("green tea", 4)
    usual = {"fusion": "blend", "decay_days": 1, "kinds": ["entry"], "max_tokens": 1}
    settings.PRISM_MEMORY = settings.PRISM_MEMORY | {"SEARCH_DEFAULTS": usual}
    assert texts(make_store().retrieve("green tea", 4)) == texts(before)


def test_the_filter_narrows_and_more_than_one_list_is_asked_enough() -> None:
    """B215, B229: never fewer candidates than passages wanted."""
    write(*(f"tea of the year {n}" for n in range(24)), metadata={"n": 1})
    write(*(f"tea of the month {n}" for n in range(9)), key="b.md", metadata={"n": 2})
    store = make_store()
    assert len(store.retrieve("tea", 32, candidates=1)) == 32
    assert len(store.retrieve("tea", 32, filter={"n": 2})) == 9
    assert not store.retrieve("tea", filter={"n": 3})


def test_bytes_and_tokens_bound_an_answer() -> None:
    """B229: whole passages, the best first; truncated says that there were more."""
    write(*(f"tea {'leaf ' * 40}{n}" for n in range(4)))
    store = make_store()
    whole = store.retrieve("tea leaf", 4)
    assert (len(whole), whole.truncated) == (4, False)
    for bounds in ({"max_tokens": 110}, {"max_bytes": 450}):
        wishes: Any = bounds
        found = store.retrieve("tea leaf", 4, **wishes)
        assert (texts(found), found.truncated) == (texts(whole)[:2], True)
    small = make_store(limits={"context_tokens": 60}).retrieve("tea leaf", 4)
    assert (len(small), small.truncated) == (1, True)


@pytest.mark.parametrize(
    ("wishes", "error"),
    [
        ({"top_k": 33}, LimitExceeded),
        ({"candidates": 129}, LimitExceeded),
        ({"candidates": 0}, LimitExceeded),
        ({"max_bytes": 524_289}, LimitExceeded),
        ({"max_tokens": 8_001}, LimitExceeded),
        ({"rrf_k": 1_001}, LimitExceeded),
        ({"rrf_k": 0}, Invalid),
        ({"rrf_k": "60"}, Invalid),
        ({"lexical": "trigram"}, Unsupported),
        ({"lexical": None}, Unsupported),
        ({"scopes": [OWNER] * 9}, LimitExceeded),
        ({"scopes": OWNER}, Invalid),
        ({"query": " "}, Invalid),
        ({"filter": {"n": {"$no": 1}}}, Invalid),
        ({"nonsense": 1}, TypeError),
    ],
    ids=str,
)
def test_what_is_over_a_cap_or_unknown_is_refused(
    wishes: dict[str, Any], error: type[Exception]
) -> None:
    """B226 to B229: never cut silently; nothing is embedded for it."""
    with pytest.raises(error):
        make_store().retrieve(**{"query": "tea", **wishes})


def test_words_are_searched_as_asked() -> None:
    """B226: fts and bm25 are one thing, off leaves words out."""
    write(*TEXTS)
    store = make_store()
    fts = store.lexical_query("green tea")
    assert texts(fts) == texts(store.lexical_query("green tea", mode="bm25"))
    off = store.retrieve("green tea", lexical="off")
    assert {one.retrieval for one in off} == {"vector"}
    for mode in ("off", "trigram", "", 1):
        wrong: Any = mode
        with pytest.raises(Unsupported):
            store.lexical_query("green tea", mode=wrong)


def test_a_vector_is_asked_with_as_its_text_is(settings: Any) -> None:
    """B211: a host that embeds by itself."""
    write(*TEXTS)
    store = make_store()
    (vector,) = backends.embed(backends.get_embedder(), ["green tea"], role="query")
    by_text = store.query("green tea", 3)
    by_vector = store.query(None, 3, vector=vector)
    assert texts(by_text) == texts(by_vector)
    longer = [value * 7 for value in vector]
    assert texts(store.query(None, 3, vector=longer)) == texts(by_text)
    wrong: Any
    for wrong in ([], [0.0] * 64, ["x"] * 64, "x" * 64, 5, [float("nan")] * 64):
        with pytest.raises(Invalid):
            store.query(vector=wrong)
    for given in ({}, {"query": "tea", "vector": vector}):
        wrong = given
        with pytest.raises(Invalid):
            store.query(**wrong)
    settings.PRISM_MEMORY = settings.PRISM_MEMORY | {"EMBEDDERS": {}}
    with pytest.raises(Unsupported):
        make_store().query(vector=vector)


@pytest.mark.parametrize("deed", ["forget", "retire", "correct", "gate"])
def test_what_goes_between_ranking_and_assembly_is_left_out(
    monkeypatch: pytest.MonkeyPatch, deed: str
) -> None:
    """B230."""
    ids = write(*TEXTS)
    memory = Memory(BOOK, origin=LOADER)
    traces: list[Trace] = []

    def note(trace: Trace, **_: object) -> None:
        traces.append(trace)

    signals.recalled.connect(note)
    find = Recalling.found

    def late(self: Recalling, asked: Any) -> Recalled:
        found = find(self, asked)
        assert ids[2] in [hit.id for hit in found]
        if deed == "forget":
            memory.forget(ids[2])
        elif deed == "correct":
            memory.correct(ids[2], "The tin is empty.")
        elif deed == "gate":
            memory.quarantine(ids[2], reason="odd")
        else:
            change(ids[2], retired_at="2026-01-01T00:00:00Z")
        return found

    monkeypatch.setattr(Recalling, "found", late)
    found = make_store().retrieve("green tea", 4)
    assert TEXTS[2] not in texts(found)
    assert found
    assert [[hit["id"] for hit in trace.hits] for trace in traces] == [
        [str(one.id) for one in found]
    ]


def test_a_row_of_another_scope_fails_the_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """B228: whatever went wrong below."""
    write(*TEXTS)
    find = Recalling.found

    def strayed(self: Recalling, asked: Any) -> Recalled:
        first, *others = find(self, asked)
        return Recalled((*others, replace(first, scope=OWNER)))

    monkeypatch.setattr(Recalling, "found", strayed)
    with pytest.raises(ScopeDenied):
        make_store().retrieve("green tea")


def test_generations_are_swapped_for_the_store() -> None:
    """B209, B210."""
    write("Trains of May", generation=1)
    write("Trains of June", key="june.md", generation=2)
    write("Trains always", key="always.md")
    store = make_store()
    before = store.set_current_generation(2)
    assert {*texts(store.retrieve("trains"))} == {"Trains of June", "Trains always"}
    assert store.generations().records == {1: 1, 2: 1}
    assert {one.provenance.generation for one in store.query("trains")} == {2, None}
    store.set_current_generation(before)
    assert len(store.retrieve("trains")) == 3


def test_secrets_are_masked_in_all_that_is_shown() -> None:
    """B133: also where they were stored before they were secrets."""
    write("The code is xyzzy.", key="xyzzy.md", metadata={"xyzzy": ["xyzzy"]})
    found = make_store(secrets=["xyzzy"]).retrieve("the code")
    assert found
    assert "xyzzy" not in repr(found.passages)


@pytest.mark.parametrize("given", [{"EMBEDDERS": {}}, {"VECTOR_INDEX": "none"}])
def test_a_store_without_vectors_finds_words(
    settings: Any, given: dict[str, Any]
) -> None:
    """B489: and says that it is poorer, unless the host wants none."""
    settings.PRISM_MEMORY = settings.PRISM_MEMORY | given
    write(*TEXTS, wait=False)
    found = make_store().retrieve("green tea", 1)
    assert texts(found) == [TEXTS[2]]
    assert bool(found.degraded) == ("EMBEDDERS" in given)


def test_nothing_is_asked_for_no_passage() -> None:
    write(*TEXTS)
    assert not make_store().retrieve("tea", 0)
    assert not make_store().retrieve("tea", scopes=[])
