"""``prism_memory_ingest``."""

from __future__ import annotations

import io
import sys

import pytest

from prism_memory.memory import Memory
from prism_memory.models import AuditEvent, Record, Source
from prism_memory.types import Origin, Scope, Trust
from tests.ingest.reading.files import docx, pdf, styled

pytestmark = pytest.mark.django_db

ADA = Scope("acme", owner="ada")
WHERE = (
    *("--tenant=acme", "--owner=ada", "--trust=document"),
    *("--writer=docs", "--key-prefix=docs/"),
)


@pytest.fixture
def folder(tmp_path):
    root = tmp_path / "docs"
    (root / "api").mkdir(parents=True)
    (root / "a.md").write_text("# Tea\n\nTea is green.\n\n# Milk\n\nMilk is white.\n")
    (root / "api" / "b.txt").write_text("Coffee is black.\n")
    return root


def sources(**given):
    rows = Source.objects.filter(tenant="acme", **given).order_by("key")
    return list(rows.values_list("key", flat=True))


def texts():
    rows = Record.objects.filter(tenant="acme", kind="chunk", retired_at=None)
    return sorted(text.split("\n")[0] for text in rows.values_list("text", flat=True))


def test_files_become_documents_and_a_second_run_says_that_nothing_changed(run, folder):
    """B276, B277: with the trust, writer and names that the caller gave."""
    first = run("prism_memory_ingest", folder, *WHERE, "--uri-prefix=https://e.org/")
    assert (first.code, first.out) == (
        0,
        "2 files new or changed, 0 unchanged; 3 chunks: 3 added.\n",
    )
    assert sources() == ["docs/a.md", "docs/api/b.txt"]
    row = Source.objects.get(key="docs/api/b.txt")
    assert (row.uri, row.trust, row.writer, row.kind) == (
        *("https://e.org/api/b.txt", "document", "docs", "document"),
    )
    assert (row.metadata["file"], row.chunker[:4]) == ("api/b.txt", "text")
    ids = set(Record.objects.values_list("id", flat=True))
    again = run("prism_memory_ingest", folder, *WHERE, "--uri-prefix=https://e.org/")
    assert again.out.startswith("0 files new or changed, 2 unchanged; 3 chunks")
    assert set(Record.objects.values_list("id", flat=True)) == ids
    (folder / "a.md").write_text("# Tea\n\nTea is green.\n\n# Milk\n\nIt is cold.\n")
    third = run(
        *("prism_memory_ingest", folder, *WHERE, "--uri-prefix=https://e.org/"),
        "--json",
    ).json
    assert (third["unchanged"], third["added"], third["retired"]) == (1, 1, 1)
    assert texts() == ["# Milk", "# Tea", "Coffee is black."]


def test_a_dry_run_tells_the_same_and_keeps_nothing(run, folder):
    told = run("prism_memory_ingest", folder, *WHERE, "--dry-run")
    assert "3 chunks: 3 added" in told.out
    assert "Nothing is kept" in told.out
    assert not Record.objects.exists()
    assert not Source.objects.exists()
    assert not AuditEvent.objects.exists()


def test_what_is_refused_is_named_and_all_others_are_stored(run, folder):
    (folder / "c.pdf").write_bytes(pdf("Page of words"))
    (folder / "d.pdf").write_bytes(pdf("locked", password="word"))
    (folder / "e.docx").write_bytes(docx(styled("Words of Word", "Heading1")))
    (folder / "f.docx").write_bytes(b"PK broken")
    (folder / "g.html").write_text("<h1>Head</h1><p>Body")
    (folder / "h.txt").write_bytes(b"caf\xe9")
    (folder / "i.exe").write_bytes(b"MZ")
    done = run("prism_memory_ingest", folder, *WHERE, "--verbosity=2")
    assert done.code == 1
    assert done.message == "3 of the files could not be ingested."
    for told in (
        "d.pdf: it has a password.",
        "f.docx: it is broken, or no DOCX (BadZipFile).",
        "h.txt: not UTF-8 at byte 3. Say its encoding.",
        "i.exe: passed over: no reader for its name",
    ):
        assert told in done.err
    names = ("a.md", "api/b.txt", "c.pdf", "e.docx", "g.html")
    assert sources() == [f"docs/{name}" for name in names]
    assert "## Page 1" in texts()


