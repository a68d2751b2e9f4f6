"""``prism_memory_export``, and ``prism_memory_import`` of what it wrote."""

from __future__ import annotations

import datetime as dt
import gzip
import importlib
import json
import sys
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from prism_memory import lifecycle
from prism_memory.ingest import loading
from prism_memory.lifecycle.restore import LATE
from prism_memory.memory import Memory
from prism_memory.models import AuditEvent, Embedding, LineageEdge, Record, Run
from prism_memory.types import (
    Consent,
    ConsentScope,
    ConsentSource,
    Entry,
    Lineage,
    Origin,
    Scope,
    SourceRef,
    Trust,
)
from tests.factories import NOON, make_memory, make_record, make_scope, remember_one
from tests.governance.stored import files, lines, run_export, storages
from tests.governance.test_export import ODD
from tests.management.conftest import checksum

pytestmark = pytest.mark.django_db

ADAS = Scope("acme", "ada")
OTHER = Scope("globex", "ada")


@pytest.fixture
def folder(tmp_path: Path, settings: Any) -> Path:
    settings.STORAGES = storages(tmp_path / "stored")
    return tmp_path / "stored"


def remember_much() -> None:
    """Records of every sort at three levels, some derived from others."""
    owner, agent, chat = ADAS, make_scope(thread=""), make_scope()
    remember_one("Ada was born in London.", scope=owner, key="born", sequence=900)
    remember_one(
        "Ada prefers tea.",
        scope=agent,
        key="tea",
        kind="note",
        namespace="likes",
        partition="p",
        tier="semantic",
        importance=0.25,
        consent=Consent(ConsentSource.AGENT, ConsentScope.PROFILE, granted_at=NOON),
        origin=Origin(Trust.CONSOLIDATOR, "nightly"),
        lineage=Lineage(("born", "ext-message")),
    )
    for n, text in enumerate(ODD.values()):
        remember_one(
            text,
            scope=chat,
            kind="turn",
            key=f"t{n}",
            metadata={"title": text[:40], "n": [n, {"x": None}]},
            source=SourceRef("session-1", n, "chat://1"),
            happened_at=NOON,
            language="simple",
            valid_from=NOON.replace(year=2),
            expires_at=NOON.replace(year=9000),
        )
    remember_one(
        "Ada said so.",
        scope=chat,
        key="said",
        sequence=-5,  # before what it derives from
        lineage=Lineage(("t0", "t1", "born")),
    )
    Record.objects.update(created_at=NOON, changed_at=NOON, uses=3)


def portable(line: dict[str, Any], **scope: str) -> dict[str, Any]:
    """Return a line but for its id, which is another one elsewhere."""
    other = {**line, "scope": {**line["scope"], **scope}}
    del other["id"]
    return other


def sorted_lines(folder: Path, run_id: Any, **scope: str) -> list[dict[str, Any]]:
    where = folder / "prism_memory" / "exports" / str(run_id)
    found = [portable(line, **scope) for line in lines(where)]
    return sorted(found, key=lambda line: json.dumps(line["scope"]))


def manifest_of(folder: Path, run_id: Any) -> Path:
    (path,) = (folder / "prism_memory" / "exports" / str(run_id)).glob("manifest*")
    return path


def restore(run: Any, path: Path, *words: str, tenant: str = "globex") -> Any:
    return run(
        "prism_memory_import", path, "--format=export", f"--tenant={tenant}", *words
    )


@pytest.mark.parametrize("compress", [False, True])
@pytest.mark.parametrize("batch", [1_000, 3])
def test_what_was_exported_and_restored_elsewhere_exports_the_same(
    run: Any, folder: Path, settings: Any, compress: bool, batch: int
) -> None:
    """B191, case_C21, case_C22: line by line, but for ids."""
    settings.PRISM_MEMORY = {**settings.PRISM_MEMORY, "BATCH_ENTRIES": batch}
    remember_much()
    first = run_export(make_memory(ADAS), compress=compress)
    before = checksum("acme")
    result = restore(run, manifest_of(folder, first.id), "--trust-file")
    assert (result.code, result.message) == (0, "")
    assert "13 records: 13 were missing and are restored." in result.out
    second = run_export(make_memory(OTHER))
    assert sorted_lines(folder, second.id) == sorted_lines(
        folder, first.id, tenant="globex"
    )
    assert first.records == second.records == 13
    assert checksum("acme") == before  # C11


