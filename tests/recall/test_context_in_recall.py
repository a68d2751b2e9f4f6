"""What stands around a record speaks for it, through the door."""

from __future__ import annotations

from typing import Any

import pytest

from prism_memory.models import Record
from prism_memory.types import Entry, Origin, SourceRef, Trust
from tests.factories import NOON, make_memory, make_record, make_scope, remember
from tests.recall.scored import recalled, texts

pytestmark = pytest.mark.django_db


def talk(*said: str, **fields: Any) -> None:
    turns = [
        Entry(text, source=SourceRef("talk", n), **fields)
        for n, text in enumerate(said)
    ]
    make_memory().remember(turns, wait=True)


def test_the_turn_after_the_words_is_found_by_where_it_stands() -> None:
    """Its words match nothing; it is told as found by context alone."""
    talk("What did you drink with the green cup?", "Mint, as always.", "Rain again.")

    found = recalled(legs="text")

    by_text = {hit.text: hit for hit in found}
    answer = by_text["Mint, as always."]
    assert (answer.method, answer.ranks, answer.bm25) == ("context", {}, None)
    assert answer.score > 0
    assert answer.signals["fused"] == 0
    assert "Rain again." not in by_text
    plain = recalled(legs="text", context=False)
    assert texts(plain) == ["What did you drink with the green cup?"]


@pytest.mark.parametrize(
    "columns",
    [
        {"visible": False},
        {"revoked_at": NOON},
        {"expires_at": NOON},
        {"gate": "quarantined"},
        {"valid_to": NOON},
    ],
    ids=str,
)
def test_what_is_out_of_sight_neither_stands_beside_nor_speaks(columns: Any) -> None:
    """B134, B382: the scores are those of a talk without it."""
    talk("Who drinks green tea?", "Mint, as always.", "Green tea for Ada.")
    remember("one", "two", "three")  # the number of records is told in powers of two
    rows = Record.objects.filter(tenant="acme", text="Mint, as always.")
    rows.update(**columns)
    seen = recalled(legs="text")
    other = make_record(scope=make_scope(tenant="acme", owner="bob"))
    rows.update(scope_id=other.scope_id, source_id=None, ordinal=None)

    assert "Mint, as always." not in texts(seen)
    assert [(h.text, h.score) for h in seen] == [
        (h.text, h.score) for h in recalled(legs="text")
    ]


def test_what_narrows_the_hits_narrows_what_stands_beside_them() -> None:
    """B382."""
    talk("Who drinks green tea?", metadata={"tags": ["food"]})
    entry = Entry("Mint, as always.", source=SourceRef("talk", 1))
    make_memory().remember(entry, wait=True)

    assert len(recalled(legs="text")) == 2
    assert len(recalled(legs="text", tags=["food"])) == 1


def test_a_writer_whom_the_question_names_comes_first() -> None:
    for writer in ("bob", "ada"):
        talk_of = Entry(
            f"I drink green tea, says number {len(writer)}{writer[0]}.",
            origin=Origin(Trust.USER, writer),
            lexical_text="green tea",
            embed_text="green tea",
        )
        make_memory().remember(talk_of, wait=True)

    found = make_memory().recall("Does Ada drink green tea?")

    assert found[0].writer == "ada"
    assert found[0].score > found[1].score
    apart = make_memory().recall("Does Ada drink green tea?", context=False)
    assert apart[0].score == apart[1].score
