"""``prism_memory_import``."""

from __future__ import annotations

import errno
import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from example_project.embedded import CHECKOUT
from prism_memory import ingest, runs
from prism_memory.ingest import loading
from prism_memory.memory import Memory
from prism_memory.models import Embedding, Record, Run
from prism_memory.types import Actor, Entry, Origin, Scope, Trust
from tests.management.conftest import checksum, endings

pytestmark = pytest.mark.django_db

LOCOMO = [
    {
        "sample_id": name,
        "conversation": {
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                {"dia_id": "D1:1", "speaker": "Ada", "text": f"I live in {city}."},
                {"dia_id": "D1:2", "speaker": "Ben", "text": "Since when?"},
            ],
            "session_2_date_time": "9:01 am on 1 June, 2023",
            "session_2": [{"dia_id": "D2:1", "speaker": "Ada", "text": "Since May."}],
        },
    }
    for name, city in (("conv-1", "Porto"), ("conv-2", "Oslo"))
]


@pytest.fixture
def locomo(tmp_path):
    path = tmp_path / "locomo.json"
    path.write_text(json.dumps(LOCOMO))
    return path


def texts(tenant="acme"):
    rows = Record.objects.filter(tenant=tenant).order_by("sequence")
    return list(rows.values_list("text", flat=True))


def test_conversations_become_owners_sessions_sources_and_turns_records(run, locomo):
    result = run("prism_memory_import", locomo, "--format=locomo", "--tenant=acme")
    assert (result.code, result.out) == (
        0,
        "6 entries of 2 conversations: 6 new or changed.\n",
    )
    items = Memory(Scope("acme", "conv-1")).list()
    assert [(i.key, i.source, i.ordinal, i.writer) for i in items] == [
        ("D1:1", "session_1", 0, "Ada"),
        ("D1:2", "session_1", 1, "Ben"),
        ("D2:1", "session_2", 0, "Ada"),
    ]
    assert items[0].text == "I live in Porto."
    assert items[0].scope == Scope("acme", "conv-1")
    assert items[0].trust is Trust.USER
    assert items[2].happened_at.isoformat() == "2023-06-01T09:01:00+00:00"


def test_an_imported_turn_is_found_by_its_owner_only(run, locomo):
    """B2, C02."""
    run("prism_memory_import", locomo, "--format=locomo", "--tenant=acme")
    mine = Memory(Scope("acme", "conv-1")).recall("Who lives in Porto?", legs="text")
    assert mine[0].text == "I live in Porto."
    theirs = Memory(Scope("acme", "conv-2")).recall("Porto", legs="text")
    assert {hit.scope.owner for hit in theirs} <= {"conv-2"}
    assert not [hit for hit in theirs if "Porto" in hit.text]


def test_a_second_import_changes_nothing_and_says_so(run, locomo):
    words = ("prism_memory_import", locomo, "--format=locomo", "--tenant=acme")
    run(*words)
    before = checksum("acme")
    result = run(*words)
    assert result.out == "6 entries of 2 conversations: no change.\n"
    assert checksum("acme") == before
    assert Run.objects.filter(tenant="acme", state="done").count() == 2


def test_an_import_leaves_other_tenants_alone(run, locomo, jsonl):
    """C11, of imports."""
    run("prism_memory_import", locomo, "--format=locomo", "--tenant=beta")
    before = checksum("beta")
    run("prism_memory_import", locomo, "--format=locomo", "--tenant=acme")
    path = jsonl({"owner": "conv-1", "key": "D1:1", "text": "Other words."})
    run("prism_memory_import", path, "--format=jsonl", "--tenant=acme")
    assert checksum("beta") == before


def test_json_says_what_was_done(run, locomo):
    words = ("prism_memory_import", locomo, "--format=locomo", "--tenant=acme")
    assert run(*words, "--json").json == {
        "tenant": "acme",
        "conversations": 2,
        "entries": 6,
        "changed": 6,
        "resumed_at": 0,
    }


def test_conversations_can_be_chosen_and_owners_named(run, locomo):
    words = ("prism_memory_import", locomo, "--format=locomo", "--tenant=acme")
    run(*words, "--conversation=conv-2", "--owner-prefix=trial-")
    owners = set(Record.objects.values_list("scope__owner", flat=True))
    assert owners == {"trial-conv-2"}
    run(*words, "--limit=1")
    owners = set(Record.objects.values_list("scope__owner", flat=True))
    assert owners == {"trial-conv-2", "conv-1"}