def test_what_is_lost_comes_back_to_where_it_was(run: Any, folder: Path) -> None:
    remember_much()
    first = run_export(make_memory(ADAS))
    kept = sorted_lines(folder, first.id)
    lose_all()
    assert not Record.objects.exists()
    path = manifest_of(folder, first.id)
    assert restore(run, path, "--trust-file", tenant="acme").code == 0
    second = run_export(make_memory(ADAS))
    assert sorted_lines(folder, second.id) == kept


def lose_all() -> None:
    """Lose all records, as a dropped table would."""
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("TRUNCATE prism_memory_record CASCADE")


def test_a_second_import_changes_nothing(run: Any, folder: Path) -> None:
    remember_much()
    path = manifest_of(folder, run_export(make_memory(ADAS)).id)
    restore(run, path, "--trust-file")
    before = checksum("globex")
    edges = set(LineageEdge.objects.filter(tenant="globex").values_list())
    result = restore(run, path, "--trust-file")
    assert "13 records: all of them are there." in result.out
    assert checksum("globex") == before
    assert set(LineageEdge.objects.filter(tenant="globex").values_list()) == edges
    assert restore(run, path, "--json").json["changed"] == 0  # nor without trust


def test_lineage_leads_to_the_restored_records(run: Any, folder: Path) -> None:
    remember_much()
    path = manifest_of(folder, run_export(make_memory(ADAS)).id)
    restore(run, path)
    chat = make_memory(make_scope(tenant="globex"))
    keys = {str(r.id): r.key for r in Record.objects.filter(tenant="globex")}
    edges = LineageEdge.objects.filter(tenant="globex").order_by("position")
    of = {
        key: [
            keys.get(e.source_ref[7:], e.source_ref.rpartition(":")[2])
            for e in edges
            if keys[str(e.record_id)] == key
        ]
        for key in ("tea", "said")
    }
    assert of == {"tea": ["born", "ext-message"], "said": ["t0", "t1", "born"]}
    born = Record.objects.get(tenant="globex", key="born")
    make_memory(OTHER).set_consent(born.id, visible=False)
    assert "said" not in {item.key for item in chat.list()}  # B141


