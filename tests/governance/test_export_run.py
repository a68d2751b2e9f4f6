"""Exports of whole scopes: a run, parts in a storage, a manifest."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import logging
import uuid
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from prism_memory import runs
from prism_memory.errors import Conflict, Invalid, Misconfigured, NotVisible
from prism_memory.governance import (
    export,
    export_files,
    export_run,
    exports,
)
from prism_memory.governance.export_removal import delete_exports, remove_strays
from prism_memory.memory import Memory
from prism_memory.models import AuditEvent, Record, Run
from prism_memory.models import Scope as ScopeRow
from prism_memory.types import Actor, Scope, SourceRef, TombstoneReason
from tests.factories import (
    NOON,
    make_memory,
    make_record,
    make_scope,
    make_tombstone,
    remember,
    remember_one,
)
from tests.governance.stored import (
    BROKEN,
    files,
    lines,
    manifest,
    run_export,
    storages,
)

pytestmark = pytest.mark.django_db

ADAS = Scope("acme", "ada")
PLACES = (
    ADAS,
    make_scope(thread=""),
    make_scope(),
    make_scope(thread="chat-2"),
    make_scope(agent="", thread="solo"),
)
STRANGERS = (
    Scope("acme"),
    Scope("acme", "ben"),
    make_scope(owner="ben"),
    make_scope(tenant="globex"),
    Scope("globex", "ada"),
)


@pytest.fixture
def folder(tmp_path: Path, settings: Any) -> Path:
    settings.STORAGES = storages(tmp_path)
    return tmp_path


@pytest.fixture
def memory() -> Memory:
    return make_memory(ADAS, actor=Actor("user:7"))


def remember_everywhere() -> None:
    for scope in (*PLACES, *STRANGERS):
        remember(f"In {scope}.", f"Also in {scope}.", scope=scope)


def texts(folder: Path) -> set[str]:
    return {line["text"] for line in lines(folder)}


def test_all_at_and_below_a_scope_is_exported_and_nothing_else(
    folder: Path, memory: Memory
) -> None:
    """B191, case_C02."""
    remember_everywhere()
    state = run_export(memory)
    assert texts(folder) == {
        f"{word} {scope}." for scope in PLACES for word in ("In", "Also in")
    }
    assert len(lines(folder)) == state.records == 10
    assert (state.state, state.left_out, state.error) == ("done", {}, "")


@pytest.mark.parametrize("scope", [*PLACES, *STRANGERS], ids=str)
def test_a_scope_holds_what_it_opens(folder: Path, scope: Scope) -> None:
    remember_everywhere()
    run_export(make_memory(scope))
    held = {place for place in (*PLACES, *STRANGERS) if scope.opens(place)}
    assert {Scope(**line["scope"]) for line in lines(folder)} == held


def test_the_manifest_tells_what_the_parts_hold(
    folder: Path, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export_run, "PART_RECORDS", 2)
    monkeypatch.setattr(export_run, "PAGE_ROWS", 2)
    for scope in PLACES:
        remember("One.", "Two.", scope=scope)
        remember_one("Three.", scope=scope, kind="turn", source=SourceRef("s"))
    before = timezone.now()
    state = run_export(memory)
    told = manifest(folder)
    assert told["format"] == "prism_memory/1"
    assert told["export"] == str(state.id)
    assert Scope(**told["scope"]) == ADAS
    assert (told["records"], told["kinds"]) == (15, {"entry": 10, "turn": 5})
    assert {Scope(**one["scope"]) for one in told["scopes"]} == {*PLACES}
    assert {json.dumps(one["kinds"]) for one in told["scopes"]} == {
        '{"entry": 2, "turn": 1}'
    }
    assert before <= dt.datetime.fromisoformat(told["at"]) <= timezone.now()
    assert told["include_unconsented"] is False
    where = folder / "prism_memory" / "exports" / str(state.id)
    for part, known in zip(told["parts"], state.parts, strict=True):
        data = (where / part["file"]).read_bytes()
        assert hashlib.sha256(data).hexdigest() == part["sha256"] == known.sha256
        assert len(data) == part["bytes"] == known.bytes
        assert data.count(b"\n") == part["records"] == known.records
    assert len(told["parts"]) > 5


def test_an_export_can_be_compressed(folder: Path, memory: Memory) -> None:
    remember_everywhere()
    state = run_export(memory, compress=True)
    assert [path.suffix for path in files(folder) if "part" in path.name] == [".gz"]
    assert len(texts(folder)) == state.records == 10
    (part,) = state.parts
    data = (folder / part.name).read_bytes()
    assert (len(data), hashlib.sha256(data).hexdigest()) == (part.bytes, part.sha256)


def make_withheld() -> None:
    make_record("No consent.", scope=ADAS, visible=None)
    make_record("Revoked.", scope=ADAS, visible=False, revoked_at=NOON)
    make_record("Quarantined.", scope=ADAS, gate="quarantined")
    forgotten = make_record("Forgotten.", scope=ADAS)
    make_tombstone(forgotten)
    held = make_record("Held back.", scope=ADAS)
    make_tombstone(held, reason=TombstoneReason.LEGAL_HOLD.value, hold=True)
    make_record("A chunk.", scope=ADAS, kind="chunk", fields={"source": SourceRef("d")})
    remember_one("Shown.", scope=ADAS)


LEFT_OUT = {"revoked": 1, "withheld": 2, "held": 1, "other_kind": 1}


def test_what_is_left_out_is_counted_by_its_reason(
    folder: Path, memory: Memory
) -> None:
    """B152, B191, B192, B151."""
    make_withheld()
    state = run_export(memory)
    assert texts(folder) == {"Shown."}
    assert (
        state.left_out == manifest(folder)["left_out"] == LEFT_OUT | {"no_consent": 1}
    )


def test_the_legal_copy_holds_what_no_consent_was_given_for(
    folder: Path, memory: Memory
) -> None:
    """And still nothing that was revoked or is withheld; the audit says which it is."""
    make_withheld()
    state = run_export(memory, include_unconsented=True, reason="Request 12")
    assert texts(folder) == {"Shown.", "No consent."}
    assert state.left_out == LEFT_OUT
    assert manifest(folder)["include_unconsented"] is True
    consents = {line["text"]: line["consent"] for line in lines(folder)}
    assert consents["No consent."] is None
    start = AuditEvent.objects.get(tenant="acme", detail__phase="start")
    assert start.detail["include_unconsented"] is True
    assert start.reason == "Request 12"


def test_an_export_of_nothing_that_may_be_shown_is_empty(
    folder: Path, memory: Memory
) -> None:
    make_record("No consent.", scope=ADAS, visible=None)
    state = run_export(memory)
    assert (state.state, state.records, state.parts) == ("done", 0, ())
    (only,) = files(folder)
    assert only.name.startswith("manifest-")


@pytest.mark.parametrize(
    "scope", [Scope("acme", "nobody"), Scope("nobody"), make_scope(thread="no")]
)
def test_a_scope_where_nothing_is_has_no_export_and_gets_no_row(
    folder: Path, scope: Scope
) -> None:
    """case_C04."""
    remember_everywhere()
    with pytest.raises(NotVisible):
        make_memory(scope).start_export()
    assert not ScopeRow.objects.at(scope).exists()
    assert not Run.objects.filter(tenant=scope.tenant).exists()


def test_an_owner_with_chats_only_can_be_exported(folder: Path, memory: Memory) -> None:
    remember_one("In a chat.")
    run_export(memory)
    assert texts(folder) == {"In a chat."}


# Nothing is said where it must not be.


def test_paths_run_audit_and_log_hold_no_names_and_no_words(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "prism_memory")
    scope = Scope("acme", "zephyrine", "butler", "boudoir")
    remember_one("Marmalade.", scope=scope, key="orangerie")
    owner = make_memory(Scope("acme", "zephyrine"))
    state = run_export(owner)
    name, file = owner.open_export(state.id, 1)
    file.close()
    owner.delete_export(state.id)
    told = [str(row) for row in Run.objects.filter(tenant="acme").values()]
    told += [str(row) for row in AuditEvent.objects.filter(tenant="acme").values()]
    told += [name, caplog.text, *(part.name for part in state.parts)]
    for word in ("zephyrine", "butler", "boudoir", "Marmalade", "orangerie"):
        assert not [text for text in told if word in text]
    assert all(str(state.id) in part.name for part in state.parts)


def test_secrets_are_in_no_file(folder: Path, memory: Memory, settings: Any) -> None:
    """B191."""
    remember_one("The code is 4711.", scope=ADAS, key="k4711", metadata={"a": "4711"})
    secret_scope = Scope("acme", "ada", thread="t4711")
    remember_one("Words.", scope=secret_scope)
    settings.PRISM_MEMORY = {**settings.PRISM_MEMORY, "SECRETS": ("4711",)}
    run_export(memory)
    assert len(lines(folder)) == 2
    assert b"4711" not in b"".join(path.read_bytes() for path in files(folder))


def test_start_end_reading_and_deletion_are_audited(
    folder: Path, memory: Memory
) -> None:
    remember("One.", "Two.", scope=ADAS)
    state = run_export(memory)
    memory.open_export(state.id)[1].close()
    memory.open_export(state.id, 1)[1].close()
    memory.delete_export(state.id, reason="Sent.")
    events = AuditEvent.objects.filter(tenant="acme").order_by("at", "id")
    assert {e.action for e in events} == {"memory.export"}
    assert {e.actor for e in events} == {"user:7"}
    assert {e.target for e in events} == {f"scope:{ADAS.id}"}
    assert {e.detail["run"] for e in events} == {str(state.id)}
    assert [(e.detail["phase"], e.reason) for e in events] == [
        ("start", ""),
        ("end", ""),
        ("read", ""),
        ("read", ""),
        ("delete", "Sent."),
    ]
    assert events[1].detail["records"] == 2


# Bounded.


def test_no_more_than_a_page_is_read_at_a_time(
    folder: Path, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    remember(*(f"Text {n}." for n in range(250)), scope=ADAS)
    asked, real = [], export.read

    def read(**given: Any) -> list[Record]:
        found = real(**given)
        asked.append((given["rows"], len(found)))
        return found

    monkeypatch.setattr(export_run, "read", read)
    run_export(memory)
    assert asked == [(100, 100), (100, 100), (100, 50)]
    assert export_run.PART_BYTES <= 32 * 2**20


def test_a_part_is_cut_by_its_bytes_too(
    folder: Path, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export_run, "PAGE_ROWS", 2)
    monkeypatch.setattr(export_run, "PART_BYTES", 3_000)
    remember(*(f"{n} {'x' * 1_000}" for n in range(7)), scope=ADAS)
    state = run_export(memory)
    assert [part.records for part in state.parts] == [2, 2, 2, 1]


# Stopped in the middle.


def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(export_run, "PART_RECORDS", 2)
    monkeypatch.setattr(export_run, "PAGE_ROWS", 2)


def keys(folder: Path) -> list[str]:
    return sorted(line["key"] for line in lines(folder))


def go_on(state: Any) -> bool:
    return exports.carry_on(using="default", tenant="acme", run_id=state.id)


class Killed(BaseException):
    """Nothing catches it, as nothing catches a SIGKILL."""


@pytest.mark.parametrize(
    ("step", "after"),
    [*((step, False) for step in range(1, 13)), (1, True), (2, True), (12, True)],
)
def test_a_crash_at_any_note_of_the_run_costs_no_record_and_doubles_none(
    folder: Path,
    memory: Memory,
    monkeypatch: pytest.MonkeyPatch,
    step: int,
    after: bool,
) -> None:
    """B194, of runs: killed before or after each note that the run takes."""
    small(monkeypatch)
    for scope in PLACES[:2]:
        remember(*(f"{n}" for n in range(5)), scope=scope, metadata={"k": 1})
    known = sorted(Record.objects.values_list("key", flat=True))
    state = memory.start_export()
    real, noted = runs.advance, []

    def advance(*args: Any, **given: Any) -> None:
        noted.append(1)
        if len(noted) == step and not after:
            raise Killed
        real(*args, **given)
        if len(noted) == step:
            raise Killed

    monkeypatch.setattr(runs, "advance", advance)
    monkeypatch.setattr(runs, "finish", _nothing)
    with pytest.raises(Killed):
        go_on(state)
    monkeypatch.undo()
    small(monkeypatch)
    assert go_on(state)
    assert keys(folder) == known
    noted_files = [part.name for part in memory.export_state(state.id).parts]
    stored = [str(path.relative_to(folder)) for path in files(folder)]
    (manifest_file,) = set(stored) - set(noted_files)
    assert Path(manifest_file).name.startswith("manifest-")
    assert {*noted_files} < {*stored}


def test_a_part_that_a_killed_process_left_is_removed_by_the_next(
    folder: Path, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the file and its note, with nobody left to clean up."""
    small(monkeypatch)
    remember(*(f"{n}" for n in range(5)), scope=ADAS)
    state = memory.start_export()
    monkeypatch.setattr(export_run.Exporting, "_keep_part", _die)
    with pytest.raises(Killed):
        go_on(state)
    monkeypatch.undo()
    small(monkeypatch)
    left = files(folder)
    assert len(left) == 1
    assert go_on(state)
    assert left[0] not in files(folder)
    assert len({*keys(folder)}) == len(keys(folder)) == 5


