"""A fact cites what is in sight, or nothing is written; the policy judges it."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Collection
from typing import Any

import pytest
from django.db import transaction

from prism_memory.errors import (
    FactKeyInUse,
    Invalid,
    LimitExceeded,
    Misconfigured,
    NotVisible,
)
from prism_memory.models import AuditEvent, Evidence, Fact, LineageEdge, Record, Review
from prism_memory.types import Acceptance, Claim, Kind, Origin, Trust
from tests.factories import make_memory, make_scope
from tests.facts.asserted import MAY, assert_one, said, values, versions
from tests.tables import counts

pytestmark = pytest.mark.django_db

A, B, P = Acceptance.ACCEPTED, Acceptance.BELIEF, Acceptance.PROPOSAL


def nobody_knows(trusts: Collection[Trust]) -> str:
    return "accepted" if len(trusts) > 1 else "nonsense"


@pytest.mark.parametrize(
    ("trusts", "judged"),
    [
        ([Trust.USER], A),
        ([Trust.DOCUMENT], A),
        ([Trust.USER, Trust.DOCUMENT], A),
        ([Trust.AGENT], B),
        ([Trust.AGENT, Trust.AGENT], B),
        ([Trust.AGENT, Trust.USER], P),
        ([Trust.USER, Trust.TOOL], P),
        ([Trust.TOOL], P),
        ([Trust.SUBAGENT], P),
        ([Trust.CONSOLIDATOR], P),
        ([Trust.SYSTEM], P),
    ],
)
def test_all_that_is_cited_decides(trusts: list[Trust], judged: Acceptance) -> None:
    """B295, B296, B297: the policy looks at all of the evidence."""
    cited = [said(f"Words {n}.", trust) for n, trust in enumerate(trusts)]
    fact = assert_one(evidence=cited)
    assert (fact.acceptance, fact.evidence) == (judged, tuple(cited))
    shown = values(make_memory().facts("Ada"))
    assert shown == (["Porto"] if judged is A else [])
    waits = Review.objects.filter(record_id=fact.id, why="proposal", decided_at=None)
    assert waits.exists() is (judged is P)


def test_who_asserts_it_vouches_for_nothing() -> None:
    """case_C27: the evidence counts, not the asserter's trust, nor a tag it sets."""
    agent = make_memory(origin=Origin(Trust.USER, "ada"))
    fact = assert_one(memory=agent, trust=Trust.TOOL, tags=["verified"])
    assert fact.acceptance is P
    with pytest.raises(Invalid, match="acceptance"):
        assert_one(acceptance="accepted")
    with pytest.raises(Invalid, match="provenance"):
        assert_one(provenance="user")


def test_the_policy_can_be_replaced(settings: Any) -> None:
    """B298."""
    path = f"{__name__}.nobody_knows"
    settings.PRISM_MEMORY = settings.PRISM_MEMORY | {"ACCEPTANCE_POLICY": path}
    tools = [said(f"Words {n}.", Trust.TOOL) for n in range(2)]
    assert assert_one(evidence=tools).acceptance is A
    before = counts()
    with pytest.raises(Misconfigured, match="ACCEPTANCE_POLICY"):
        assert_one(evidence=tools[:1], key="other")
    assert counts() == before


def test_it_is_a_record_that_is_recalled_with_its_words_indexed() -> None:
    cited = said()
    fact = assert_one(evidence=[cited], tags=["home"], importance=0.7)
    record = Record.objects.get(id=fact.id)
    assert (record.kind, record.text) == ("fact", "Ada lives in Porto")
    assert (record.lexical_text or "").startswith("[Context: Ada")
    assert record.valid_from == MAY
    edges = LineageEdge.objects.filter(record_id=fact.id)
    assert [edge.source_ref for edge in edges] == [f"record:{cited}"]
    assert Evidence.objects.get().record_id == cited
    (hit,) = make_memory().recall("Porto", kinds=[Kind.FACT], tags=["home"])
    assert (hit.id, hit.text, hit.importance) == (fact.id, record.text, 0.7)
    event = AuditEvent.objects.get(action="fact.assert")
    assert event.target == f"record:{fact.id}"
    assert "Porto" not in str(event.detail)


