"""One drain at a time: what it does with each outcome."""

from __future__ import annotations

from dataclasses import replace

import pytest
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from prism_memory import backends, conf, indexing
from prism_memory.errors import (
    Aborted,
    Misconfigured,
    ProviderRejected,
    ProviderUnavailable,
)
from prism_memory.indexing import claims
from prism_memory.models import Embedding, Record
from prism_memory.models import Scope as ScopeRow
from prism_memory.types import Entry
from tests.capture import tenant_in_every_statement
from tests.embedders import FaultyEmbedder
from tests.factories import make_memory, make_scope, remember, remember_one
from tests.indexing.conftest import (
    counted,
    drain,
    embedding_while,
    make_due,
    pending,
    row_of,
    space,
)

pytestmark = pytest.mark.django_db

BAD = ["REJECTED", "VALUE", "UNFORESEEN", "ATTRIBUTE", "MEMORY", "NAN", "WIDE", "COUNT"]


class TestEmbedded:
    def test_what_waits_is_embedded_and_counted(self):
        """B91."""
        ids = remember(*(f"Note {n}." for n in range(20)))
        assert pending().pending == 20
        with tenant_in_every_statement("acme"):
            assert drain() == indexing.Drained(embedded=20)
        assert pending() == indexing.Pending()
        assert counted() == {make_scope().id: 20}
        rows = [row_of(record_id) for record_id in ids]
        assert {(row.attempts, row.error, row.claimed_until) for row in rows} == {
            (1, "", None)
        }

    @pytest.mark.usefixtures("faulty")
    def test_the_embed_text_is_what_is_embedded(self):
        remember_one("Shown.", embed_text="Embedded instead.")
        drain()
        assert FaultyEmbedder.asked == [["Embedded instead."]]

    def test_a_vector_is_stored_within_half_precision(self):
        record_id = remember_one("Ada drinks tea.")
        drain()
        (wanted,) = backends.embed(
            backends.get_embedder(), ["Ada drinks tea."], role="passage"
        )
        stored = list(row_of(record_id).vector)
        assert stored == pytest.approx(wanted, abs=2**-11)

    def test_progress_is_told_after_each_batch(self):
        remember(*(f"Note {n}." for n in range(20)))
        sums = []
        drain(progress=lambda done: sums.append(done.embedded))
        assert sums == [8, 16, 20]

    def test_no_batch_begins_after_the_time_is_over(self):
        remember("One.", "Two.")
        assert drain(max_seconds=0) == indexing.Drained()
        assert pending().pending == 2

    def test_only_the_named_records_are_embedded(self):
        first, second = remember("One.", "Two.")
        assert drain(record_ids=[second]).embedded == 1
        assert row_of(first).vector is None
        assert drain(record_ids=[]).embedded == 0

    def test_nobody_claims_what_another_drain_holds(self):
        remember("One.", "Two.", "Three.")
        queue = claims.Queue("default", "acme", space())
        assert len(claims.claim(queue, 2, None)) == 2
        assert drain().embedded == 1