def test_a_record_is_not_seen_before_what_blocks_it_is_known(
    run: Any, folder: Path, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """B141: its source comes later in the file, and is revoked where it goes."""
    settings.PRISM_MEMORY = {**settings.PRISM_MEMORY, "BATCH_ENTRIES": 1}
    source = remember_one("Source.", scope=ADAS, key="source", sequence=9)
    remember_one(
        "Derived.", scope=ADAS, key="derived", sequence=1, lineage=Lineage(("source",))
    )
    path = manifest_of(folder, run_export(make_memory(ADAS)).id)
    seen: list[set[str]] = []
    real = lifecycle.restore

    def watched(**given: Any) -> int:
        done = real(**given)
        seen.append({item.key for item in make_memory(OTHER).list()})
        return done

    monkeypatch.setattr(lifecycle, "restore", watched)
    assert restore(run, path).code == 0
    assert seen == [set(), {"source"}]
    assert {item.key for item in make_memory(OTHER).list()} == {"source", "derived"}
    assert not Record.objects.filter(gate_reason=LATE).exists()
    there = Record.objects.get(tenant="globex", key="source")
    assert there.id != source
    make_memory(OTHER).set_consent(there.id, visible=False)
    assert make_memory(OTHER).list().items == ()


def test_what_is_there_is_not_overwritten(run: Any, folder: Path) -> None:
    """case_C12: nor brought back from a revocation."""
    remember_much()
    path = manifest_of(folder, run_export(make_memory(ADAS)).id)
    newer = remember_one("Newer words.", scope=OTHER, key="born")
    chat = make_scope(tenant="globex")
    revoked = remember_one("Old turn.", scope=chat, key="t3", kind="turn")
    make_memory(chat).set_consent(revoked, visible=False)
    result = restore(run, path, "--trust-file")
    assert "13 records: 11 were missing" in result.out
    assert make_memory(OTHER).get(newer).text == "Newer words."
    row = Record.objects.get(tenant="globex", id=revoked)
    assert (row.text, row.visible) == ("Old turn.", False)


def test_what_is_written_while_it_is_restored_is_not_overwritten_either(
    run: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """case_C12: nothing stood there yet when the restore looked."""
    module = importlib.import_module("prism_memory.lifecycle.restore")
    remember_one(
        "Old words.", scope=ADAS, key="k", consent=Consent(scope=ConsentScope.PROFILE)
    )
    remember_one("Old turn.", scope=ADAS, key="t")
    path = manifest_of(folder, run_export(make_memory(ADAS)).id)
    other = make_memory(OTHER)
    real = module.remember
    found: list[Any] = []
    queued: list[Any] = []
    waiting = Embedding.objects.filter(tenant="globex", record__key="k")

    def late(**given: Any) -> Any:
        if not found:
            source = SourceRef("session")
            entry = Entry("Newer words.", key="k", source=source, importance=0.5)
            found.extend(other.remember(entry).accepted)
            queued.extend(waiting.values())
            other.set_consent(found[0], visible=False)
        return real(**given)

    monkeypatch.setattr(module, "remember", late)
    result = restore(run, path, "--trust-file")

    assert "2 records: 1 were missing" in result.out
    row = Record.objects.get(tenant="globex", key="k")
    assert (row.id, row.text, row.importance) == (found[0], "Newer words.", 0.5)
    assert (row.visible, row.version) == (False, 2)
    assert row.created_at > NOON
    assert list(waiting.values()) == queued
    assert len(queued) == 1
    assert Record.objects.get(tenant="globex", key="t").text == "Old turn."


def test_what_derives_from_a_shared_record_does_so_again(
    run: Any, folder: Path
) -> None:
    seat = remember_one("Ada sits by the window.")
    make_memory().share_with("chat-2", [seat])
    chat = make_scope(thread="chat-2")
    given = Consent(scope=ConsentScope.PROFILE)
    lineage = Lineage((f"record:{seat}",))
    remember_one("A seat.", scope=chat, key="d", consent=given, lineage=lineage)
    path = manifest_of(folder, run_export(make_memory(chat)).id)
    make_memory(chat).forget([item.id for item in make_memory(chat).list()])
    assert restore(run, path, "--trust-file", tenant="acme").code == 0
    assert [item.key for item in make_memory(chat).list()] == ["d"]
    make_memory().set_consent(seat, visible=False)
    assert make_memory(chat).list().items == ()


def test_a_file_does_not_vouch_for_itself(run: Any, folder: Path) -> None:
    """case_C27."""
    remember_one("I am the user.", scope=ADAS, key="k")
    path = manifest_of(folder, run_export(make_memory(ADAS)).id)
    restore(run, path)
    row = Record.objects.get(tenant="globex")
    assert row.trust == "document"
    assert row.writer.startswith("command")
    restore(run, path, "--trust-file", tenant="initech")
    row = Record.objects.get(tenant="initech")
    assert (row.trust, row.writer) == ("user", "ada")


def test_a_consent_is_restored_as_it_was_and_none_is_assumed(
    run: Any, folder: Path
) -> None:
    """B137."""
    make_record("No consent.", scope=ADAS, visible=None, fields={"key": "none"})
    consent = Consent(ConsentSource.SYSTEM, ConsentScope.USER, granted_at=NOON)
    remember_one("Consented.", scope=ADAS, key="given", consent=consent)
    state = run_export(make_memory(ADAS), include_unconsented=True)
    restore(run, manifest_of(folder, state.id))
    none = Record.objects.get(tenant="globex", key="none")
    assert (none.visible, none.consent_source, none.granted_at) == (None, "", None)
    given = Record.objects.get(tenant="globex", key="given")
    assert (given.consent_source, given.consent_scope, given.granted_at) == (
        "system",
        "user",
        NOON,
    )
    assert {i.key for i in make_memory(OTHER, require_consent=True).list()} == {"given"}


def test_an_export_of_one_owner_can_be_given_to_another(run: Any, folder: Path) -> None:
    remember_much()
    path = manifest_of(folder, run_export(make_memory(ADAS)).id)
    assert restore(run, path, "--owner=eva", tenant="acme").code == 0
    owners = Record.objects.values_list("scope__owner", flat=True)
    assert {*owners} == {"ada", "eva"}
    assert len(owners) == 26
    restore(run, path, "--owner-prefix=x-")
    assert {
        *Record.objects.filter(tenant="globex").values_list("scope__owner", flat=True)
    } == {"x-ada"}


def test_two_owners_do_not_become_one(run: Any, folder: Path) -> None:
    """case_C02."""
    for scope in (ADAS, Scope("acme", "ben")):
        remember_one(f"Of {scope}.", scope=scope)
    path = manifest_of(folder, run_export(make_memory(Scope("acme"))).id)
    result = restore(run, path, "--owner=eva")
    assert result.code == 1
    assert "Only an export of one owner" in result.message
    assert not Record.objects.filter(tenant="globex").exists()
    assert restore(run, path).code == 0
    owners = Record.objects.filter(tenant="globex").values_list(
        "scope__owner", flat=True
    )
    assert {*owners} == {"ada", "ben"}


def test_new_numbers_keep_the_order(run: Any, folder: Path) -> None:
    for text, sequence in (("c", 2**60), ("a", 5), ("b", 7)):
        remember_one(text, scope=ADAS, sequence=sequence)
    path = manifest_of(folder, run_export(make_memory(ADAS)).id)
    restore(run, path, "--renumber")
    remember_one("d", scope=OTHER)
    assert [item.text for item in make_memory(OTHER).list()] == ["a", "b", "c", "d"]


# Files that are not what they should be.


def test_a_part_that_was_changed_is_refused(run: Any, folder: Path) -> None:
    remember_much()
    state = run_export(make_memory(ADAS))
    path = folder / state.parts[0].name
    path.write_bytes(path.read_bytes().replace(b"London", b"Lisbon"))
    result = restore(run, manifest_of(folder, state.id))
    assert result.code == 1
    assert "not the bytes that the manifest lists" in result.message
    one = restore(run, path, f"--manifest={manifest_of(folder, state.id)}")
    assert one.code == 1
    assert not Record.objects.filter(tenant="globex").exists()
    assert restore(run, path).code == 0  # who asks for no check gets none


def test_a_part_that_is_gone_is_told(run: Any, folder: Path) -> None:
    remember_much()
    state = run_export(make_memory(ADAS))
    (folder / state.parts[0].name).unlink()
    result = restore(run, manifest_of(folder, state.id))
    assert result.code == 2
    assert "no such file, but the manifest lists it" in result.message


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", "x", '{"format": "other/1", "parts": []}', "[" * 100_000],
)
def test_a_manifest_that_is_none_is_told(run: Any, tmp_path: Path, text: str) -> None:
    path = tmp_path / "manifest.json"
    path.write_text(text)
    result = restore(run, path)
    assert result.code == 1
    assert "no manifest of an export" in result.message


def test_a_manifest_leads_to_no_other_folder(run: Any, tmp_path: Path) -> None:
    secret = tmp_path / "secret.jsonl"
    secret.write_text("{}")
    inner = tmp_path / "inner"
    inner.mkdir()
    manifest = {
        "format": "prism_memory/1",
        "parts": [{"file": "../secret.jsonl", "sha256": "0" * 64}],
    }
    (inner / "manifest.json").write_text(json.dumps(manifest))
    assert (
        "inner/secret.jsonl: no such file"
        in restore(run, inner / "manifest.json").message
    )


LINE: dict[str, Any] = {
    "format": "prism_memory/1",
    "scope": {"tenant": "acme", "owner": "ada", "agent": "", "thread": ""},
    "kind": "entry",
    "key": "k",
    "text": "Words.",
    "writer": "ada",
    "trust": "user",
}
SPAN = {"line_start": 1, "line_end": 1, "offset_start": 0, "offset_end": 6}
CHUNK = {
    "kind": "chunk",
    "key": f"{'a' * 64}:0",
    "source": {"key": "s", "ordinal": 0, "kind": "document", "chunker": "c"},
    "chunk": SPAN,
}
WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "format": ({"format": "prism_memory/2"}, "format"),
    "no text": ({"text": None}, "text"),
    "blank": ({"text": " "}, "text"),
    "NUL": ({"text": "a\0"}, "text"),
    "surrogate": ({"text": "\ud800"}, "text"),
    "kind": ({"kind": "rumour"}, "kind"),
    "chunk": ({"kind": "chunk", "source": {"key": "s", "ordinal": 0}}, "chunk"),
    "chunk's place": ({**CHUNK, "chunk": {"line_start": 1}}, "chunk.line_end"),
    "chunk's key": ({**CHUNK, "key": "k"}, "key"),
    "chunk's generation": ({**CHUNK, "key": f"{'a' * 64}:0:g7"}, "key"),
    "chunk's span": ({**CHUNK, "chunk": SPAN | {"line_end": -1}}, "chunk.line_end"),
    "fact": ({"kind": "fact"}, "fact"),
    "trust": ({"trust": "verified"}, "trust"),
    "scope": ({"scope": "ada"}, "scope"),
    "scope's field": ({"scope": {"owner": "ada", "team": "x"}}, "scope"),
    "owner": ({"scope": {"owner": 5}}, "scope.owner"),
    "agent alone": ({"scope": {"agent": "a"}}, "owner"),
    "naive time": ({"created_at": "2026-01-01T00:00:00"}, "created_at"),
    "a date": ({"happened_at": "2026-01-01"}, "happened_at"),
    "no time": ({"expires_at": 5}, "expires_at"),
    "year 1": ({"created_at": "0001-01-01T00:00:00Z"}, "created_at"),
    "a time to come": ({"created_at": "2999-01-01T00:00:00Z"}, "created_at"),
    "a change to come": ({"changed_at": "2999-01-01T00:00:00Z"}, "changed_at"),
    "year 9999": ({"changed_at": "9999-12-31T23:00:00Z"}, "changed_at"),
    "uses": ({"uses": 0}, "uses"),
    "sequence": ({"sequence": 2**63}, "sequence"),
    "consent": ({"consent": {"source": "nobody", "label": "user"}}, "consent.source"),
    "consent's time": (
        {"consent": {"source": "user", "label": "user", "granted_at": "x"}},
        "consent.granted_at",
    ),
    "lineage": ({"lineage": [{}]}, "lineage"),
    "lineage's id": ({"lineage": [{"record": "x"}]}, "lineage.record"),
    "lineage's level": (
        {"lineage": [{"key": "a", "level": "galaxy"}]},
        "lineage.level",
    ),
    "source": ({"source": {"key": "s", "ordinal": None}}, "source.ordinal"),
    "unknown": ({"mac": "00"}, ""),
    "language": ({"language": "klingon"}, "language"),
    "metadata": ({"metadata": [1]}, "metadata"),
}


@pytest.mark.parametrize(("change", "field"), WRONG.values(), ids=list(WRONG))
def test_a_line_that_is_no_record_stores_nothing_of_its_batch(
    run: Any, tmp_path: Path, change: dict[str, Any], field: str
) -> None:
    """case_C21, case_C22: the message names line and field, and no word of it."""
    path = tmp_path / "part.jsonl"
    good = {**LINE, "key": "good"}
    path.write_text("\n".join(map(json.dumps, (good, {**LINE, **change}))) + "\n")
    result = restore(run, path)
    assert result.code == 1
    assert result.message.startswith("part.jsonl line 2: ")
    assert not field or result.message.endswith(f"(field: {field})")
    assert "Words" not in result.message
    assert not Record.objects.exists()


@pytest.mark.parametrize(("minutes", "code"), [(4, 0), (6, 1)])
def test_the_clock_of_the_writer_may_be_a_little_ahead(
    run: Any, tmp_path: Path, minutes: int, code: int
) -> None:
    moment = timezone.now() + dt.timedelta(minutes=minutes)
    path = tmp_path / "part.jsonl"
    path.write_text(json.dumps({**LINE, "created_at": moment.isoformat()}) + "\n")
    assert restore(run, path).code == code
    assert Record.objects.count() == 1 - code


@pytest.mark.parametrize("raw", [b"\xff\n", b"{\n", b"[1]\n", b"\x1f\x8b\n"])
def test_bytes_that_are_no_lines_are_told(run: Any, tmp_path: Path, raw: bytes) -> None:
    path = tmp_path / "part.jsonl"
    path.write_bytes(raw)
    assert restore(run, path).message.startswith("part.jsonl line 1: ")


@pytest.mark.parametrize("cut", [5, 40, -4])
def test_a_broken_gzip_is_told(run: Any, tmp_path: Path, cut: int) -> None:
    path = tmp_path / "part.jsonl.gz"
    path.write_bytes(gzip.compress(json.dumps(LINE).encode())[:cut])
    assert "no whole gzip" in restore(run, path).message


def test_an_import_that_was_stopped_goes_on(
    run: Any, folder: Path, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.PRISM_MEMORY = {**settings.PRISM_MEMORY, "BATCH_ENTRIES": 2}
    remember_much()
    path = manifest_of(folder, run_export(make_memory(ADAS)).id)
    real, turns = lifecycle.restore, []

    def stopped(**given: Any) -> int:
        turns.append(1)
        if len(turns) > 3:
            raise KeyboardInterrupt
        return real(**given)

    monkeypatch.setattr(lifecycle, "restore", stopped)
    assert restore(run, path, "--trust-file").code == 130
    monkeypatch.undo()
    result = restore(run, path, "--trust-file", "--json").json
    assert 0 < result["resumed_at"] < 13
    assert Record.objects.filter(tenant="globex").count() == 13


def test_an_import_is_audited_by_hash_and_counts(run: Any, folder: Path) -> None:
    remember_much()
    state = run_export(make_memory(ADAS))
    restore(run, manifest_of(folder, state.id), "--trust-file")
    event = AuditEvent.objects.get(tenant="globex", action="memory.restore")
    assert event.detail == {"records": 13, "changed": 13, "trusted": True}
    assert event.target.startswith("import:")
    assert "manifest" not in event.target


@pytest.mark.parametrize(
    "words", [["--owner=x"], ["--trust-file"], ["--renumber"], ["--manifest=m"]]
)
def test_options_of_an_export_go_with_no_other_format(
    run: Any, jsonl: Any, words: list[str]
) -> None:
    path = jsonl({"text": "Hello."})
    result = run("prism_memory_import", path, "--format=jsonl", "--tenant=acme", *words)
    assert result.code == 2
    assert "goes with --format export" in result.message


@pytest.mark.parametrize("words", [["--limit=1"], ["--conversation=c"]])
def test_options_of_conversations_are_refused(
    run: Any, tmp_path: Path, words: list[str]
) -> None:
    path = tmp_path / "part.jsonl"
    path.write_text(json.dumps(LINE))
    assert restore(run, path, *words).code == 2


# The command that exports.


def test_the_command_exports_to_the_storage(run: Any, folder: Path) -> None:
    remember_much()
    make_record("No consent.", scope=ADAS, visible=None)
    result = run("prism_memory_export", "--tenant=acme", "--owner=ada")
    assert result.code == 0
    assert result.out.startswith("13 records in 1 part of export ")
    assert "Left out: 1 no_consent." in result.out
    assert len(lines(folder)) == 13
    told = run("prism_memory_export", "--tenant=acme", "--owner=ada", "--json").json
    assert (told["state"], told["records"]) == ("done", 13)
    assert told["left_out"] == {"no_consent": 1}


@pytest.mark.parametrize("words", [[], ["--gzip"]])
@pytest.mark.parametrize("name", ["ada.jsonl", "ada.jsonl.gz"])
def test_the_command_writes_a_file_and_keeps_nothing(
    run: Any, folder: Path, tmp_path: Path, name: str, words: list[str]
) -> None:
    remember_much()
    path = tmp_path / name
    given = ["--tenant=acme", "--owner=ada", f"--output={path}", *words]
    result = run("prism_memory_export", *given)
    assert (result.code, result.message) == (0, "")
    data = path.read_bytes()
    text = gzip.decompress(data) if name.endswith(".gz") else data
    assert text.count(b"\n") == 13
    assert files(folder) == []
    again = run("prism_memory_export", *given)
    assert again.code == 2
    assert "cannot be written" in again.message
    assert path.read_bytes() == data
    assert restore(run, path).code == 0


def test_the_command_writes_to_stdout(
    run: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remember_much()
    out = TextIOWrapper(BytesIO())
    monkeypatch.setattr(sys, "stdout", out)
    result = run("prism_memory_export", "--tenant=acme", "--owner=ada", "--output=-")
    assert result.code == 0
    assert "13 records." in result.err
    raw = out.buffer.getvalue()
    assert [json.loads(line)["format"] for line in raw.splitlines()] == (
        ["prism_memory/1"] * 13
    )


def test_the_command_removes_an_export(run: Any, folder: Path) -> None:
    remember_much()
    state = run_export(make_memory(ADAS))
    words = ["prism_memory_export", f"--delete={state.id}"]
    assert run(*words, "--tenant=globex").code == 1
    assert len(files(folder)) == 2
    assert run(*words, "--tenant=acme", "--reason=Sent.").code == 0
    assert files(folder) == []
    deleted = AuditEvent.objects.get(tenant="acme", detail__phase="delete")
    assert deleted.reason == "Sent."


def test_the_command_refuses_a_scope_where_nothing_is(run: Any, folder: Path) -> None:
    """case_C04: an unknown owner is none, and never the whole tenant."""
    remember_much()
    result = run("prism_memory_export", "--tenant=acme", "--owner=nobody")
    assert result.code == 1
    assert files(folder) == []
    both = ["--tenant=acme", "--owner=ada", "--output=-", "--json"]
    assert run("prism_memory_export", *both).code == 2


def test_the_legal_copy_is_said_in_the_audit(run: Any, folder: Path) -> None:
    make_record("No consent.", scope=ADAS, visible=None)
    words = ["--include-unconsented", "--reason=Request 12"]
    result = run("prism_memory_export", "--tenant=acme", "--owner=ada", *words)
    assert result.out.startswith("1 record in 1 part ")
    start = AuditEvent.objects.get(tenant="acme", detail__phase="start")
    assert (start.reason, start.detail["include_unconsented"]) == ("Request 12", True)


def test_restoring_more_than_once_at_different_times_keeps_the_first(
    run: Any, folder: Path
) -> None:
    remember_one("First.", scope=ADAS, key="k")
    first = manifest_of(folder, run_export(make_memory(ADAS)).id)
    Memory(ADAS, origin=Origin(Trust.USER, "ada")).remember(Entry("Second.", key="k"))
    second = manifest_of(folder, run_export(make_memory(ADAS)).id)
    restore(run, first)
    restore(run, second)
    assert [item.text for item in make_memory(OTHER).list()] == ["First."]
    assert Run.objects.filter(tenant="globex", kind=loading.KIND).count() == 2
    assert Record.objects.get(tenant="globex").created_at < timezone.now()