def test_without_evidence_in_sight_nothing_is_written() -> None:
    """B294, B313."""
    hidden = said("hidden")
    make_memory().set_consent(hidden, visible=False)
    gone = said("gone")
    make_memory().forget(gone)
    tried: list[tuple[Any, type[Exception]]] = [
        ([], Invalid),
        ("", Invalid),
        (["no id"], Invalid),
        ([uuid.uuid4()], NotVisible),
        ([hidden], NotVisible),
        ([gone], NotVisible),
        ([said("seen"), hidden], NotVisible),
        ([uuid.uuid4() for _ in range(33)], LimitExceeded),
    ]
    before = counts()
    for evidence, error in tried:
        with pytest.raises(error) as refused:
            assert_one(evidence=evidence)
        assert getattr(refused.value, "field", "") == "evidence", evidence
    assert counts() == before


@pytest.mark.parametrize(
    "level",
    [{"tenant": "globex"}, {"owner": "bob"}, {"agent": "sales"}, {"thread": "chat-2"}],
    ids=str,
)
def test_what_a_stranger_said_cannot_be_cited(level: dict[str, str]) -> None:
    """B294, B1."""
    theirs = said("Theirs.", scope=make_scope(**level))
    with pytest.raises(NotVisible):
        assert_one(evidence=[theirs])


def test_words_of_a_wider_scope_can_be_cited() -> None:
    above = said("Ada's own.", scope=make_scope(agent="", thread=""))
    assert assert_one(evidence=[above]).evidence == (above,)


@pytest.mark.parametrize("verb", ["forget", "retract"])
def test_words_that_were_forgotten_wait_unless_a_person_asserts_them(verb: str) -> None:
    """case_C12: who asserts counts here, not the trust of what is cited."""
    gone = assert_one()
    getattr(make_memory().facts, verb)(gone.id)
    for trust in (Trust.TOOL, Trust.AGENT):
        noted = make_memory(origin=Origin(trust, "bot"))
        cited = [said(f"Heard by {trust}.")]
        back = assert_one(memory=noted, evidence=cited, key=str(trust))
        assert (back.gate, back.gate_reason) == ("quarantined", "forgotten")
        assert Review.objects.filter(record_id=back.id, why="quarantined").exists()
    assert make_memory().recall("Porto", kinds=[Kind.FACT], legs="text").hits == ()
    anew = assert_one(trust=Trust.TOOL, key="anew")
    assert (anew.gate, anew.acceptance) == ("open", P)


class TestKeys:
    def test_the_same_claim_is_the_fact_that_is_there(self) -> None:
        """B311: identical payload and evidence."""
        cited = said()
        first = assert_one(evidence=[cited], key="home")
        before = counts()
        assert assert_one(evidence=[cited], key="home").id == first.id
        assert counts() == before

    def test_without_a_key_its_words_make_one(self) -> None:
        cited = said()
        first = assert_one(evidence=[cited])
        assert assert_one(evidence=[cited]).id == first.id
        assert assert_one("Lisbon", evidence=[cited]).id != first.id

    @pytest.mark.parametrize(
        "other",
        [
            {"value": "Lisbon"},
            {"text": "She lives in Porto."},
            {"valid_from": MAY + dt.timedelta(days=1)},
            {"valid_to": MAY + dt.timedelta(days=9)},
            {"evidence": None},
        ],
        ids=str,
    )
    def test_an_open_key_that_says_something_else_is_refused(self, other: Any) -> None:
        """B311."""
        cited = said()
        assert_one(evidence=[cited], key="home")
        given = {"evidence": [cited], "key": "home"} | other
        if given["evidence"] is None:
            given["evidence"] = [cited, said("More.")]
        before = counts()
        with pytest.raises(FactKeyInUse) as refused:
            assert_one(**given)
        assert refused.value.field == "key"
        assert counts() == before

    def test_a_key_is_of_its_scope(self) -> None:
        """B311."""
        first = assert_one(key="home")
        there = make_memory(make_scope(thread="chat-2"))
        assert assert_one("Lisbon", memory=there, key="home").id != first.id

    def test_it_is_free_once_its_fact_is_retracted_or_forgotten(self) -> None:
        facts = make_memory().facts
        first = assert_one(key="home")
        facts.retract("home")
        second = assert_one(key="home")
        facts.forget("home")
        third = assert_one(key="home")
        assert len({first.id, second.id, third.id}) == 3
        assert Fact.objects.filter(key="home", closed_at=None).count() == 1