def test_a_conversation_that_the_file_lacks_is_an_error(run, locomo):
    words = ("prism_memory_import", locomo, "--format=locomo", "--tenant=acme")
    result = run(*words, "--conversation=conv-9")
    assert (result.code, texts()) == (1, [])
    assert "no conversation conv-9" in result.message


def test_json_lines_go_to_the_scope_that_each_names(run, jsonl):
    path = jsonl(
        {"text": "Of ada."},
        {"text": "Of her agent.", "agent": "support"},
        {"text": "Of a chat.", "agent": "support", "thread": "chat-1"},
        {"text": "Of ben.", "owner": "ben", "key": "k1", "metadata": {"n": 1}},
    )
    result = run("prism_memory_import", path, "--format=jsonl", "--tenant=acme")
    assert result.code == 0
    stored = {record.text: record for record in Record.objects.all()}
    assert stored["Of ada."].scope_id == Scope("acme", "ada").id
    assert stored["Of her agent."].scope_id == Scope("acme", "ada", "support").id
    deep = Scope("acme", "ada", "support", "chat-1")
    assert stored["Of a chat."].scope_id == deep.id
    assert (stored["Of ben."].key, stored["Of ben."].metadata) == ("k1", {"n": 1})


def test_of_two_versions_in_a_file_the_later_one_wins(run, jsonl):
    path = jsonl({"key": "k", "text": "Old."}, {"key": "k", "text": "New."})
    result = run("prism_memory_import", path, "--format=jsonl", "--tenant=acme")
    assert (result.code, texts()) == (0, ["New."])


def test_a_bad_line_stores_nothing_of_its_batch(run, jsonl, settings):
    settings.PRISM_MEMORY = {**settings.PRISM_MEMORY, "BATCH_ENTRIES": 2}
    lines = [{"text": f"Line {n}."} for n in range(1, 6)]
    path = jsonl(*lines[:3], {"text": "Line 4.", "trust": "verified"}, lines[4])
    result = run("prism_memory_import", path, "--format=jsonl", "--tenant=acme")
    assert result.code == 1
    assert result.message.startswith("line 4: trust must be one of")
    assert result.message.endswith("(field: trust)")
    assert texts() == ["Line 1.", "Line 2."]
    failed = Run.objects.get(tenant="acme")
    assert (failed.state, failed.error) == ("failed", "validation at line 4")
    assert failed.counts == {"entries": 2, "changed": 2}


@pytest.mark.parametrize("batch", [1_000, 1])
def test_what_memory_refuses_is_told_with_its_line_and_field(
    run, jsonl, settings, batch
):
    limits = {"TEXT_CHARACTERS": 20, "BATCH_ENTRIES": batch}
    settings.PRISM_MEMORY = {**settings.PRISM_MEMORY, **limits}
    path = jsonl({"text": "Short."}, {"text": "x" * 21}, {"text": "Also short."})
    result = run("prism_memory_import", path, "--format=jsonl", "--tenant=acme")
    assert result.code == 1
    assert result.message.startswith("line 2: text is over 20 characters")
    assert result.message.endswith("(field: text)")
    assert texts() == ([] if batch > 1 else ["Short."])


def test_two_lines_that_collide_only_once_redacted_are_told_as_a_range(
    run, jsonl, settings
):
    settings.PRISM_MEMORY = {**settings.PRISM_MEMORY, "SECRETS": ("s3cret", "t0ken")}
    path = jsonl({"text": "It is s3cret."}, {"text": "It is t0ken.", "writer": "Ben"})
    result = run("prism_memory_import", path, "--format=jsonl", "--tenant=acme")
    assert result.code == 1
    assert result.message.startswith("line 1 to line 2: Two entries of the batch")
    assert texts() == []


def test_a_revoked_turn_is_not_brought_back_by_importing_again(run, locomo):
    """C12, of imports."""
    words = ("prism_memory_import", locomo, "--format=locomo", "--tenant=acme")
    run(*words)
    memory = Memory(Scope("acme", "conv-2"))
    revoked = next(item for item in memory.list() if item.key == "D1:2")
    memory.set_consent(revoked.id, visible=False)
    before = checksum("acme")
    result = run(*words)
    assert result.code == 1
    assert "conversation conv-2 (line 1), session_1[1]" in result.message
    assert checksum("acme") == before
    assert revoked.id not in {item.id for item in memory.list()}


