"""What a commit sends, and when; the schedule of beat."""

from __future__ import annotations

import logging
import textwrap

import pytest
from celery import current_app
from django.db import transaction

import prism_memory
from prism_memory import tasks
from prism_memory.errors import EmbedderMismatch, Misconfigured
from prism_memory.models import Embedding, Record, Tenant
from prism_memory.models import Scope as ScopeRow
from prism_memory.tasks import draining, sweeping
from prism_memory.tasks.draining import wake_up
from prism_memory.types import Scope
from tests.factories import make_memory, make_scope, remember
from tests.indexing.conftest import counted, pending
from tests.tasks.conftest import PATIENT_SECONDS, messages, run_script

pytestmark = pytest.mark.django_db(transaction=True)

ACME = {"tenant": "acme", "using": "default", "alias": "default"}


@pytest.fixture
def eager(closed_port):
    """Celery runs tasks at once; there is no broker."""
    current_app.conf.task_always_eager = True
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CELERY_BROKER_URL", f"redis://127.0.0.1:{closed_port}/0")
        yield
    current_app.conf.task_always_eager = False


class TestSent:
    def test_a_commit_sends_one_message_to_the_queue_of_the_setting(self, queue):
        make_memory().remember(["One.", "Two."])
        assert messages(queue) == 1

    def test_before_the_commit_nothing_is_sent(self, queue):
        with transaction.atomic():
            make_memory().remember("One.")
            assert messages(queue) == 0
        assert messages(queue) == 1

    def test_after_a_rollback_nothing_is_sent(self, queue):
        with transaction.atomic():
            make_memory().remember("One.")
            transaction.set_rollback(True)
        assert messages(queue) == 0

    def test_who_waits_wakes_nobody(self, queue):
        make_memory().remember("One.", wait=True)
        assert messages(queue) == 0

    def test_what_changes_nothing_and_waits_for_nothing_wakes_nobody(self, queue):
        make_memory().remember("One.", wait=True)
        make_memory().remember("One.")
        assert messages(queue) == 0

    def test_without_wake_nothing_is_sent(self, queue, settings):
        settings.PRISM_MEMORY = {**settings.PRISM_MEMORY, "WAKE": False}
        make_memory().remember("One.")
        assert messages(queue) == 0
        assert pending().pending == 1

    def test_wakes_for_one_tenant_that_are_not_sent_yet_are_one(self, queue):
        with tasks.sender._changed:  # the sender waits for this
            for _ in range(50):
                for tenant in ("acme", "beta"):
                    tasks.sender.post(wake_up(tenant, "default", "default"))
        assert messages(queue) == 2


class TestSweep:
    def test_it_starts_a_drain_for_each_tenant_with_something_due(self, queue):
        for tenant in ("acme", "beta", "gamma"):
            remember("Text.", scope=Scope(tenant, "ada"), wait=tenant == "beta")
        before = messages(queue)
        tasks.sweep.apply(throw=True)
        assert messages(queue) == before + 2

    def test_it_sees_the_spaces_of_every_embedder(self, queue, settings):
        embedders = settings.PRISM_MEMORY["EMBEDDERS"]
        settings.PRISM_MEMORY = {
            **settings.PRISM_MEMORY,
            "WAKE": False,
            "EMBEDDERS": {**embedders, "other": embedders["default"]},
        }
        make_memory(embedder="other").remember("Text.")
        tasks.sweep.apply(throw=True)
        assert messages(queue) == 1

    def test_with_nothing_to_do_it_sends_nothing(self, queue):
        tasks.sweep.apply(throw=True)
        remember("Text.", wait=True)
        tasks.sweep.apply(throw=True)
        assert messages(queue) == 0

    def test_its_schedule_merges_into_the_hosts_own(self, settings):
        settings.PRISM_MEMORY = {**settings.PRISM_MEMORY, "SWEEP_SECONDS": 30}
        schedule = tasks.beat_schedule()
        entry = schedule["prism-memory-sweep"]
        assert (entry["task"], entry["schedule"]) == (tasks.sweep.name, 30.0)
        assert entry["options"] == {"expires": 30.0}
        assert prism_memory.beat_schedule().keys() == schedule.keys()
        works = [one["kwargs"]["work"] for one in schedule.values() if "kwargs" in one]
        assert sorted(works) == sorted(sweeping.SWEEPS)
        settings.PRISM_MEMORY = {**settings.PRISM_MEMORY, "QUEUE": "memory"}
        for entry in tasks.beat_schedule().values():
            assert entry["options"]["queue"] == "memory"
        current_app.loader.import_default_modules()
        current_app.finalize()
        assert set(tasks.beat_schedule()) <= set(current_app.conf.beat_schedule)