class TestTransactions:
    def test_a_refusal_leaves_the_hosts_transaction_usable(self) -> None:
        """B314."""
        with transaction.atomic():
            kept = said("kept")
            with pytest.raises(NotVisible):
                assert_one(evidence=[uuid.uuid4()])
            fact = assert_one(evidence=[kept])
        assert make_memory().facts.get(fact.id).value == "Porto"

    def test_the_hosts_rollback_takes_it_along(self) -> None:
        """B315."""
        cited = said()
        before = counts()
        with transaction.atomic():
            assert_one(evidence=[cited])
            transaction.set_rollback(True)
        assert counts() == before


class TestClaims:
    @pytest.mark.parametrize(
        ("field", "wrong", "error"),
        [
            ("subject", "", Invalid),
            ("subject", "x" * 257, LimitExceeded),
            ("predicate", " ", Invalid),
            ("value", "", Invalid),
            ("value", "a\0b", Invalid),
            ("text", "  ", Invalid),
            ("key", "", Invalid),
            ("confidence", 1.5, Invalid),
            ("confidence", float("nan"), Invalid),
            ("valid_from", dt.datetime(2025, 1, 1), Invalid),  # noqa: DTZ001
            ("valid_to", MAY, Invalid),
            ("tags", "home", Invalid),
            ("tags", ["x" * 65], LimitExceeded),
            ("tags", [str(n) for n in range(33)], LimitExceeded),
            ("tags", [" "], Invalid),
            ("metadata", {"subject": "Bob"}, Invalid),
            ("metadata", [], Invalid),
            ("sensitivity", "top", Invalid),
            ("principal", "nobody", Invalid),
        ],
    )
    def test_bad_input_names_its_field_and_writes_nothing(
        self, field: str, wrong: Any, error: type[Exception]
    ) -> None:
        """B312, B359, case_C22."""
        cited = said()
        before = counts()
        given: dict[str, Any] = {"predicate": "likes", "value": "tea", "subject": "Ada"}
        given |= {"evidence": [cited], "valid_from": MAY, field: wrong}
        with pytest.raises(error) as refused:
            make_memory().facts.assert_fact(**given)
        assert getattr(refused.value, "field", "").startswith(field)
        assert counts() == before

    def test_times_are_utc_whatever_their_offset(self) -> None:
        """B312."""
        zone = dt.timezone(dt.timedelta(hours=9))
        fact = assert_one(valid_from=MAY.astimezone(zone))
        assert fact.valid_from == MAY
        assert fact.valid_from.utcoffset() == dt.timedelta(0)

    def test_secrets_are_taken_out_of_every_word(self) -> None:
        memory = make_memory(secrets=["hunter2"])
        fact = assert_one("pass hunter2", memory=memory, tags=["hunter2 tag"])
        assert fact.value == "pass [redacted]"
        assert "hunter2" not in str(Record.objects.get(id=fact.id).__dict__)
        with pytest.raises(Invalid) as refused:
            assert_one(memory=memory, key="hunter2")
        assert refused.value.field == "key"

    def test_a_claim_alone_may_be_a_text(self) -> None:
        assert Claim(text="Ada moved.").statement == "Ada moved."
        with pytest.raises(Invalid, match="subject"):
            Claim(predicate="likes", value="tea")


def test_without_valid_from_it_holds_from_its_writing_on() -> None:
    fact = assert_one(valid_from=None)
    (version,) = versions(fact.id)
    age = version.recorded_from - version.valid_from
    assert abs(age) < dt.timedelta(minutes=1)
    assert values(make_memory().facts("ada")) == ["Porto"]
