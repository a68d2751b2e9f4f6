"""How the consent for a record came about: each decision, in its order."""

from __future__ import annotations

import datetime as dt
import uuid
from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone

from prism_memory import lifecycle
from prism_memory.errors import Conflict, Invalid, LimitExceeded, NotVisible
from prism_memory.models import ConsentGrant, Record
from prism_memory.types import (
    Actor,
    Consent,
    ConsentDecision,
    ConsentScope,
    ConsentSource,
    Entry,
    Kind,
    SourceRef,
)
from tests.capture import captured
from tests.factories import NOON, make_memory, make_scope, remember_one
from tests.tables import counts, holding

pytestmark = pytest.mark.django_db

PROFILE = Consent(scope=ConsentScope.PROFILE)


def history(record_id: uuid.UUID) -> list[ConsentDecision]:
    return [*make_memory().consent_history(record_id)]


class TestSetConsent:
    def test_each_decision_is_noted_with_the_state_that_it_left(self):
        """B138."""
        record_id = remember_one("words")
        memory = make_memory(actor=Actor("user:7"))
        memory.set_consent(record_id, visible=False)
        memory.set_consent(record_id, label=ConsentScope.USER)
        memory.set_consent(record_id, visible=True, source=ConsentSource.SYSTEM)
        revoked, labelled, granted = history(record_id)
        assert [d.visible for d in (revoked, labelled, granted)] == [False, False, True]
        assert revoked.revoked_at == labelled.revoked_at is not None
        assert granted.revoked_at is None
        assert granted.granted_at is not None
        assert revoked.revoked_at is not None
        assert granted.granted_at > revoked.revoked_at
        assert [d.label for d in (revoked, labelled)] == ["thread", "user"]
        assert [d.source for d in (labelled, granted)] == ["user", "system"]
        assert {d.actor for d in (revoked, labelled, granted)} == {"user:7"}

    def test_the_last_decision_is_the_state_in_force(self):
        record_id = remember_one("words")
        for visible in (False, True, False):
            make_memory().set_consent(record_id, visible=visible)
        record = Record.objects.get(tenant="acme", id=record_id)
        last = history(record_id)[-1]
        names = ("visible", "granted_at", "revoked_at")
        assert [getattr(last, n) for n in names] == [getattr(record, n) for n in names]

    def test_a_decision_by_a_clock_that_is_late_still_comes_after(self):
        """Writers' clocks differ; the order is that of the row's locks."""
        record_id = remember_one("words")
        for hours, visible in enumerate([False, True, False]):
            lifecycle.set_consent(
                using="default",
                scope=make_scope(),
                actor=Actor(),
                record_id=record_id,
                at=NOON - dt.timedelta(hours=hours),
                visible=visible,
            )
        found = history(record_id)
        assert [d.visible for d in found] == [False, True, False]
        assert [d.at for d in found] == sorted({d.at for d in found})

    def test_one_that_is_refused_leaves_none(self):
        record_id = remember_one("words")
        with pytest.raises(LimitExceeded):
            make_memory().set_consent(record_id, visible=False, reason="x" * 1_001)
        with pytest.raises(Invalid):
            make_memory().set_consent(record_id)
        assert history(record_id) == []

    @pytest.mark.django_db(transaction=True)
    def test_it_goes_with_its_transaction(self):
        record_id = remember_one("words")
        with transaction.atomic():
            make_memory().set_consent(record_id, visible=False)
            assert len(history(record_id)) == 1
            transaction.set_rollback(True)
        assert history(record_id) == []

    def test_no_words_are_kept_there(self):
        record_id = remember_one("zanzibar", consent=PROFILE, key="k")
        make_memory().set_consent(record_id, visible=False, reason="asked")
        assert "prism_memory_consentgrant" not in holding("zanzibar")