class TestRefused:
    @pytest.mark.parametrize("fault", BAD)
    @pytest.mark.usefixtures("faulty")
    def test_one_bad_text_is_marked_and_the_batch_goes_on(self, fault):
        """B106, B108, C33."""
        ids = remember(*(f"Note {n}." for n in range(5)), f"secret-word {fault}")
        before = timezone.now()
        assert drain() == indexing.Drained(embedded=5, refused=1)
        bad = row_of(ids[5])
        assert (bad.vector, bad.attempts, bad.claimed_until) == (None, 1, None)
        assert bad.failed_at is None
        assert bad.error
        assert bad.next_try_at > before
        assert counted() == {make_scope().id: 5}

    @pytest.mark.parametrize("fault", [*BAD, "DOWN"])
    @pytest.mark.usefixtures("faulty")
    def test_an_error_holds_no_stored_text(self, fault):
        record_id = remember_one(f"secret-word {fault}")
        drain()
        error = row_of(record_id).error
        assert error
        assert "secret-word" not in error

    @pytest.mark.usefixtures("faulty")
    def test_it_is_tried_again_only_after_its_pause(self):
        remember("VALUE")
        drain()
        FaultyEmbedder.asked.clear()
        assert drain() == indexing.Drained()
        assert FaultyEmbedder.asked == []
        make_due()
        assert drain().refused == 1

    @pytest.mark.usefixtures("faulty")
    def test_after_all_tries_it_is_failed_visible_and_can_be_retried(self, settings):
        """B89, C33."""
        settings.PRISM_MEMORY = {**settings.PRISM_MEMORY, "EMBED_ATTEMPTS": 3}
        memory = make_memory()
        done = memory.remember(["Fine.", "VALUE"]).done
        for tries in (1, 2, 3):
            make_due()
            done_now = drain()
            assert (done_now.refused, done_now.failed) == (
                (1, 0) if tries < 3 else (0, 1)
            )
            assert (pending().pending, pending().failed) == (
                (1, 0) if tries < 3 else (0, 1)
            )
        make_due()
        assert drain() == indexing.Drained()
        ((_, reason),) = done.wait().failed.items()
        assert "ValueError" in reason
        assert memory.pending().failed == 1
        assert indexing.retry_failed(using="default", tenant="acme", space=space()) == 1
        assert (pending().pending, pending().failed) == (1, 0)
        assert drain().refused == 1
        assert pending().pending == 1

    def test_a_text_that_kills_its_worker_each_time_is_given_up(self, settings):
        settings.PRISM_MEMORY = {**settings.PRISM_MEMORY, "EMBED_ATTEMPTS": 2}
        record_id = remember_one("Poison.")
        queue = claims.Queue("default", "acme", space())
        for _ in range(2):
            assert len(claims.claim(queue, 8, None)) == 1  # and the worker is gone
            make_due()
        assert drain() == indexing.Drained(failed=1)
        row = row_of(record_id)
        assert row.failed_at is not None
        assert row.error == "No worker came back from it."

    def test_a_text_that_kills_its_worker_takes_no_other_with_it(self):
        """Only the first of its claims holds others: a second try is made alone."""
        ids = remember(*(f"Note {n}." for n in range(31)), "Poison.")
        poison = ids[-1]
        for _ in range(conf.settings.EMBED_ATTEMPTS):
            make_due()
            work_until_killed_by(poison, batch=32)
        make_due()
        assert drain() == indexing.Drained(failed=1)
        assert row_of(poison).error == "No worker came back from it."
        assert Embedding.objects.exclude(vector=None).count() == 31

    @pytest.mark.usefixtures("faulty")
    def test_a_text_that_was_tried_is_tried_again_alone(self):
        ids = remember("VALUE 1", "VALUE 2")
        drain()
        third = remember_one("Fine.")
        make_due()
        FaultyEmbedder.asked.clear()
        assert drain() == indexing.Drained(embedded=1, refused=2)
        assert FaultyEmbedder.asked[0] == ["Fine."]
        assert sorted(FaultyEmbedder.asked[1:]) == [["VALUE 1"], ["VALUE 2"]]
        assert [row_of(record_id).attempts for record_id in (*ids, third)] == [2, 2, 1]


def work_until_killed_by(poison, batch):
    """Claim and embed as a drain does, and be gone where the poison is held."""
    queue = claims.Queue("default", "acme", space())
    while claimed := claims.claim(queue, batch, None):
        if poison in [item.record_id for item in claimed]:
            return
        claims.write(queue, [(item, [1.0] + [0.0] * 63) for item in claimed])


class TestOutage:
    @pytest.mark.usefixtures("faulty")
    def test_an_outage_uses_up_no_try_and_stops_the_drain(self):
        ids = remember("DOWN", *(f"Note {n}." for n in range(20)))
        done = drain(batch=32)
        assert (done.outage, done.embedded, done.failed) == ("It is down.", 0, 0)
        assert len(FaultyEmbedder.asked) == 1
        rows = [row_of(record_id) for record_id in ids]
        assert {row.attempts for row in rows} == {0}
        assert {row.claimed_until for row in rows} == {None}
        assert {row.error for row in rows} == {"It is down."}
        assert min(row.next_try_at for row in rows) > timezone.now()

    @pytest.mark.usefixtures("faulty")
    def test_later_it_goes_on(self, settings):
        remember("DOWN", "Fine.")
        for _ in range(20):  # more often than there are tries
            make_due()
            assert drain().outage
        settings.PRISM_MEMORY = {
            **settings.PRISM_MEMORY,
            "EMBEDDERS": {
                "default": {
                    "BACKEND": "prism_memory.backends.hashing.HashEmbedder",
                    "OPTIONS": {"dimensions": 64},
                }
            },
        }
        make_due()
        assert drain() == indexing.Drained(embedded=2)

    def test_what_was_embedded_before_the_outage_is_kept(self):
        """A batch is halved at a bad text, and its second half meets the outage."""
        remember(*(f"Note {n}." for n in range(6)))
        done = drain(embed=refuse_then_embed_then_be_down())
        assert (done.embedded, bool(done.outage)) == (3, True)
        assert counted() == {make_scope().id: 3}
        assert Embedding.objects.exclude(claimed_until=None).count() == 0


