"""An erasure leaves no export that may hold what it erased."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.core.files.storage import FileSystemStorage
from django.db import transaction
from django.utils import timezone

from prism_memory import lifecycle
from prism_memory.errors import Misconfigured
from prism_memory.governance import erasure
from prism_memory.governance.erasure import receipts
from prism_memory.governance.erasure import work as erasing_work
from prism_memory.models import ErasureReceipt, Run
from prism_memory.types import Entry, Kind, Lineage, Scope, SourceRef
from tests.factories import NOON, make_memory, remember_one
from tests.governance.erasing import ADA, CHAT, OPERATOR, erase
from tests.governance.stored import files, run_export
from tests.governance.stored import storages as stored_in

pytestmark = pytest.mark.django_db

TENANT = Scope("acme")
AGENT = Scope("acme", "ada", "support")
BOB = Scope("acme", "bob")
EVERYWHERE = (TENANT, ADA, AGENT, CHAT, BOB)


@pytest.fixture(autouse=True)
def folder(settings: Any, tmp_path: Path) -> Path:
    settings.STORAGES = stored_in(tmp_path)
    for scope in (CHAT, BOB):
        remember_one("Words.", scope=scope)
    return tmp_path


def names(folder: Path, *states: Any) -> set[str]:
    return {
        str(s.id) for s in states if any(str(s.id) in str(f) for f in files(folder))
    }


@pytest.mark.parametrize("level", [TENANT, ADA, AGENT, CHAT])
def test_exports_at_below_and_above_go_with_a_scope(folder: Path, level: Scope) -> None:
    states = {scope: run_export(make_memory(scope)) for scope in EVERYWHERE}
    running = make_memory(CHAT).start_export(include_unconsented=True)
    done = erase(level)
    stays = {BOB} - ({BOB} if level == TENANT else set())
    assert names(folder, *states.values()) == {str(states[s].id) for s in stays}
    assert done.exports == len(states) - len(stays) + 1
    assert ErasureReceipt.objects.get().counts["exports"] == done.exports
    assert Run.objects.get(id=running.id).state == "cancelled"


@pytest.mark.parametrize("what", ["record", "source"])
def test_exports_go_with_a_record_or_a_source(folder: Path, what: str) -> None:
    memory = make_memory(CHAT)
    entry = Entry("More.", kind=Kind.TURN, source=SourceRef("doc"))
    (record,) = memory.remember(entry).accepted
    states = {scope: run_export(make_memory(scope)) for scope in EVERYWHERE}
    given = {"record": record} if what == "record" else {"source": "doc"}
    assert memory.erase(**given).exports == 4
    assert names(folder, *states.values()) == {str(states[BOB].id)}


def test_exports_of_where_derived_records_were_go_too(folder: Path) -> None:
    root = remember_one("Root.", scope=ADA)
    beside = Scope("acme", "ada", "other", "chat-9")
    make_memory(beside).remember(Entry("a", lineage=Lineage((f"record:{root}",))))
    states = [run_export(make_memory(scope)) for scope in (CHAT, beside)]
    assert erase(ADA, record_id=root).exports == 1
    assert names(folder, *states) == {str(states[0].id)}


def test_a_scope_that_holds_derived_records_beside_loses_its_exports(
    folder: Path,
) -> None:
    root = remember_one("Root.", scope=ADA)
    beside = Scope("acme", "ada", "other", "chat-9")
    make_memory(beside).remember(Entry("a", lineage=Lineage((f"record:{root}",))))
    states = [run_export(make_memory(scope)) for scope in (CHAT, beside)]
    erase(ADA)
    assert names(folder, *states) == set()


def test_an_export_that_begins_while_places_go_is_caught(folder: Path) -> None:
    begun: list[Any] = []

    def export(state: Any) -> None:
        if state.rows["prism_memory_scope"] and not begun:
            other = CHAT.beside("chat-2")
            remember_one("Late words.", scope=other)
            begun.append(run_export(make_memory(other)))

    done = erase(ADA, progress=export)
    assert begun
    assert files(folder) == []
    assert done.exports == 1


def test_an_export_that_begins_in_the_last_transaction_is_caught(
    folder: Path, monkeypatch: Any
) -> None:
    conclude = receipts.conclude

    def late(**given: Any) -> Any:
        run_export(make_memory(TENANT))
        return conclude(**given)

    monkeypatch.setattr(erasing_work, "conclude", late)
    erase(ADA)
    assert files(folder) == []


def test_of_a_crash_that_left_an_export_of_a_gone_scope_the_next_one_cleans(
    folder: Path,
) -> None:
    """The scope's row is gone: nobody could name it."""
    run_export(make_memory(CHAT))
    lifecycle_rows = Run.objects.filter(kind="export")
    assert lifecycle_rows.count() == 1
    lifecycle_rows.update(target="scope:00000000-0000-7000-8000-000000000001")
    assert erase(BOB).exports == 1
    assert files(folder) == []


def test_a_storage_that_fails_fails_the_erasure_which_goes_on_later(
    folder: Path, monkeypatch: Any
) -> None:
    """Also of a record, whose row is gone by then."""
    record = remember_one("More.", scope=CHAT)
    run_export(make_memory(ADA))

    def broken(*given: Any) -> None:
        raise OSError("full")

    with monkeypatch.context() as patch:
        patch.setattr(FileSystemStorage, "delete", broken)
        with pytest.raises(Misconfigured):
            erase(CHAT, record_id=record)
    assert files(folder)
    stranger = erase(BOB, record_id=record)
    assert not stranger.found
    assert files(folder)
    done = erase(CHAT, record_id=record)
    assert (done.found, done.records, done.exports) == (True, 1, 1)
    assert files(folder) == []


def test_one_whose_process_died_before_the_files_went_removes_them(
    folder: Path, monkeypatch: Any
) -> None:
    record = remember_one("More.", scope=CHAT)
    run_export(make_memory(ADA))
    with monkeypatch.context() as patch:
        patch.setattr(erasing_work.Work, "_copies", lambda *_, **__: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            erase(CHAT, record_id=record)
    Run.objects.update(heartbeat_at=NOON)  # long ago
    run = Run.objects.get(kind="erase")
    erasure.resume_erasure(using="default", tenant="acme", run_id=run.id)
    assert ErasureReceipt.objects.get(run_id=run.id).counts["exports"] == 1
    assert files(folder) == []


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("rolled_back", [True, False])
def test_in_a_hosts_transaction_they_go_with_its_commit(
    folder: Path, rolled_back: bool
) -> None:
    record = remember_one("More.", scope=CHAT)
    state = run_export(make_memory(ADA))
    with transaction.atomic():
        assert erase(CHAT, record_id=record).exports == 1
        assert names(folder, state)
        transaction.set_rollback(rolled_back)
    assert bool(names(folder, state)) is rolled_back
    assert make_memory(ADA).export_state(state.id).deleted is not rolled_back


def test_what_a_hold_keeps_keeps_no_file(folder: Path) -> None:
    lifecycle.hold(using="default", scope=CHAT, actor=OPERATOR, at=timezone.now())
    run_export(make_memory(CHAT))
    assert erase(ADA).kept["records"] == 1
    assert files(folder) == []
