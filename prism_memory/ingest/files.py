"""Files become documents, one by one: what one is refused for stops no other."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, Protocol

from prism_memory.errors import (
    Conflict,
    Invalid,
    LimitExceeded,
    NotVisible,
)
from prism_memory.ingest.finding import FoundFile
from prism_memory.ingest.reading import FILE_BYTES, Document, Unreadable, format_of
from prism_memory.types import Ingested

REFUSALS: Final = (Invalid, LimitExceeded, Conflict, NotVisible)
"""What a file can be refused for; anything else is not the file's fault."""

Write = Callable[[str, Document], Ingested]
"""Stores the document of a key."""


class ReadsFiles(Protocol):
    """Turns bytes into words; see ``reading.BoundedReader``."""

    def read(
        self, content: bytes, format_: str, *, encoding: str | None = None
    ) -> Document:
        """Return the words of a file."""
        ...


@dataclass(frozen=True)
class Plan:
    """How files are taken.

    Args:
        key_prefix: Put before a file's name to make the key of its source.
        format: Of every file; by its name when None.
        encoding: Of text, Markdown and HTML that do not say theirs; UTF-8 when None.
    """

    key_prefix: str = ""
    format: str | None = None
    encoding: str | None = None


@dataclass
class Taken:
    """What became of the files so far.

    Args:
        ingested: By the keys of their sources.
        refused: Names of files, and why.
        skipped: Names of files that nobody reads, and links that were not followed.
        bytes: Of all files looked at.
    """

    ingested: dict[str, Ingested] = field(default_factory=dict)
    refused: list[tuple[str, str]] = field(default_factory=list)
    skipped: list[tuple[str, str]] = field(default_factory=list)
    bytes: int = 0

    @property
    def unchanged(self) -> int:
        """Files whose words were stored before, just so."""
        return sum(one.unchanged for one in self.ingested.values())

    def total(self, name: str) -> int:
        """Return the sum of one count of ``Ingested`` over the files."""
        return sum(int(getattr(one, name)) for one in self.ingested.values())


def take(
    files: Iterable[FoundFile], *, plan: Plan, reader: ReadsFiles, write: Write
) -> Iterator[Taken]:
    """Store each file as a document, and yield what became of all of them so far.

    Each is whole or not there; a second run finds those that are there unchanged.

    Raises:
        Misconfigured: A format needs the extra ``files``.
    """
    taken = Taken()
    for file in files:
        format_ = plan.format or format_of(file.name)
        if format_ is None:
            taken.skipped.append((file.name, "no reader for its name"))
        else:
            _take(file, format_, plan, reader, write, taken)
        taken.bytes += file.size
        yield taken


def _take(
    file: FoundFile,
    format_: str,
    plan: Plan,
    reader: ReadsFiles,
    write: Write,
    taken: Taken,
) -> None:
    key = f"{plan.key_prefix}{file.name}"
    try:
        document = reader.read(content_of(file), format_, encoding=plan.encoding)
        taken.ingested[key] = write(key, document)
    except REFUSALS as error:
        taken.refused.append((file.name, str(error)))


def content_of(file: FoundFile) -> bytes:
    """Return the bytes of a file, if it is still one and not too large.

    Raises:
        Unreadable: It cannot be read.
        LimitExceeded: It is over 67,108,864 bytes.
    """
    try:
        # It may have become a link or a pipe since it was found.
        opened = os.open(file.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(opened, "rb") as stream:
            status = os.fstat(stream.fileno())
            if not stat.S_ISREG(status.st_mode):
                message = "it is no regular file."
                raise Unreadable(message, field="file")
            check_size(status.st_size)
            content = stream.read(FILE_BYTES + 1)
    except OSError as error:
        message = f"it cannot be read ({error.strerror})."
        raise Unreadable(message, field="file") from error
    check_size(len(content))
    return content


def check_size(size: int) -> None:
    """Do nothing if a file is not too large.

    Raises:
        LimitExceeded: It is over 67,108,864 bytes.
    """
    if size > FILE_BYTES:
        message = f"it is over {FILE_BYTES:,} bytes."
        raise LimitExceeded(message, field="file")