def refuse_then_embed_then_be_down():
    """Refuse the whole batch, embed its first half, then be down."""
    calls = []

    def embed(texts):
        calls.append(texts)
        if len(calls) == 1:
            raise ProviderRejected
        if len(calls) == 3:
            raise ProviderUnavailable
        return backends.embed(backends.get_embedder(), texts, role="passage")

    return embed


class TestRaised:
    """What is neither the text's fault nor an outage leaves the drain, and no claim."""

    @pytest.mark.parametrize(
        ("fault", "error", "attempts", "at_once"),
        [
            ("ABORT", Aborted, 0, True),
            ("INTERRUPT", KeyboardInterrupt, 0, True),
            ("MISCONFIGURED", Misconfigured, 0, False),
        ],
    )
    @pytest.mark.usefixtures("faulty")
    def test_no_text_stays_claimed(self, fault, error, attempts, at_once):
        ids = remember("Fine.", f"secret-word {fault}")
        with pytest.raises(error):
            drain()
        rows = [row_of(record_id) for record_id in ids]
        assert {(row.claimed_until, row.attempts) for row in rows} == {(None, attempts)}
        assert not any("secret-word" in row.error for row in rows)
        due = {row.next_try_at <= timezone.now() for row in rows}
        assert due == {at_once}

    @pytest.mark.usefixtures("faulty")
    def test_misconfigured_says_why_in_the_row(self):
        record_id = remember_one("MISCONFIGURED")
        with pytest.raises(Misconfigured):
            drain()
        assert row_of(record_id).error == "No model file."

    def test_remember_that_was_cancelled_is_stored_and_waits(self):
        """B112."""
        memory = make_memory()
        with pytest.raises(Aborted):
            memory.remember("Ada drinks tea.", wait=True, cancelled=lambda: True)
        assert memory.pending().pending == 1
        assert drain().embedded == 1


class TestChangedMeanwhile:
    def test_the_vector_of_an_old_text_is_not_written(self):
        memory = make_memory()
        memory.remember(Entry("Ada lives in Lisbon.", key="home"))

        def move():
            memory.remember(Entry("Ada lives in Porto.", key="home"))

        done = drain(embed=embedding_while(move))
        assert (done.stale, done.embedded) == (1, 1)
        (hit,) = memory.recall("Porto", legs="vector").hits
        assert hit.cosine == pytest.approx(
            cosine("Porto", "Ada lives in Porto."), abs=0.01
        )
        assert counted() == {make_scope().id: 1}

    def test_an_old_text_that_is_claimed_for_the_new_one_is_not_embedded(
        self, monkeypatch
    ):
        """The claim reads the record as it was, the queue's row as it is now."""
        record_id = remember_one("the walrus swims")
        claim = claims.claim

        def late(*given):
            return [replace(x, text="the zebra sleeps") for x in claim(*given)]

        monkeypatch.setattr(claims, "claim", late)
        assert drain() == indexing.Drained(refused=1)
        row = row_of(record_id)
        assert (row.vector, row.claimed_until) == (None, None)
        assert "changed" in row.error
        monkeypatch.undo()
        make_due()
        assert drain() == indexing.Drained(embedded=1)
        assert make_memory().recall("the walrus swims", legs="vector")[0].cosine > 0.99

    def test_a_new_text_has_all_its_tries(self):
        memory = make_memory()
        memory.remember(Entry("Old.", key="home"))
        queue = claims.Queue("default", "acme", space())
        (claimed,) = claims.claim(queue, 1, None)
        memory.remember(Entry("New.", key="home"))
        claims.put_back(queue, [claims.Returned(claimed, "It failed.", blamed=True)])
        row = Embedding.objects.get()
        assert (row.attempts, row.error) == (0, "")

    def test_who_lost_the_claim_puts_nothing_back(self):
        remember("One.")
        queue = claims.Queue("default", "acme", space())
        (lost,) = claims.claim(queue, 1, None)
        make_due()
        (held,) = claims.claim(queue, 1, None)
        claims.put_back(queue, [claims.Returned(lost, "It failed.", blamed=True)])
        row = Embedding.objects.get()
        assert row.claimed_until == held.claimed_until
        assert row.error == ""

    @pytest.mark.parametrize("fails", [False, True])
    @pytest.mark.usefixtures("faulty")
    def test_a_record_that_is_gone_is_no_error(self, fails):
        """B488."""
        remember("VALUE" if fails else "Fine.")

        def remove():
            Embedding.objects.filter(tenant="acme").delete()
            Record.objects.filter(tenant="acme").delete()

        assert drain(embed=embedding_while(remove)).embedded == 0
        assert Embedding.objects.count() == 0

    def test_the_same_vector_is_not_counted_twice(self):
        remember("One.")
        queue = claims.Queue("default", "acme", space())
        (claimed,) = claims.claim(queue, 1, None)
        vector = [1.0] + [0.0] * 63
        assert claims.write(queue, [(claimed, vector)]) == 1
        assert claims.write(queue, [(claimed, vector)]) == 0
        assert counted() == {make_scope().id: 1}


