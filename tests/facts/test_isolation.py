"""Strangers neither see facts nor change them; consent and lineage reach them."""

from __future__ import annotations

from typing import Any

import pytest

from prism_memory.errors import NotVisible
from prism_memory.types import ReadMode, Trust
from tests.factories import make_memory, make_scope
from tests.facts.asserted import assert_one, said, supersede_one, values
from tests.tables import counts

pytestmark = pytest.mark.django_db

STRANGERS = [
    {"tenant": "globex"},
    {"owner": "bob"},
    {"agent": "sales"},
    {"thread": "chat-2"},
]
VERBS: list[tuple[str, dict[str, Any]]] = [
    ("accept", {}),
    ("retract", {}),
    ("validate", {}),
    ("quarantine", {"reason": "odd"}),
    ("forget", {}),
    ("purge", {}),
    ("archive", {}),
    ("unarchive", {}),
]


@pytest.mark.parametrize("level", STRANGERS, ids=str)
def test_a_strangers_fact_is_not_visible(level: dict[str, str]) -> None:
    """B1, B294: in no list, by no id, in no history, at no moment."""
    fact = assert_one(trust=Trust.TOOL, key="home")
    theirs = make_memory(make_scope(**level)).facts
    assert theirs("Ada", unaccepted=True).items == ()
    assert theirs("Ada", known_at=fact.recorded_from, at=fact.valid_from).items == ()
    assert theirs.timeline("Ada").items == ()
    for read in (theirs.get, theirs.history):
        with pytest.raises(NotVisible):
            read(fact.id)


@pytest.mark.parametrize("level", STRANGERS, ids=str)
def test_a_stranger_changes_nothing(level: dict[str, str]) -> None:
    fact = assert_one(trust=Trust.TOOL, key="home")
    theirs = make_memory(make_scope(**level)).facts
    before = counts()
    for verb, given in VERBS:
        for which in (fact.id, str(fact.id), "home"):
            with pytest.raises(NotVisible):
                getattr(theirs, verb)(which, **given)
    assert counts() == before


def test_a_fact_of_a_wider_scope_is_read_and_not_changed() -> None:
    """B5: the chain is read, the exact level is governed."""
    above = make_memory(make_scope(agent="", thread=""))
    fact = assert_one(memory=above)
    below = make_memory()
    assert values(below.facts("Ada")) == ["Porto"]
    assert make_memory(read=ReadMode.EXACT).facts("Ada").items == ()
    with pytest.raises(NotVisible):
        below.facts.retract(fact.id)


class TestEvidence:
    def test_a_revoked_consent_takes_the_fact_along_and_brings_it_back(self) -> None:
        """B134: through the lineage that evidence is."""
        cited = said()
        fact = assert_one(evidence=[cited, said("More.")])
        memory = make_memory()
        memory.set_consent(cited, visible=False)
        assert memory.facts("Ada").items == ()
        assert memory.facts("Ada", known_at=fact.recorded_from).items == ()
        assert memory.facts.timeline("Ada").items == ()
        with pytest.raises(NotVisible):
            memory.facts.get(fact.id)
        memory.set_consent(cited, visible=True)
        assert values(memory.facts("Ada")) == ["Porto"]

    def test_a_correction_of_the_evidence_blocks_it(self) -> None:
        cited = said()
        assert_one(evidence=[cited])
        make_memory().correct(cited, "I live in Faro.")
        assert make_memory().facts("Ada").items == ()

    def test_a_hidden_fact_is_not_superseded_by_who_cannot_see_it(self) -> None:
        cited = said()
        fact = assert_one(evidence=[cited], key="home")
        make_memory().set_consent(cited, visible=False)
        with pytest.raises(NotVisible):
            supersede_one("home")
        make_memory().set_consent(cited, visible=True)
        assert values(make_memory().facts("Ada")) == [fact.value]


def test_strict_readers_see_what_was_consented_to_only() -> None:
    """B141: a fact has no consent of its own until it is given one."""
    fact = assert_one()
    strict = make_memory(require_consent=True)
    assert strict.facts("Ada").items == ()
    make_memory().set_consent(fact.id, visible=True)
    assert values(strict.facts("Ada")) == ["Porto"]