def test_prune_retires_what_is_gone_and_nothing_else(run, folder):
    """Not what others made, not another prefix, not another scope."""
    run("prism_memory_ingest", folder, *WHERE)
    others = ("--tenant=acme", "--trust=document", "--writer=docs")
    elsewhere = ("--owner=bob", "--key-prefix=docs/")
    run("prism_memory_ingest", folder, *others, *elsewhere)
    run("prism_memory_ingest", folder, *others, "--owner=ada", "--key-prefix=old/")
    memory = Memory(ADA, origin=Origin(Trust.DOCUMENT, "by hand"))
    memory.sources.ingest("docs/by-hand.md", "By hand.")
    (folder / "api" / "b.txt").unlink()
    trial = run("prism_memory_ingest", folder, *WHERE, "--prune", "--dry-run")
    assert "1 source would be retired: its file is gone.\n  docs/api/b.txt" in trial.out
    assert not sources(state="retired")
    done = run("prism_memory_ingest", folder, *WHERE, "--prune", "--glob=x", "--json")
    assert done.json["pruned"] == ["docs/api/b.txt"]
    (retired,) = Source.objects.filter(state="retired")
    assert (retired.key, retired.scope.owner) == ("docs/api/b.txt", "ada")
    assert AuditEvent.objects.filter(reason="its file is gone").exists()
    (folder / "api" / "b.txt").write_text("Coffee is black.\n")
    refused = run("prism_memory_ingest", folder, *WHERE)
    assert (refused.code, "api/b.txt" in refused.err) == (1, True)
    back = run("prism_memory_ingest", folder, *WHERE, "--restore", "--json").json
    assert (back["refused"], sources(state="retired")) == ([], [])
    assert "Coffee is black." in texts()


def test_prune_of_an_empty_folder_is_refused(run, folder, tmp_path):
    run("prism_memory_ingest", folder, *WHERE)
    (tmp_path / "empty").mkdir()
    done = run("prism_memory_ingest", tmp_path / "empty", *WHERE, "--prune")
    assert (done.code, "nothing is retired" in done.message) == (1, True)
    assert not sources(state="retired")


def test_standard_input_is_a_document_of_the_key(run, monkeypatch):
    given = io.TextIOWrapper(io.BytesIO(b"<h1>Tea</h1><p>Green."))
    monkeypatch.setattr(sys, "stdin", given)
    done = run("prism_memory_ingest", "-", "--key=docs/tea", "--format=html", *WHERE)
    assert (done.code, sources(), texts()) == (0, ["docs/tea"], ["# Tea"])
    assert "file" not in Source.objects.get().metadata


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["-"], "--key names standard input"),
        (["{root}", "--key=x"], "--key names standard input"),
        (["-", "{root}"], "given alone"),
        (["{root}/a.md", "--prune"], "of folders alone"),
        (["{root}", "--wait", "--dry-run"], "nothing to embed"),
        (["{root}", "--prune", "--key-prefix="], "--prune needs --key-prefix"),
    ],
)
def test_what_does_not_go_together_is_refused(run, folder, words, told):
    given = [word.replace("{root}", str(folder)) for word in words]
    given = given if "--key-prefix=" in given[-1] else [*given, WHERE[-1]]
    done = run("prism_memory_ingest", *WHERE[:-1], *given)
    assert (done.code, told in done.message) == (2, True)
    assert not Source.objects.exists()


def test_a_missing_place_and_a_bad_scope_store_nothing(run, folder):
    done = run("prism_memory_ingest", folder, folder / "none", *WHERE)
    assert (done.code, "cannot be read" in done.message) == (1, True)
    done = run("prism_memory_ingest", folder, *WHERE, "--agent= ")
    assert (done.code, "agent" in done.message) == (1, True)
    assert not Source.objects.exists()