def test_embed_makes_the_vectors_in_this_process(run, locomo):
    words = ("prism_memory_import", locomo, "--format=locomo", "--tenant=acme")
    result = run(*words, "--embed")
    assert result.code == 0
    assert Embedding.objects.filter(tenant="acme", vector=None).count() == 0
    assert Embedding.objects.filter(tenant="acme").count() == 6


def test_without_embed_everything_waits_for_a_worker(run, locomo):
    run("prism_memory_import", locomo, "--format=locomo", "--tenant=acme")
    assert Memory(Scope("acme", "conv-1")).pending().pending == 3


def test_progress_is_shown_in_lines_where_no_bar_can_be_drawn(run, locomo):
    words = ("prism_memory_import", locomo, "--format=locomo", "--tenant=acme")
    result = run(*words)
    assert "Importing 100%  6 entries" in result.err
    assert "\r" not in result.err
    assert run(*words, "--verbosity=0").err == ""


def test_wrong_usage_ends_with_2():
    wrong = [[], ["--format=csv"], ["--format=jsonl"], ["--limit=0"], ["--limit=x"]]
    out, err = endings(*(["prism_memory_import", "x", *words] for words in wrong))
    assert out == "2\n" * len(wrong)
    assert "Traceback" not in err


def test_a_missing_file_ends_with_2(run, tmp_path):
    path = tmp_path / "missing"
    result = run("prism_memory_import", path, "--format=jsonl", "--tenant=acme")
    assert (result.code, "no such file" in result.message) == (2, True)


@pytest.mark.parametrize("tenant", [" ", "t" * 257])
def test_a_tenant_that_cannot_be_is_refused(run, jsonl, tenant):
    path = jsonl({"text": "One."})
    result = run("prism_memory_import", path, "--format=jsonl", f"--tenant={tenant}")
    assert (result.code, "tenant" in result.message) == (1, True)


def test_an_interrupted_import_goes_on_where_it_was(run, jsonl, settings, monkeypatch):
    settings.PRISM_MEMORY = {**settings.PRISM_MEMORY, "BATCH_ENTRIES": 2}
    path = jsonl(*({"text": f"Line {n}."} for n in range(7)))
    words = ("prism_memory_import", path, "--format=jsonl", "--tenant=acme")
    with monkeypatch.context() as patch:
        remember, calls = Memory.remember, iter(range(99))

        def interrupted(self, entries, **options):
            if next(calls) == 2:
                raise KeyboardInterrupt
            return remember(self, entries, **options)

        patch.setattr(Memory, "remember", interrupted)
        stopped = run(*words)
    assert stopped.code == 130
    assert len(texts()) == 4
    assert Run.objects.get(tenant="acme").state == "cancelled"
    result = run(*words)
    assert result.code == 0
    assert "Went on after entry 4" in result.out
    assert len(texts()) == 7
    assert Run.objects.get(tenant="acme").state == "done"


def test_another_selection_of_the_file_is_another_import(run, jsonl, settings):
    settings.PRISM_MEMORY = {**settings.PRISM_MEMORY, "BATCH_ENTRIES": 1}
    path = jsonl({"text": "Of ada."}, {"text": "Of ben.", "owner": "ben"}, "broken")
    words = ("prism_memory_import", path, "--format=jsonl", "--tenant=acme")
    assert run(*words).code == 1
    result = run(*words, "--conversation=ben", "--json")
    assert result.code == 1
    targets = Run.objects.filter(tenant="acme").values_list("target", flat=True)
    assert len(set(targets)) == 2


def load(target, items, write, rows=1):
    return loading.load(
        using="default",
        tenant="acme",
        target=target,
        actor=Actor("command:test"),
        items=items,
        write=write,
        rows=rows,
    )


def incoming(count):
    scope = Scope("acme", "ada")
    origin = Origin(Trust.USER, "Ada")
    for n in range(count):
        yield ingest.Incoming(scope, Entry(f"Entry {n}.", origin=origin), f"line {n}")


def remember(scope, entries):
    return len(Memory(scope).remember(entries).changed)