class TestRemember:
    def test_a_consent_that_is_given_is_a_decision(self):
        """B97."""
        memory = make_memory(actor=Actor("importer"))
        given = Entry("words", consent=Consent(scope="profile", granted_at=NOON))  # type: ignore[arg-type]
        (record_id,) = memory.remember(given).accepted
        (decision,) = history(record_id)
        assert (decision.visible, decision.source, decision.label) == (
            True,
            "user",
            "profile",
        )
        assert (decision.granted_at, decision.actor) == (NOON, "importer")

    def test_a_refusal_is_one_too(self):
        record_id = remember_one("words", consent=Consent(visible=False))
        (decision,) = history(record_id)
        assert (decision.visible, decision.granted_at) == (False, None)

    def test_one_that_is_assumed_is_none(self):
        assert history(remember_one("words")) == []
        chunk = remember_one("words", kind=Kind.CHUNK, source=SourceRef("doc"))
        assert history(chunk) == []
        make_memory().set_consent(chunk, label=ConsentScope.USER)
        (decision,) = history(chunk)
        assert (decision.visible, decision.source, decision.label) == (
            None,
            None,
            "user",
        )

    def test_remembered_again_nothing_is_decided(self):
        record_id = remember_one("words", key="k", consent=PROFILE)
        remember_one("words", key="k", consent=PROFILE)
        remember_one("other words", key="k", consent=PROFILE)
        remember_one("other words", key="k")
        assert len(history(record_id)) == 1

    def test_a_batch_notes_all_of_its_own_in_one_statement(self):
        known = remember_one("known", key="known", consent=PROFILE)
        entries = [Entry(f"{i}", key=f"{i}", consent=PROFILE) for i in range(20)]
        batch = [*entries, Entry("plain"), Entry("known", key="known", consent=PROFILE)]
        with captured() as seen:
            ids = make_memory().remember(batch).accepted
        noted = [sql for sql, _ in seen.statements if "consentgrant" in sql]
        assert len(noted) == 1
        grants = ConsentGrant.objects.filter(tenant="acme")
        assert {*ids[:20], known} == {*grants.values_list("record", flat=True)}

    def test_without_one_it_costs_nothing(self):
        with captured() as seen:
            make_memory().remember(["a", Entry("b", key="b")])
        assert not [sql for sql, _ in seen.statements if "consentgrant" in sql]

    def test_a_batch_that_fails_leaves_none(self):
        remember_one("held", key="k")
        before = counts()
        with pytest.raises(Conflict):
            make_memory().remember(
                [Entry("a", consent=PROFILE), Entry("b", key="k", consent=PROFILE)]
            )
        assert counts() == before


class TestPages:
    """case_C34."""

    def test_they_end_with_the_last_decision(self):
        record_id = remember_one("words")
        memory = make_memory()
        for number in range(7):
            memory.set_consent(record_id, visible=bool(number % 2))
        found: list[Any] = []
        cursor = None
        for _ in range(3):
            page = memory.consent_history(record_id, limit=3, cursor=cursor)
            found += page
            cursor = page.next_cursor
        assert cursor is None
        assert [d.visible for d in found] == [bool(n % 2) for n in range(7)]
        assert memory.consent_history(record_id, limit=7).next_cursor is None

    @pytest.mark.parametrize("cursor", ["", "x", 5, str(uuid.UUID(int=7)), b"x"])
    def test_a_cursor_that_is_none_is_refused(self, cursor: Any):
        record_id = remember_one("words")
        with pytest.raises(Invalid) as refused:
            make_memory().consent_history(record_id, cursor=cursor)
        assert refused.value.field == "cursor"

    def test_another_records_cursor_is_refused(self):
        mine, other = remember_one("a"), remember_one("b")
        for record_id in (mine, other):
            make_memory().set_consent(record_id, visible=False)
        (decision,) = history(other)
        with pytest.raises(Invalid):
            make_memory().consent_history(mine, cursor=str(decision.id))

    @pytest.mark.parametrize("limit", [0, 201, -1])
    def test_a_limit_has_its_bounds(self, limit: int):
        with pytest.raises(LimitExceeded):
            make_memory().consent_history(remember_one("words"), limit=limit)


class TestSight:
    def test_a_hidden_record_has_its_history(self):
        record_id = remember_one("words")
        make_memory().set_consent(record_id, visible=False)
        assert len(history(record_id)) == 1

    @pytest.mark.parametrize(
        "beside",
        [
            {"tenant": "globex"},
            {"owner": "bob"},
            {"agent": "sales"},
            {"thread": "chat-2"},
            {"agent": "", "thread": ""},
            {"thread": ""},
        ],
    )
    def test_another_scopes_is_not_told(self, beside: dict[str, str]):
        """B25: foreign and unknown look the same."""
        record_id = remember_one("words", scope=make_scope(**beside), consent=PROFILE)
        told = set()
        for wanted in (record_id, uuid.uuid4()):
            with pytest.raises(NotVisible) as refused:
                make_memory().consent_history(wanted)
            told.add(str(refused.value))
        assert len(told) == 1

    def test_it_goes_with_its_record(self):
        record_id = remember_one("words", consent=PROFILE)
        lifecycle.forget(
            using="default",
            scope=make_scope(),
            actor=Actor(),
            ids=[record_id],
            at=timezone.now(),
        )
        with pytest.raises(NotVisible):
            history(record_id)
        assert not ConsentGrant.objects.filter(tenant="acme").exists()
