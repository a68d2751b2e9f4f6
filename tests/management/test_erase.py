"""``prism_memory_erase``: erase, foresee, verify."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from prism_memory import lifecycle
from prism_memory.models import AuditEvent, Record
from prism_memory.types import Entry, Lineage, Scope
from tests.factories import make_memory, make_record, remember_one
from tests.governance.erasing import ADA, CHAT, OPERATOR, erase, furnish
from tests.governance.stored import run_export, storages
from tests.tables import counts, holding

pytestmark = pytest.mark.django_db

WORD = "xylophonequark"


def run(*words: str) -> dict[str, Any]:
    out = io.StringIO()
    call_command("prism_memory_erase", *words, stdout=out, stderr=io.StringIO())
    found: dict[str, Any] = json.loads(out.getvalue())
    return found


def failing(*words: str) -> tuple[dict[str, Any], CommandError]:
    out = io.StringIO()
    with pytest.raises(CommandError) as raised:
        call_command("prism_memory_erase", *words, stdout=out, stderr=io.StringIO())
    return json.loads(out.getvalue() or "{}"), raised.value


def test_an_owner_is_erased_and_the_receipt_printed() -> None:
    furnish(CHAT, WORD)
    done = run("--tenant", "acme", "--owner", "ada", "--yes", "--reason", "asked")
    assert (done["level"], done["found"]) == ("owner", True)
    assert done["counts"]["prism_memory_record"] == 3
    assert holding(WORD) == []
    event = AuditEvent.objects.get(action="memory.erase_start")
    assert event.reason == "asked"
    assert event.actor.startswith("command")


def test_without_a_terminal_it_wants_yes() -> None:
    remember_one(scope=CHAT)
    _, error = failing("--tenant", "acme", "--owner", "ada")
    assert error.returncode == 2
    assert Record.objects.count() == 1


@pytest.mark.parametrize(("typed", "left"), [("ada", 0), ("Ada", 1), ("", 1)])
def test_the_name_is_typed_to_go_on(monkeypatch, typed: str, left: int) -> None:
    remember_one(scope=CHAT)
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("builtins.input", lambda _: typed)
    words = ("--tenant", "acme", "--owner", "ada")
    if left:
        failing(*words)
    else:
        run(*words)
    assert Record.objects.count() == left


def test_a_dry_run_counts_and_changes_nothing() -> None:
    """What it foresees is what the erasure removes."""
    ids = furnish(CHAT, WORD)
    lifecycle.hold(
        using="default", scope=CHAT, actor=OPERATOR, at=timezone.now(), record_id=ids[2]
    )
    before = counts()
    seen = run("--tenant", "acme", "--owner", "ada", "--dry-run")
    assert counts() == before
    assert (seen["found"], seen["kept"]["records"]) == (True, 1)
    done = erase(ADA)
    of_records = ("record", "embedding", "lineageedge", "consentgrant", "accesskey")
    for name in (f"prism_memory_{one}" for one in of_records):
        assert seen["counts"].get(name, 0) == done.counts.get(name, 0), name


def test_what_derives_elsewhere_is_foreseen() -> None:
    owner = remember_one("root", scope=ADA)
    make_memory(CHAT).remember(Entry("a", lineage=Lineage((f"record:{owner}",))))
    seen = run(
        "--tenant", "acme", "--owner", "ada", "--record", str(owner), "--dry-run"
    )
    assert (seen["counts"]["prism_memory_record"], seen["derived"]) == (2, 1)


def test_verify_finds_nothing_after_an_erasure(tmp_path) -> None:
    furnish(CHAT, WORD)
    words = tmp_path / "words.txt"
    words.write_text(f"{WORD}\n\n{WORD} two\n")
    target = ("--tenant", "acme", "--owner", "ada")
    left, error = failing(*target, "--verify", "--text-file", str(words))
    assert error.returncode == 1
    places = {one["place"] for one in left["left"]}
    assert places >= {
        "prism_memory_record.text",
        "prism_memory_record.metadata",
        "prism_memory_record.search",
        "prism_memory_record.embed_text",
        "prism_memory_source.uri",
        "prism_memory_lineageedge.source_ref",
        "prism_memory_accesskey.label",
        "prism_memory_scope.owner",
        "prism_memory_embedding.scope_id",
    }
    assert WORD not in json.dumps(left) + str(error)
    run(*target, "--yes")
    clean = run(*target, "--verify", "--text-file", str(words))
    assert (clean["clean"], clean["left"]) == (True, [])
    assert any("backup" in line.lower() for line in clean["outside"])


@pytest.mark.parametrize(
    "word", ['say "quark"', "back\\slash", "100 %", "%s", "naïve ünïcode", "a_b"]
)
def test_verify_finds_odd_words_in_every_kind_of_column(tmp_path, word: str) -> None:
    record = make_record(f"so: {word}.", scope=CHAT, fields={"metadata": {"k": [word]}})
    Record.objects.filter(id=record.id).update(mac=word.encode())
    words = tmp_path / "words.txt"
    words.write_text(word)
    left, _ = failing(
        "--tenant", "acme", "--owner", "nobody", "--verify", "--text-file", str(words)
    )
    places = {one["place"] for one in left["left"]}
    columns = {"text", "metadata", "mac"}
    assert places >= {f"prism_memory_record.{name}" for name in columns}


def test_verify_looks_at_one_tenant_alone(tmp_path) -> None:
    furnish(replace(CHAT, tenant="globex"), WORD)
    remember_one("other", scope=CHAT)
    words = tmp_path / "words.txt"
    words.write_text(WORD)
    target = ("--tenant", "acme", "--owner", "nobody", "--verify")
    assert run(*target, "--text-file", str(words))["clean"]


@pytest.mark.parametrize("which", ["record", "source", "thread"])
def test_verify_of_each_level(which: str) -> None:
    ids = furnish(CHAT, WORD)
    chosen: dict[str, dict[str, Any]] = {
        "record": {"record_id": ids[2]},
        "source": {"source_key": f"{WORD}-stream"},
        "thread": {},
    }
    given = chosen[which]
    words = ["--tenant", "acme", "--owner", "ada", "--agent", "support"]
    words += ["--thread", "chat-1", "--verify"]
    words += (
        [] if which == "thread" else [f"--{which}", str(next(iter(given.values())))]
    )
    failing(*words)
    erase(CHAT, **given)
    assert run(*words)["clean"]


def test_an_unknown_tenant_is_refused() -> None:
    _, error = failing("--tenant", "nobody", "--yes")
    assert error.returncode == 1


@pytest.mark.parametrize("words", [["--verify", "--dry-run"], ["--text-file", "a.txt"]])
def test_odd_options_are_refused(words: list[str]) -> None:
    remember_one(scope=Scope("acme"))
    assert failing("--tenant", "acme", *words)[1].returncode == 2


class TestExports:
    """Files in the storage of exports are copies of the words."""

    @pytest.fixture(autouse=True)
    def folder(self, settings, tmp_path):
        settings.STORAGES = storages(tmp_path / "stored")
        return tmp_path / "stored"

    def left(self, *words: str) -> dict[str, int]:
        found, _ = failing("--tenant", "acme", *words, "--verify")
        return {
            f"{one['place']} {one['why']}": one["rows"]
            for one in found["left"]
            if one["place"] == "exports"
        }

    @pytest.mark.parametrize("compress", [False, True])
    def test_verify_finds_files_and_words_in_them(self, tmp_path, compress) -> None:
        remember_one(f'A "{WORD}" said.', scope=CHAT)
        words = tmp_path / "words.txt"
        words.write_text(f'A "{WORD}"')
        for scope in (ADA, CHAT):
            run_export(make_memory(scope), compress=compress)
        with_words = ("--owner", "ada", "--text-file", str(words))
        assert self.left(*with_words) == {"exports target": 4, "exports words": 2}
        stranger = ("--owner", "nobody", "--text-file", str(words))
        assert self.left(*stranger) == {"exports words": 2}
        run("--tenant", "acme", *with_words[:2], "--yes")
        assert run("--tenant", "acme", *with_words, "--verify")["clean"]

    def test_verify_finds_what_no_run_names(self, folder) -> None:
        """A file that a process which died left, also in the folder of an ended run."""
        remember_one(scope=CHAT)
        state = run_export(make_memory(ADA))
        run("--tenant", "acme", "--owner", "ada", "--yes")
        orphan = folder / "prism_memory" / "exports" / str(state.id) / "part-9.jsonl"
        orphan.write_text(WORD)
        assert self.left("--owner", "ada") == {"exports target": 1}

    def test_what_was_exported_after_the_erasure_is_not_left(self) -> None:
        remember_one(scope=CHAT)
        remember_one("stays", scope=Scope("acme", "bob"))
        run("--tenant", "acme", "--owner", "ada", "--yes")
        run_export(make_memory(Scope("acme")))
        assert run("--tenant", "acme", "--owner", "ada", "--verify")["clean"]

    def test_another_tenants_files_are_not_looked_at(self, tmp_path) -> None:
        remember_one(WORD, scope=replace(ADA, tenant="globex"))
        remember_one("other", scope=CHAT)
        run_export(make_memory(replace(ADA, tenant="globex")))
        words = tmp_path / "words.txt"
        words.write_text(WORD)
        target = ("--tenant", "acme", "--owner", "nobody", "--verify")
        assert run(*target, "--text-file", str(words))["clean"]


def test_progress_is_told_once_for_the_same_number() -> None:
    furnish(CHAT, WORD)
    err = io.StringIO()
    words = ("--tenant", "acme", "--owner", "ada", "--yes")
    call_command("prism_memory_erase", *words, stdout=io.StringIO(), stderr=err)
    assert err.getvalue() == "3 records erased\n"


def test_the_question_tells_all_that_goes(monkeypatch) -> None:
    furnish(CHAT, WORD)
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("builtins.input", lambda _: "ada")
    err = io.StringIO()
    words = ("--tenant", "acme", "--owner", "ada")
    call_command("prism_memory_erase", *words, stdout=io.StringIO(), stderr=err)
    told = err.getvalue().splitlines()[0]
    assert told == (
        "This erases 3 records, 3 vectors, 1 source, 2 scopes, 1 share, 1 key,"
        " 1 trace for good."
    )