class TestTask:
    """B500: the task names its tenant, and every statement checks it again."""

    def test_it_embeds_what_waits_of_its_tenant_only(self, settings):
        settings.PRISM_MEMORY = {**settings.PRISM_MEMORY, "WAKE": False}
        other = make_scope(tenant="beta")
        remember("Mine.")
        remember("Theirs.", scope=other)
        tasks.drain.apply(kwargs=ACME, throw=True)
        assert counted() == {make_scope().id: 1}
        assert counted("beta") == {other.id: 0}

    def test_for_an_unknown_tenant_it_does_nothing(self):
        tasks.drain.apply(kwargs={**ACME, "tenant": "nobody"}, throw=True)
        assert Tenant.objects.count() == 0

    def test_for_an_erased_tenant_it_does_nothing(self, settings):
        settings.PRISM_MEMORY = {**settings.PRISM_MEMORY, "WAKE": False}
        remember("Erased.")
        for model in (Embedding, Record, ScopeRow):
            model.objects.filter(tenant="acme").delete()
        tasks.drain.apply(kwargs=ACME, throw=True)
        assert [m.objects.count() for m in (Embedding, Record, ScopeRow)] == [0, 0, 0]

    def test_it_comes_again_for_what_its_time_did_not_reach(
        self, queue, settings, monkeypatch
    ):
        settings.PRISM_MEMORY = {**settings.PRISM_MEMORY, "WAKE": False}
        remember("One.")
        monkeypatch.setattr(draining, "slice_seconds", lambda: 0.0)
        tasks.drain.apply(kwargs=ACME, throw=True)
        assert messages(queue) == 1

    def test_an_outage_is_logged_and_left_to_the_sweep(self, queue, settings, caplog):
        faulty = {"default": {"BACKEND": "tests.embedders.FaultyEmbedder"}}
        settings.PRISM_MEMORY = {
            **settings.PRISM_MEMORY,
            "WAKE": False,
            "EMBEDDERS": faulty,
        }
        remember("DOWN secret-word")
        with caplog.at_level(logging.WARNING, "prism_memory"):
            tasks.drain.apply(kwargs=ACME, throw=True)
        assert "Indexing stopped early: It is down." in caplog.text
        assert "secret-word" not in caplog.text
        assert messages(queue) == 0

    def test_an_alias_that_is_gone_fails_loudly(self):
        with pytest.raises(Misconfigured, match="has no 'gone'"):
            tasks.drain.apply(kwargs={**ACME, "alias": "gone"}, throw=True)


@pytest.mark.usefixtures("eager")
class TestEager:
    """B90, B501."""

    def test_remember_embeds_after_its_commit_without_any_broker(self):
        memory = make_memory()
        with transaction.atomic():
            remembered = memory.remember(["Ada drinks tea.", "Bob plays chess."])
            assert pending().pending == 2
        assert remembered.done.now().indexed == set(remembered.accepted)
        (hit, _) = memory.recall("tea", legs="vector").hits
        assert hit.text == "Ada drinks tea."

    def test_the_sweep_works_too(self, settings):
        settings.PRISM_MEMORY = {**settings.PRISM_MEMORY, "WAKE": False}
        make_memory().remember("One.")
        tasks.sweep.apply(throw=True)
        assert pending().pending == 0

    def test_an_embedder_that_fails_does_not_fail_the_remember(self, settings, caplog):
        faulty = {"default": {"BACKEND": "tests.embedders.FaultyEmbedder"}}
        settings.PRISM_MEMORY = {**settings.PRISM_MEMORY, "EMBEDDERS": faulty}
        remembered = make_memory().remember(["MISCONFIGURED", "Fine."])
        assert remembered.done.now().pending == set(remembered.accepted)
        assert "No model file." in caplog.text


class TestProcesses:
    def test_a_script_that_remembers_and_ends_still_wakes_the_worker(
        self, environment, queue
    ):
        ended = run_script(script("remember('Note.')"), environment)
        assert (ended.returncode, ended.stderr) == (0, "")
        assert messages(queue) == 1

    def test_a_script_ends_although_the_broker_hangs(self, environment, silent_port):
        url = f"redis://127.0.0.1:{silent_port}/0"
        hanging = environment | {"CELERY_BROKER_URL": url}
        ended = run_script(script("remember('Note.')", patient=False), hanging)
        assert ended.returncode == 0
        assert pending().pending == 1

    def test_a_process_forked_after_the_first_wake_up_sends_its_own(
        self, environment, queue
    ):
        ended = run_script(
            script(
                """
                import os, warnings
                remember("Before.")
                assert tasks.sender.flush(60)
                warnings.simplefilter("ignore", DeprecationWarning)  # threads and fork
                child = os.fork()
                if child == 0:
                    tasks.sender.post(wake_up("acme", "default", "default"))
                    os._exit(0 if tasks.sender.flush(60) else 1)
                assert os.waitpid(child, 0)[1] == 0
                remember("After.")
                """
            ),
            environment,
        )
        assert (ended.returncode, ended.stderr) == (0, "")
        assert messages(queue) == 3

    def test_with_eager_celery_a_script_embeds_without_a_broker(
        self, environment, closed_port, calls
    ):
        url = f"redis://127.0.0.1:{closed_port}/0"
        eager = environment | {"CELERY_BROKER_URL": url, "PRISM_TEST_EAGER": "1"}
        ended = run_script(script("remember('Note.')"), eager)
        assert (ended.returncode, ended.stderr) == (0, "")
        assert calls.texts() == ["Note."]
        assert pending().pending == 0


def script(lines, patient=True):
    """Return a script; a patient one waits at its end for a busy machine's broker."""
    begin = """
        import django
        django.setup()
        from prism_memory import tasks
        from prism_memory.tasks import sending
        from prism_memory.tasks.draining import wake_up
        from tests.factories import remember
    """
    wait = f"""
        sending.SEND_SECONDS = {PATIENT_SECONDS}
        sending.Sender.flush.__defaults__ = ({PATIENT_SECONDS},)
    """
    parts = [begin, wait, lines] if patient else [begin, lines]
    return "".join(map(textwrap.dedent, parts))


def test_a_mismatch_is_told_by_the_task(settings):
    """case_C23."""
    remember("One.", wait=True)
    backend = "prism_memory.backends.hashing.HashEmbedder"
    narrow = {"default": {"BACKEND": backend, "OPTIONS": {"dimensions": 32}}}
    settings.PRISM_MEMORY = {**settings.PRISM_MEMORY, "EMBEDDERS": narrow}
    with pytest.raises(EmbedderMismatch, match="never mixed"):
        tasks.drain.apply(kwargs=ACME, throw=True)
