"""The files of an export, in the storage that the settings name."""

from __future__ import annotations

import gzip
import hashlib
import tempfile
import uuid
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import IO, Any, Final, cast

from django.core.exceptions import ImproperlyConfigured, SuspiciousOperation
from django.core.files import File
from django.core.files.storage import Storage, storages

from prism_memory.conf import settings
from prism_memory.errors import Misconfigured
from prism_memory.types import ExportPart

FOLDER: Final = "prism_memory/exports"
IN_MEMORY_BYTES: Final = 1_048_576
"""Of a part that is being made; what is beyond waits in an unnamed file."""
BLOCK_BYTES: Final = 65_536


def folder(run_id: uuid.UUID) -> str:
    """Return where the files of a run are: its path holds no other name."""
    return f"{FOLDER}/{run_id}"


@contextmanager
def storage() -> Iterator[Storage]:
    """Give the storage; what it refuses is told without its words.

    Raises:
        Misconfigured: There is no such storage, or it failed.
    """
    try:
        yield storages[settings.EXPORT_STORAGE]
    except (OSError, SuspiciousOperation, ImproperlyConfigured) as error:
        message = f"The storage of exports failed ({type(error).__name__})."
        raise Misconfigured(message, field="EXPORT_STORAGE") from error


def save(name: str, content: IO[bytes]) -> str:
    """Write a file and return the name that the storage gave it."""
    with storage() as place:
        return place.save(name, File(content))


def delete(*names: str) -> None:
    """Remove files; one that is not there is none."""
    with storage() as place:
        for name in filter(None, names):
            place.delete(name)


def listed(run_id: uuid.UUID, *known: str) -> list[str]:
    """Return the files of a run that are there, by name.

    Args:
        known: Looked for where the storage cannot list.
    """
    here = folder(run_id)
    with storage() as place:
        try:
            _folders, found = place.listdir(here)
        except FileNotFoundError:
            return []
        except NotImplementedError:
            return sorted(name for name in filter(None, known) if place.exists(name))
    return sorted(f"{here}/{name}" for name in found)


def open_file(name: str) -> File[Any]:
    """Return a file to read. Whoever opens it closes it."""
    with storage() as place:
        return place.open(name, "rb")


def blocks(name: str) -> Iterator[bytes]:
    """Yield a file piece by piece."""
    with storage(), open_file(name) as file:
        while block := file.read(BLOCK_BYTES):
            yield block


def lines(name: str) -> Generator[bytes, None, None]:
    """Yield the lines of a part, whether it is compressed or not."""
    with storage(), open_file(name) as file:
        raw = cast("IO[bytes]", file)
        yield from gzip.GzipFile(fileobj=raw) if name.endswith(".gz") else raw


class Making:
    """A part that is being made: lines in, a file out, little of it in memory."""

    def __init__(self, *, compress: bool) -> None:
        self.file: Any = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY_BYTES)  # noqa: SIM115 - closed by ``close``
        self.compressed = (
            gzip.GzipFile(filename="", mode="wb", fileobj=self.file, mtime=0)
            if compress
            else None
        )
        self.records = 0
        self.written = 0

    def add(self, line: str) -> None:
        """Write one line."""
        data = line.encode() + b"\n"
        (self.compressed or self.file).write(data)
        self.records += 1
        self.written += len(data)

    def saved(self, name: str) -> ExportPart:
        """Give it to the storage, and return what it is there."""
        if self.compressed:
            self.compressed.close()
        size = self.file.tell()
        digest = hashlib.sha256()
        self.file.seek(0)
        while block := self.file.read(BLOCK_BYTES):
            digest.update(block)
        self.file.seek(0)
        stored = save(name, self.file)
        return ExportPart(stored, self.records, size, digest.hexdigest())

    def close(self) -> None:
        """Let go of what is not saved."""
        self.file.close()