def cosine(question, text):
    embedder = backends.get_embedder()
    (one,) = backends.embed(embedder, [question], role="query")
    (other,) = backends.embed(embedder, [text], role="passage")
    return sum(x * y for x, y in zip(one, other, strict=True))


class TestWidth:
    """C23: the width is checked before a vector is stored, and by the statement."""

    def test_the_statement_writes_no_vector_of_another_width(self):
        remember("One.")
        queue = claims.Queue("default", "acme", space())
        (claimed,) = claims.claim(queue, 1, None)
        assert claims.write(queue, [(claimed, [1.0] + [0.0] * 31)]) == 0
        assert Embedding.objects.get().vector is None
        assert counted() == {make_scope().id: 0}

    @pytest.mark.parametrize(
        ("answer", "reason"),
        [
            (lambda texts: [[1.0] + [0.0] * 31 for _ in texts], "32 dimensions"),
            (lambda _texts: [], "0 vectors for 1 texts"),
        ],
    )
    def test_a_drain_refuses_it_with_the_reason(self, answer, reason):
        record_id = remember_one("One.")
        assert drain(embed=answer).refused == 1
        assert reason in row_of(record_id).error


class TestTenants:
    """B500, C02."""

    def test_a_drain_never_touches_another_tenants_rows(self):
        mine = remember("Mine.")
        theirs = remember("Theirs.", scope=make_scope(tenant="beta"))
        before = Embedding.objects.filter(tenant="beta").values().get()
        with tenant_in_every_statement("acme"):
            assert drain(record_ids=[*mine, *theirs]).embedded == 1
        assert Embedding.objects.filter(tenant="beta").values().get() == before
        assert counted("beta") == {make_scope(tenant="beta").id: 0}

    def test_retry_is_the_tenants_own(self):
        for tenant in ("acme", "beta"):
            remember("Text.", scope=make_scope(tenant=tenant))
        Embedding.objects.update(failed_at=timezone.now())
        assert indexing.retry_failed(using="default", tenant="acme", space=space()) == 1
        assert pending("beta").failed == 1

    @pytest.mark.usefixtures("faulty")
    def test_an_unknown_tenant_has_nothing_to_do(self):
        assert drain("nobody") == indexing.Drained()
        assert FaultyEmbedder.asked == []
        assert ScopeRow.objects.count() == 0


@given(attempts=st.integers(-5, 10_000))
def test_the_pause_doubles_up_to_its_cap_with_half_of_it_chance(attempts):
    whole = min(10 * 2 ** (min(max(attempts, 1), 32) - 1), 3_600)
    assert whole / 2 <= indexing.back_off_seconds(attempts) <= whole
