"""``prism_memory_export``: what it writes, and what it leaves behind."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.files.storage import FileSystemStorage

from prism_memory.management.commands import prism_memory_export
from prism_memory.models import Run
from prism_memory.types import Scope
from tests.factories import make_memory, remember_one
from tests.governance.stored import BROKEN, Faulty, files, storages
from tests.management.conftest import Result

pytestmark = pytest.mark.django_db

ADA = ("prism_memory_export", "--tenant", "acme", "--owner", "ada")
Command = Callable[..., Result]


@pytest.fixture(autouse=True)
def folder(settings: Any, tmp_path: Path) -> Path:
    BROKEN.clear()
    where = tmp_path / "stored"
    settings.STORAGES = storages(where, f"{Faulty.__module__}.{Faulty.__name__}")
    BROKEN["at"] = 0
    remember_one("Words.", scope=Scope("acme", "ada"))
    return where


@pytest.mark.parametrize("name", ["ada.jsonl", "ada.jsonl.gz"])
def test_the_lines_are_written_and_the_storage_keeps_nothing(
    run: Command, folder: Path, tmp_path: Path, name: str
) -> None:
    output = tmp_path / name
    done = run(*ADA, "--output", output)
    assert (done.code, done.out) == (0, f"1 record in {output}.\n")
    data = output.read_bytes()
    text = gzip.decompress(data) if name.endswith(".gz") else data
    assert json.loads(text)["text"] == "Words."
    assert files(folder) == []


def test_one_part_is_one_part(run: Command, folder: Path) -> None:
    done = run(*ADA)
    assert done.out.startswith("1 record in 1 part of export ")
    assert len(files(folder)) == 2


@pytest.mark.parametrize("where", ["there", "folder", "nowhere"])
def test_a_file_that_cannot_be_written_leaves_nothing_anywhere(
    run: Command, folder: Path, tmp_path: Path, where: str
) -> None:
    there = tmp_path / "there"
    there.write_text("mine")
    output = {"there": there, "folder": tmp_path, "nowhere": tmp_path / "no" / "file"}
    done = run(*ADA, "--output", output[where])
    assert done.code == 2
    assert "cannot be written" in done.message
    assert files(folder) == []
    assert not Run.objects.exists()
    assert there.read_text() == "mine"


@pytest.mark.parametrize("at", [1, 2])
def test_a_storage_that_fails_leaves_neither_file_nor_export(
    run: Command, folder: Path, tmp_path: Path, at: int
) -> None:
    BROKEN.update(error=OSError("full"), at=at)
    done = run(*ADA, "--output", tmp_path / "ada.jsonl")
    assert done.code == 1
    assert files(folder) == []
    assert not (tmp_path / "ada.jsonl").exists()
    assert run(*ADA, "--output", tmp_path / "ada.jsonl").code == 0


@pytest.mark.parametrize(
    ("error", "code"), [(OSError(28, "No space left"), 2), (KeyboardInterrupt(), 130)]
)
def test_a_copy_that_breaks_off_leaves_neither_file_nor_export(
    run: Command,
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    error: BaseException,
    code: int,
) -> None:
    def breaks(*given: object) -> None:
        raise error

    monkeypatch.setattr(prism_memory_export, "copy", breaks)
    done = run(*ADA, "--output", tmp_path / "ada.jsonl")
    assert done.code == code
    assert files(folder) == []
    assert not (tmp_path / "ada.jsonl").exists()


def test_an_export_that_another_took_up_is_theirs(
    run: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = make_memory(Scope("acme", "ada")).start_export()
    save = FileSystemStorage.save

    def taken(*given: Any, **more: Any) -> Any:
        run_row = Run.objects.get(id=state.id)
        run_row.cursor["holder"] = "somebody"
        run_row.save()
        return save(*given, **more)

    monkeypatch.setattr(FileSystemStorage, "save", taken)
    assert run(*ADA, "--output", tmp_path / "ada.jsonl").code == 1
    found = Run.objects.get(id=state.id)
    assert (found.state, found.cursor.get("deleted")) == ("running", None)


@pytest.mark.parametrize(
    "more", [(), ("--delete", "0192f0c1-0000-7000-8000-000000000000")]
)
def test_a_tenant_that_is_none_is_told_as_by_the_others(
    run: Command, more: tuple[str, ...]
) -> None:
    done = run("prism_memory_export", "--tenant", "nosuch", *more)
    assert done.code == 1
    assert "nothing was ever remembered as 'nosuch'" in done.message