def _nothing(*args: Any, **given: Any) -> None:
    """A killed process notes no failure."""


def _die(*args: Any) -> None:
    raise Killed


def test_a_worker_makes_room_and_comes_again(
    folder: Path, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    small(monkeypatch)
    remember(*(f"{n}" for n in range(5)), scope=ADAS)
    state = memory.start_export()
    turns = 0
    while not exports.carry_on(
        using="default", tenant="acme", run_id=state.id, max_seconds=0
    ):
        turns += 1
        assert memory.export_state(state.id).state == "running"
    assert turns == 2
    assert len(keys(folder)) == 5


def test_of_two_workers_the_earlier_stops_and_takes_its_part_with_it(
    folder: Path, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    small(monkeypatch)
    remember(*(f"{n}" for n in range(5)), scope=ADAS)
    state = memory.start_export()
    real = export_files.Making.saved

    def overtaken(making: Any, name: str) -> Any:
        monkeypatch.setattr(export_files.Making, "saved", real)
        assert go_on(state)
        return real(making, name)

    monkeypatch.setattr(export_files.Making, "saved", overtaken)
    with pytest.raises(runs.TakenOver):
        go_on(state)
    assert memory.export_state(state.id).state == "done"
    assert len({*keys(folder)}) == len(keys(folder)) == 5


def test_a_worker_that_was_overtaken_at_the_end_leaves_the_others_manifest(
    folder: Path, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both write one; the one that was noted stays."""
    remember_one("Words.", scope=ADAS)
    state = memory.start_export()
    real: Any = export_run.written  # type: ignore[attr-defined]

    def overtaken(name: str, content: Any) -> str:
        monkeypatch.setattr(export_run, "written", real)
        assert go_on(state)
        return str(real(name, content))

    monkeypatch.setattr(export_run, "written", overtaken)
    with pytest.raises(runs.TakenOver):
        go_on(state)
    name, file = memory.open_export(state.id)
    with file:
        assert json.loads(file.read())["records"] == 1
    assert name == "manifest.json"
    assert len(files(folder)) == 2


def test_a_cancelled_export_stops_and_leaves_no_file(
    folder: Path, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    small(monkeypatch)
    remember(*(f"{n}" for n in range(5)), scope=ADAS)
    state = memory.start_export()
    real = export_files.Making.saved
    turns: list[int] = []

    def cancelled(making: Any, name: str) -> Any:
        turns.append(1)
        if len(turns) == 2:
            memory.delete_export(state.id)
        return real(making, name)

    monkeypatch.setattr(export_files.Making, "saved", cancelled)
    with pytest.raises(runs.TakenOver):
        go_on(state)
    after = memory.export_state(state.id)
    assert (after.state, after.deleted, after.parts) == ("cancelled", True, ())
    assert files(folder) == []
    with pytest.raises(NotVisible):
        go_on(state)


def test_records_that_come_while_it_runs_do_no_harm(
    folder: Path, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """B194, of runs: also a scope that is erased in the middle."""
    small(monkeypatch)
    for scope in PLACES:
        remember(*(f"{n} {scope}" for n in range(4)), scope=scope)
    known = {*Record.objects.values_list("key", flat=True)}
    state = memory.start_export()
    number = 0
    while not exports.carry_on(
        using="default", tenant="acme", run_id=state.id, max_seconds=0
    ):
        number += 1
        for scope in PLACES:
            remember_one(f"New {number} {scope}.", scope=scope, sequence=-number)
    found = keys(folder)
    assert len({*found}) == len(found)
    assert {*found} >= known


# A storage that fails.


@pytest.fixture
def faulty(folder: Path, settings: Any) -> Any:
    settings.STORAGES = storages(folder, "tests.governance.stored.Faulty")
    BROKEN.clear()
    BROKEN.update(at=2, error=PermissionError("/secret/path of Ada"))
    yield BROKEN
    BROKEN.clear()


def test_a_storage_that_fails_fails_the_run_which_goes_on_later(
    folder: Path, memory: Memory, faulty: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    small(monkeypatch)
    remember(*(f"{n}" for n in range(5)), scope=ADAS)
    state = memory.start_export()
    with pytest.raises(Misconfigured):
        go_on(state)
    after = memory.export_state(state.id)
    assert after.state == "failed"
    assert after.error == (
        "misconfigured: The storage of exports failed (PermissionError)."
    )
    again = memory.start_export()
    assert again.id == state.id
    assert go_on(state)
    assert len({*keys(folder)}) == len(keys(folder)) == 5


def test_a_fault_that_nobody_foresaw_is_noted_without_its_words(
    folder: Path, memory: Memory, faulty: Any
) -> None:
    faulty.update(at=1, error=RuntimeError("Ada's words"))
    remember_one("Words.", scope=ADAS)
    state = memory.start_export()
    with pytest.raises(RuntimeError):
        go_on(state)
    after = memory.export_state(state.id)
    assert (after.state, after.error) == ("failed", "RuntimeError")
    assert go_on(state)
    assert texts(folder) == {"Words."}


def test_a_storage_that_gives_back_other_bytes_fails_the_run(
    folder: Path, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    remember_one("Words.", scope=ADAS)
    state = memory.start_export()
    real = export_files.Making.saved

    def saved(making: Any, name: str) -> Any:
        part = real(making, name)
        path = folder / part.name
        path.write_bytes(path.read_bytes()[:-2])
        return part

    monkeypatch.setattr(export_files.Making, "saved", saved)
    with pytest.raises(Misconfigured, match="other bytes"):
        go_on(state)
    assert memory.export_state(state.id).state == "failed"


def test_a_storage_that_is_not_there_is_told(memory: Memory, settings: Any) -> None:
    settings.PRISM_MEMORY = {**settings.PRISM_MEMORY, "EXPORT_STORAGE": "nowhere"}
    remember_one("Words.", scope=ADAS)
    state = memory.start_export()
    with pytest.raises(Misconfigured) as error:
        go_on(state)
    assert error.value.field == "EXPORT_STORAGE"


# Which run it is.


def test_an_export_that_runs_is_not_begun_twice(folder: Path, memory: Memory) -> None:
    remember_one("Words.", scope=ADAS)
    first, second = memory.start_export(), memory.start_export()
    assert first.id == second.id
    legal = memory.start_export(include_unconsented=True)
    assert legal.id != first.id
    assert go_on(first)
    assert memory.start_export().id != first.id


def test_a_deleted_export_is_begun_anew(folder: Path, memory: Memory) -> None:
    remember_one("Words.", scope=ADAS)
    first = memory.start_export()
    memory.delete_export(first.id)
    second = run_export(memory)
    assert second.id != first.id
    assert texts(folder) == {"Words."}


@pytest.mark.parametrize("stranger", [*PLACES[1:], *STRANGERS], ids=str)
def test_an_export_is_known_to_its_own_scope_only(
    folder: Path, memory: Memory, stranger: Scope
) -> None:
    """B25: another's export looks as one that never was."""
    remember_everywhere()
    state = run_export(memory)
    other = make_memory(stranger)
    for call in (
        lambda: other.export_state(state.id),
        lambda: other.open_export(state.id),
        lambda: other.open_export(state.id, 1),
        lambda: other.delete_export(state.id),
        lambda: memory.export_state(uuid.uuid4()),
    ):
        with pytest.raises(NotVisible) as error:
            call()
        assert str(error.value) == NotVisible.__doc__
    assert len(files(folder)) == 2


def test_another_run_is_no_export(folder: Path, memory: Memory) -> None:
    remember_one("Words.", scope=ADAS)
    run = runs.begin(
        using="default",
        tenant="acme",
        kind="import",
        target=f"scope:{ADAS.id}",
        actor=Actor(),
        at=NOON,
    )
    with pytest.raises(NotVisible):
        memory.export_state(run.id)
    with pytest.raises(Invalid):
        memory.export_state("no id")


@pytest.mark.parametrize("number", [0, -1, 2, 10**9])
def test_a_part_that_is_none_is_not_there(
    folder: Path, memory: Memory, number: int
) -> None:
    remember_one("Words.", scope=ADAS)
    state = run_export(memory)
    with pytest.raises(NotVisible):
        memory.open_export(state.id, number)


def test_files_are_there_from_the_end_until_they_are_deleted(
    folder: Path, memory: Memory
) -> None:
    remember_one("Words.", scope=ADAS)
    state = memory.start_export()
    with pytest.raises(NotVisible):
        memory.open_export(state.id)
    assert go_on(state)
    name, file = memory.open_export(state.id, 1)
    with file:
        assert name.startswith("part-00001-")
        assert b"Words." in file.read()
    memory.delete_export(state.id)
    assert files(folder) == []
    with pytest.raises(NotVisible):
        memory.open_export(state.id, 1)
    assert memory.export_state(state.id).deleted
    memory.delete_export(state.id)  # once more is no error


def test_two_that_begin_at_one_moment_are_one(folder: Path, memory: Memory) -> None:
    remember_one("Words.", scope=ADAS)
    memory.start_export()
    with pytest.raises(Conflict):
        runs.begin(
            using="default",
            tenant="acme",
            kind="export",
            target=f"scope:{ADAS.id}",
            actor=Actor(),
            at=NOON,
            anew=True,
        )


# For an erasure.


@pytest.mark.parametrize(
    ("erased", "gone"),
    [
        (ADAS, {"tenant", "owner", "thread"}),
        (make_scope(), {"tenant", "owner", "thread"}),
        (make_scope(thread="chat-2"), {"tenant", "owner"}),
        (Scope("acme", "ben"), {"tenant", "ben"}),
        (Scope("acme"), {"tenant", "owner", "thread", "ben"}),
        (Scope("globex", "ada"), {"globex"}),
    ],
    ids=lambda value: str(value) if isinstance(value, Scope) else "",
)
def test_an_erasure_removes_every_export_that_may_hold_what_it_erased(
    folder: Path, erased: Scope, gone: set[str]
) -> None:
    """And a stranger's stays."""
    remember_everywhere()
    exported = {
        "tenant": Scope("acme"),
        "owner": ADAS,
        "thread": make_scope(),
        "ben": Scope("acme", "ben"),
        "globex": Scope("globex", "ada"),
    }
    states = {name: run_export(make_memory(scope)) for name, scope in exported.items()}
    count = delete_exports(
        using="default", scope=erased, actor=Actor("user:7"), at=timezone.now()
    )
    deleted = {
        name
        for name, scope in exported.items()
        if make_memory(scope).export_state(states[name].id).deleted
    }
    assert deleted == gone
    assert count == len(gone)
    for name, state in states.items():
        there = [path for path in files(folder) if str(state.id) in str(path)]
        assert bool(there) is (name not in gone)


def test_what_lost_its_worker_is_found(folder: Path, memory: Memory) -> None:
    remember_one("Words.", scope=ADAS)
    state = memory.start_export()

    def found(at: dt.datetime) -> list[Any]:
        return [
            run.id
            for tenant in ("acme", "globex")
            for run in runs.left_alone(using="default", tenant=tenant, at=at)
        ]

    assert found(timezone.now()) == []
    assert found(timezone.now() + dt.timedelta(minutes=11)) == [state.id]
    assert go_on(state)
    assert found(timezone.now() + dt.timedelta(minutes=11)) == []


@pytest.mark.parametrize("deleted", [False, True])
def test_files_of_an_ended_export_that_no_run_names_are_removed(
    folder: Path, memory: Memory, deleted: bool
) -> None:
    remember_one("Words.", scope=ADAS)
    state = run_export(memory)
    if deleted:
        memory.delete_export(state.id)
    named = files(folder)
    stray = folder / "prism_memory" / "exports" / str(state.id) / "part-9.jsonl"
    stray.write_text("words")

    def sweep(at: dt.datetime) -> int:
        given: dict[str, Any] = {"using": "default", "tenants": ["globex", "acme"]}
        return remove_strays(**given, at=at)

    assert sweep(timezone.now()) == 0  # its process may still be at work
    assert sweep(timezone.now() + dt.timedelta(minutes=11)) == 1
    assert files(folder) == named
