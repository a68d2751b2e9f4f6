"""What stands beside the best becomes a candidate: answers often follow the words."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Mapping
from typing import Any

import pytest

from prism_memory.access import Reader
from prism_memory.backends import embed, get_embedder
from prism_memory.db.queries import vector_text
from prism_memory.models import Record
from prism_memory.recall.candidates import VectorLeg, find
from prism_memory.recall.candidates.statement import ANCHORS
from prism_memory.types import Entry, Kind, Recalled, Scope, SourceRef, Trust
from tests.db.asking import ask
from tests.factories import (
    NOON,
    make_edge,
    make_memory,
    make_record,
    make_scope,
    make_tombstone,
    remember,
)
from tests.recall.worded import STRANGERS, texts

pytestmark = pytest.mark.django_db

YESTERDAY = NOON - dt.timedelta(days=1)

ALL_IDS = "SELECT id FROM prism_memory_record WHERE tenant = 'acme'"

HIDDEN: Mapping[str, dict[str, Any]] = {
    "revoked": {"revoked_at": NOON},
    "hidden": {"visible": False},
    "quarantined": {"gate": "quarantined"},
    "expired": {"expires_at": YESTERDAY},
    "retired": {"retired_at": YESTERDAY},
    "not valid any more": {"valid_to": YESTERDAY},
    "of another generation": {"generation": 7},
}


def talk(
    *said: str, source: str = "chat", scope: Scope | None = None, **fields: Any
) -> list[uuid.UUID]:
    """Remember turns of one stream, in their order."""
    entries = [
        Entry(text, source=SourceRef(source, place), **fields)
        for place, text in enumerate(said)
    ]
    return [*make_memory(scope).remember(entries).accepted]


def recall(question: str = "zulu", top_k: int = 32, **asked: Any) -> Recalled:
    return make_memory().recall(question, top_k, **{"legs": "text", **asked})


def methods(found: Recalled) -> dict[str, str]:
    return {hit.text: hit.method for hit in found}


def change(record_id: uuid.UUID, **columns: Any) -> None:
    ask("UPDATE prism_memory_scope SET current_generation = 3")
    rows = Record.objects.filter(tenant="acme", id=record_id)
    assert rows.update(**columns) == 1


def test_the_turns_before_and_after_the_best_are_candidates() -> None:
    """And no further ones; no leg found them, and the hit says so."""
    talk("alpha", "bravo", "zulu", "delta", "echo")

    found = recall()

    assert methods(found) == {"bravo": "context", "zulu": "text", "delta": "context"}
    assert found[0].text == "zulu"
    beside = [hit for hit in found if hit.method == "context"]
    assert all(hit.ranks == {} for hit in beside)


def test_what_the_words_find_is_no_candidate_of_the_context() -> None:
    talk("zulu one", "zulu two")

    assert methods(recall()) == {"zulu one": "text", "zulu two": "text"}


def test_turns_of_another_source_are_not_beside() -> None:
    talk("alpha", "zulu", "bravo")
    talk("delta", "echo", "kilo", source="other")

    assert {*texts(recall())} == {"alpha", "zulu", "bravo"}


def test_what_has_no_source_or_no_place_in_it_has_nothing_beside_it() -> None:
    remember("alpha", "zulu", "bravo")
    make_memory().remember([Entry("zulu two", source=SourceRef("chat"))])
    make_memory().remember([Entry("delta", source=SourceRef("chat"))])

    assert {*texts(recall())} == {"zulu", "zulu two"}


@pytest.mark.parametrize(
    "asked",
    [{"legs": "vector"}, {"context": False}, {"fusion": "blend"}],
    ids=str,
)
def test_where_the_context_does_not_speak_there_is_none(asked: dict[str, Any]) -> None:
    talk("alpha", "zulu", "bravo")

    assert "context" not in methods(recall(**asked)).values()


def test_the_context_may_be_asked_for_beside_vectors() -> None:
    """By what has a vector; what has none yet is found by where it stands."""
    (near, _) = talk("zulu", "far away")
    ask("DELETE FROM prism_memory_embedding WHERE record_id <> %s", near)
    backend = get_embedder()
    vector = embed(backend, ["zulu"], role="passage")[0]
    ask("UPDATE prism_memory_embedding SET vector = %s", vector_text(vector))

    assert methods(recall(legs="vector")) == {"zulu": "vector"}
    found = recall(legs="vector", context=True)
    assert methods(found) == {"zulu": "vector", "far away": "context"}


@pytest.mark.parametrize("columns", HIDDEN.values(), ids=HIDDEN.keys())
def test_a_hidden_turn_is_not_beside(columns: dict[str, Any]) -> None:
    """B134."""
    ids = talk("alpha", "zulu", "bravo")
    change(ids[0], **columns)

    assert {*texts(recall())} == {"zulu", "bravo"}


@pytest.mark.parametrize("columns", HIDDEN.values(), ids=HIDDEN.keys())
def test_a_hidden_record_brings_nobody_in(columns: dict[str, Any]) -> None:
    """B134: else what stands around would tell that it is there, and what it says."""
    ids = talk("alpha", "zulu", "bravo")
    change(ids[1], **columns)

    assert texts(recall()) == []


def test_a_forgotten_turn_and_what_is_derived_from_it_are_not_beside() -> None:
    ids = talk("alpha", "zulu", "bravo")
    source = make_record("of old")
    make_edge(Record.objects.get(tenant="acme", id=ids[2]), source)
    make_tombstone(source)
    make_tombstone(Record.objects.get(tenant="acme", id=ids[0]))

    assert texts(recall()) == ["zulu"]


def test_a_turn_that_nobody_consented_to_is_not_beside_in_strict_mode() -> None:
    ids = talk("alpha", "zulu", "bravo")
    change(ids[0], visible=None)

    assert {*texts(recall())} == {"alpha", "zulu", "bravo"}
    assert {*texts(recall(require_consent=True))} == {"zulu", "bravo"}


NARROWED: Mapping[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "kinds": ({"kind": "note"}, {"kinds": [Kind.ENTRY]}),
    "tiers": ({"tier": "episodic"}, {"tiers": [""]}),
    "namespaces": ({"namespace": "other"}, {"namespaces": [""]}),
    "partition": ({"partition": "other"}, {"partition": ""}),
    "tags": ({"metadata": {"tags": ["food"]}}, {"tags": ["drinks"]}),
    "equality": ({"metadata": {"n": 2}}, {"filter": {"n": 1}}),
    "range": ({"metadata": {"n": 2}}, {"filter": {"n": {"lt": 2}}}),
    "as_of": ({"valid_from": NOON}, {"as_of": YESTERDAY}),
    "known_at": ({"created_at": NOON}, {"known_at": YESTERDAY}),
}
"""Columns of a neighbour; what the reader asks for."""


@pytest.mark.parametrize(("columns", "asked"), NARROWED.values(), ids=NARROWED.keys())
def test_what_narrows_the_sight_narrows_it_beside(
    columns: dict[str, Any], asked: dict[str, Any]
) -> None:
    """B382: for the neighbour, and for whom it stands beside."""
    ids = talk("alpha", "zulu", "bravo")
    old = dt.datetime(2020, 1, 1, tzinfo=dt.UTC)
    rows = Record.objects.filter(tenant="acme", id__in=ids)
    metadata = {"n": 1, "tags": ["drinks"]}
    rows.update(created_at=old, granted_at=old, metadata=metadata)
    assert {*texts(recall(**asked))} == {"alpha", "zulu", "bravo"}

    change(ids[0], **columns)
    assert {*texts(recall(**asked))} == {"zulu", "bravo"}

    change(ids[1], **columns)
    assert texts(recall(**asked)) == []


def test_ids_name_the_neighbours_too() -> None:
    ids = talk("alpha", "zulu", "bravo")

    assert {*texts(recall(ids=ids[1:]))} == {"zulu", "bravo"}


@pytest.mark.parametrize("stranger", STRANGERS, ids=str)
def test_a_strangers_turn_is_not_beside_mine(stranger: Scope) -> None:
    """B4, B5, B6: also of a source of the same name."""
    talk("alpha", "zulu", "bravo")
    talk("secret", "secret zulu", "secret too", scope=stranger)

    assert {*texts(recall())} == {"alpha", "zulu", "bravo"}


@pytest.mark.parametrize(
    "elsewhere",
    [{"owner": "bob"}, {"agent": "sales"}, {"thread": "chat-2"}],
    ids=str,
)
def test_a_row_of_my_source_in_a_strangers_scope_is_neither_seen_nor_looked_from(
    elsewhere: dict[str, str],
) -> None:
    """B5: a source says what is beside, the scope who sees it."""
    ids = talk("alpha", "zulu", "bravo")
    source_id = Record.objects.get(tenant="acme", id=ids[1]).source_id
    scope = make_scope(**elsewhere)
    for ordinal, text in ((0, "secret"), (2, "secret zulu"), (3, "secret")):
        make_record(text, scope=scope, source_id=source_id, ordinal=ordinal)
    make_record("kilo", source_id=source_id, ordinal=5)
    make_record("secret zulu zulu", scope=scope, source_id=source_id, ordinal=4)

    assert {*texts(recall())} == {"alpha", "zulu", "bravo"}


def test_a_page_holds_no_more_than_was_asked_for() -> None:
    """B116: whoever stands beside."""
    talk(*(f"{'zulu' if n % 3 == 1 else 'filler'} {n}" for n in range(90)))

    for top_k in (0, 1, 5, 32):
        assert len(recall(top_k=top_k)) == top_k


def test_nobody_beside_takes_the_place_of_the_best() -> None:
    talk("alpha", "zulu", "bravo")

    assert texts(recall(top_k=1)) == ["zulu"]


def test_many_turns_at_one_place_are_not_all_candidates() -> None:
    """A host that numbers all its turns alike must not have them all read."""
    (hit,) = talk("zulu")
    source_id = Record.objects.get(tenant="acme", id=hit).source_id
    crowd = remember(*(f"filler {n}" for n in range(100)))
    rows = Record.objects.filter(tenant="acme", id__in=crowd)
    rows.update(source_id=source_id, ordinal=1)
    reader = Reader(make_scope())

    found = find(using="default", reader=reader, query="zulu", leg=VectorLeg(), rows=32)

    assert str(hit) in found.rows
    assert 1 < len(found.rows) <= 10


def test_only_the_best_of_each_leg_are_looked_beside() -> None:
    """So that a page of candidates brings no more than a page of neighbours."""
    for number in range(ANCHORS + 8):
        words = "zulu " * (1 + (number < ANCHORS)) + f"n{number}"
        talk(words, f"after {number}", source=f"chat {number}")

    reader = Reader(make_scope())
    found = find(using="default", reader=reader, query="zulu", leg=VectorLeg(), rows=32)

    after = {row["text"] for row in found.rows.values() if row["text"][:5] == "after"}
    assert after == {f"after {number}" for number in range(ANCHORS)}


def test_an_answer_after_a_question_comes_before_what_stands_alone() -> None:
    """C35: what the words do not find is found by where it stands."""
    talk("Where did Zulu park?", "On the third deck.")
    remember("the weather is fine today")

    found = recall("where is zulu parked")

    assert {*texts(found)} == {"Where did Zulu park?", "On the third deck."}


def test_the_order_of_the_rows_on_disk_is_no_matter() -> None:
    """B114: same ids, scores and places after every row was written anew."""
    for number in range(12):
        talk(f"alpha {number}", "zulu", f"bravo {number}", source=f"chat {number}")
    before = recall()

    ids = [record_id for (record_id,) in ask(ALL_IDS)]
    for order in (ids, ids[::-1], sorted(ids, key=lambda i: str(i)[::-1])):
        for record_id in order:
            ask("UPDATE prism_memory_record SET uses = uses WHERE id = %s", record_id)
        assert recall().hits == before.hits


def test_trust_is_discounted_beside_too() -> None:
    """B371: standing beside a good record makes nobody first-party."""
    ids = talk("alpha", "zulu", "bravo")
    before = {hit.text: hit.score for hit in recall()}
    change(ids[2], trust=Trust.TOOL.value)

    after = {hit.text: hit.score for hit in recall()}

    assert after["bravo"] < before["bravo"]
    assert after["alpha"] == before["alpha"]