def test_of_two_processes_on_one_import_the_later_goes_on():
    """A second one takes the work up; the first stops and writes no more."""
    outcome = []

    def overtaken():
        for number, item in enumerate(incoming(5)):
            if number == 3:
                outcome.append(load("same", incoming(5), remember))
            yield item

    with pytest.raises(runs.TakenOver):
        load("same", overtaken(), remember)
    assert (outcome[0].entries, outcome[0].resumed_at) == (5, 2)
    assert len(texts()) == 5
    run = Run.objects.get(tenant="acme")
    assert (run.state, run.counts) == ("done", {"entries": 5, "changed": 5})


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("sent", "code", "state"),
    [(signal.SIGKILL, -signal.SIGKILL, "running"), (signal.SIGINT, 130, "cancelled")],
)
def test_an_import_killed_in_the_middle_goes_on(
    child_environment, jsonl, sent, code, state
):
    """Really killed: what is stored and how far it is agree, and nothing is lost."""
    path = jsonl(*({"text": f"Line {n} of a long file."} for n in range(12_000)))
    words = ["prism_memory_import", str(path), "--format=jsonl", "--tenant=acme"]
    command = [sys.executable, "manage.py", *words]
    with subprocess.Popen(
        command,
        cwd=CHECKOUT,
        env=child_environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        while process.poll() is None and not Record.objects.exists():
            time.sleep(0.01)
        process.send_signal(sent)
    assert process.returncode == code
    killed = Run.objects.get(tenant="acme")
    stored = Record.objects.filter(tenant="acme").count()
    assert killed.state == state
    assert 0 < stored < 12_000
    assert killed.cursor["entries"] == killed.counts["changed"] == stored
    call_command(*words, "--verbosity=0")
    assert Record.objects.filter(tenant="acme").count() == 12_000
    run = Run.objects.get(tenant="acme")
    assert (run.id, run.state) == (killed.id, "done")
    assert run.counts == {"entries": 12_000, "changed": 12_000}


@pytest.mark.parametrize(
    "wanted", [["--limit=4"], [f"--conversation=conv-{n}" for n in range(4)]]
)
def test_the_bar_does_not_jump_where_little_of_the_file_is_wanted(
    tmp_path, run, settings, wanted
):
    """The reading ends early: the file alone would leave most to the last step."""
    settings.PRISM_MEMORY = {**settings.PRISM_MEMORY, "BATCH_ENTRIES": 3}
    long = [
        {**LOCOMO[0], "sample_id": f"conv-{n}", "note": "x" * 60_000} for n in range(40)
    ]
    path = tmp_path / "locomo.json"
    path.write_text(json.dumps(long))
    words = ("prism_memory_import", path, "--format=locomo", "--tenant=acme")
    err = run(*words, *wanted).err
    shown = [int(part) for part in re.findall(r"Importing +(\d+)%", err)]
    assert shown[-2:] == [75, 100]
    assert shown == sorted(shown)


def test_a_file_that_cannot_be_read_twice_is_told_so(tmp_path, run):
    words = ("--format=jsonl", "--tenant=acme")
    os.mkfifo(tmp_path / "pipe")
    for name, said in (("nope", "no such file"), ("pipe", "not a regular file")):
        result = run("prism_memory_import", tmp_path / name, *words)
        assert (result.code, said in result.message) == (2, True)


def test_a_file_that_is_kept_from_us_is_told_so(jsonl, run, monkeypatch):
    def refuse(*args, **kwargs):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    path = jsonl({"text": "One."})
    monkeypatch.setattr(type(path), "open", refuse)
    result = run("prism_memory_import", path, "--format=jsonl", "--tenant=acme")
    assert (result.code, "(Permission denied)" in result.message) == (2, True)


def test_help_shows_examples_and_exit_codes(capsys):
    with pytest.raises(SystemExit) as ended:
        call_command("prism_memory_import", "--help")
    assert ended.value.code == 0
    shown = capsys.readouterr().out
    assert "examples:\n  manage.py prism_memory_import --format locomo" in shown
    assert "exit codes:\n  0    all is stored" in shown


def test_call_command_sees_errors_as_command_errors(tmp_path):
    with pytest.raises(CommandError):
        call_command(
            "prism_memory_import", str(tmp_path), "--format=jsonl", "--tenant=acme"
        )
