"""Files become documents, each for itself."""

from __future__ import annotations

import os
import uuid

import pytest

from prism_memory.errors import Conflict, Misconfigured
from prism_memory.ingest import files as taking
from prism_memory.ingest.files import Plan, take
from prism_memory.ingest.finding import find
from prism_memory.ingest.reading import BoundedReader
from prism_memory.types import Ingested


@pytest.fixture
def folder(tmp_path):
    for name, content in {
        "a.md": b"# One",
        "b.txt": b"caf\xe9",
        "c.exe": b"MZ",
        "d.md": b"conflict",
        "e.txt": b"same",
    }.items():
        (tmp_path / name).write_bytes(content)
    return tmp_path


def write(key, document):
    if document.text == "conflict":
        raise Conflict
    return Ingested(uuid.uuid4(), chunks=2, added=2, unchanged=document.text == "same")


def last(folder, plan=Plan("docs/"), write=write):  # noqa: B008 - frozen
    *_, taken = take(
        find([folder]).files, plan=plan, reader=BoundedReader(), write=write
    )
    return taken


def test_a_file_that_is_refused_stops_no_other(folder):
    taken = last(folder)
    assert list(taken.ingested) == ["docs/a.md", "docs/e.txt"]
    assert taken.refused == [
        ("b.txt", "not UTF-8 at byte 3. Say its encoding."),
        ("d.md", "The object's state does not allow this change."),
    ]
    assert taken.skipped == [("c.exe", "no reader for its name")]
    assert (taken.unchanged, taken.total("added")) == (1, 4)
    assert taken.bytes == sum(path.stat().st_size for path in folder.iterdir())


def test_what_is_no_files_fault_stops_the_run(folder):
    def broken(key, document):
        raise Misconfigured

    with pytest.raises(Misconfigured):
        last(folder, write=broken)


def test_a_file_that_changed_since_it_was_found_is_refused(folder, monkeypatch):
    monkeypatch.setattr(taking, "FILE_BYTES", 5)
    found = find([folder]).files
    (folder / "e.txt").unlink()
    (folder / "a.md").unlink()
    (folder / "a.md").symlink_to(folder / "b.txt")
    (folder / "b.txt").unlink()
    os.mkfifo(folder / "b.txt")
    *_, taken = take(found, plan=Plan(), reader=BoundedReader(), write=write)
    assert [name for name, _ in taken.refused] == ["a.md", "b.txt", "d.md", "e.txt"]
    told = [reason for _, reason in taken.refused]
    assert told[1] == "it is no regular file."
    assert told[2] == "it is over 5 bytes."
    assert told[3] == "it cannot be read (No such file or directory)."
