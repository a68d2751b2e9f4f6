"""What ``prism_memory_ingest`` reads and writes, and what it says of it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from django.core.management.base import CommandError
from django.db import transaction

from prism_memory.errors import Conflict, LimitExceeded
from prism_memory.ingest.chunking import (
    Chunker,
    MarkdownChunker,
    MarkdownWindowChunker,
    TextChunker,
)
from prism_memory.ingest.files import Plan, Taken, take
from prism_memory.ingest.finding import Finding, FoundFile
from prism_memory.ingest.reading import FILE_BYTES, Document, bounded_reader
from prism_memory.management.command import FAILED, counted
from prism_memory.management.options import USAGE
from prism_memory.management.progress import Progress
from prism_memory.memory import Memory
from prism_memory.types import Ingested

CHUNKERS: Final[Mapping[str, Callable[[], Chunker]]] = {
    "markdown": MarkdownChunker,
    "markdown-window": MarkdownWindowChunker,
    "text": TextChunker,
}
BY_FORM: Final = {"markdown": "markdown", "text": "text"}
"""Chunkers of what the readers yield, where none is named."""

FILE: Final = "file"
"""In the metadata of a source: the name of the file. It marks what a run may retire."""

VOLATILE: Final = frozenset({"pages"})
"""What is not kept of a file: each chunk bears a copy, and would change with it."""

COUNTS: Final = ("added", "kept", "moved", "restored", "retired", "withheld")


@dataclass(frozen=True)
class Writing:
    """Where documents go.

    Args:
        chunker: One of ``CHUNKERS``; by the form of the document when None.
        uri_prefix: Put before a file's name to make the address of its source; it has
            none when empty.
        key_prefix: As the key has it before the name.
        of_files: What is written came from files, and is known by them again.
        restores: A retired source comes back with its file.
        is_trial: Nothing is kept of what is written.
        restricted: Nobody reads them before access to them is set.
    """

    memory: Memory
    key_prefix: str = ""
    chunker: str | None = None
    uri_prefix: str = ""
    language: str | None = None
    of_files: bool = True
    restores: bool = False
    is_trial: bool = False
    restricted: bool = False

    def __call__(self, key: str, document: Document) -> Ingested:
        """Store a document.

        Raises:
            Conflict: Its source is retired, and shall not come back; or it is a stream.
        """
        with self._trial():
            try:
                done = self._ingest(key, document)
            except Conflict:
                if not self.restores:
                    raise
                self.memory.sources.restore(key, reason="its file is there")
                done = self._ingest(key, document)
            if self.is_trial:
                transaction.set_rollback(True, using=self.memory.using)
        return done

    def _ingest(self, key: str, document: Document) -> Ingested:
        name = key.removeprefix(self.key_prefix)
        known = {n: v for n, v in document.metadata.items() if n not in VOLATILE}
        return self.memory.sources.ingest(
            key,
            document.text,
            uri=f"{self.uri_prefix}{name}" if self.uri_prefix else "",
            chunker=CHUNKERS[self.chunker or BY_FORM[document.form]](),
            metadata=known | ({FILE: name} if self.of_files else {}),
            language=self.language,
            restricted=self.restricted,
        )

    def _trial(self) -> Any:
        if not self.is_trial:
            return nullcontext()
        return transaction.atomic(using=self.memory.using)


def take_all(
    files: list[FoundFile],
    *,
    plan: Plan,
    writing: Writing,
    seconds: float,
    bar: Progress,
) -> Taken:
    """Store every file, with progress."""
    taken = Taken()
    with bounded_reader(seconds=seconds) as reader:
        for taken in take(files, plan=plan, reader=reader, write=writing):
            done = len(taken.ingested) + len(taken.refused) + len(taken.skipped)
            bar.update(taken.bytes, f"{done:,} of {counted(len(files), 'file')}")
    bar.update(bar.total)
    return taken


def take_stdin(key: str, *, plan: Plan, writing: Writing, seconds: float) -> Taken:
    """Store what comes in on standard input as the document ``key``.

    Raises:
        LimitExceeded: It is over 67,108,864 bytes.
    """
    content = sys.stdin.buffer.read(FILE_BYTES + 1)
    if len(content) > FILE_BYTES:
        message = f"Standard input is over {FILE_BYTES:,} bytes."
        raise LimitExceeded(message, field="file")
    with bounded_reader(seconds=seconds) as reader:
        document = reader.read(content, plan.format or "text", encoding=plan.encoding)
    return Taken({key: writing(key, document)}, bytes=len(content))


def gone(memory: Memory, finding: Finding, key_prefix: str) -> list[str]:
    """Return the keys of the documents that came from files which are gone.

    Raises:
        CommandError: A folder could not be looked into, or is empty: then what is
            missing may be there.
    """
    if not finding.complete:
        message = "--prune: a folder is empty or cannot be read; nothing is retired."
        raise CommandError(message, returncode=FAILED)
    return [
        source.key
        for source in _own(memory)
        if source.key.startswith(key_prefix)
        and source.key.removeprefix(key_prefix) == source.metadata.get(FILE)
        and source.metadata[FILE] not in finding.names
    ]


def _own(memory: Memory) -> Iterator[Any]:
    """Yield the active documents of exactly the scope."""
    cursor = None
    while True:
        page = memory.sources.list(limit=200, cursor=cursor)
        for source in page:
            mine = source.scope == memory.scope and source.kind == "document"
            if mine and source.state == "active":
                yield source
        cursor = page.next_cursor
        if cursor is None:
            return


def retire_all(memory: Memory, keys: list[str], *, reason: str) -> None:
    """Take sources out of search, each in a transaction of its own."""
    for key in keys:
        memory.sources.retire(key, reason=reason)


def as_json(taken: Taken, pruned: list[str], *, is_trial: bool) -> dict[str, Any]:
    """Return what was done for programs."""
    told = partial(map, lambda pair: {"file": pair[0], "reason": pair[1]})
    return {
        "dry_run": is_trial,
        "files": len(taken.ingested),
        "unchanged": taken.unchanged,
        "chunks": taken.total("chunks"),
        **{name: taken.total(name) for name in COUNTS},
        "quarantined": taken.total("quarantined"),
        "pruned": pruned,
        "refused": list(told(taken.refused)),
        "skipped": list(told(taken.skipped)),
    }


def lines(taken: Taken, pruned: list[str], *, is_trial: bool) -> list[str]:
    """Return what was done for people."""
    changed = len(taken.ingested) - taken.unchanged
    said = [
        f"{counted(changed, 'file')} new or changed, {taken.unchanged:,} unchanged;"
        f" {counted(taken.total('chunks'), 'chunk')}: {_counts(taken)}."
    ]
    if held := taken.total("quarantined"):
        said.append(f"{counted(held, 'chunk')} held back by the gate, for review.")
    if pruned:
        verb = "would be retired" if is_trial else "retired"
        files = "their files are" if len(pruned) > 1 else "its file is"
        said.append(f"{counted(len(pruned), 'source')} {verb}: {files} gone.")
        said += [f"  {key}" for key in pruned]
    if taken.skipped:
        said.append(f"{counted(len(taken.skipped), 'file')} passed over.")
    return ["Nothing is kept of this trial.", *said] if is_trial else said


def _counts(taken: Taken) -> str:
    parts = [(taken.total(name), name) for name in COUNTS]
    return (
        ", ".join(f"{count:,} {name}" for count, name in parts if count) or "no change"
    )


def check_places(places: list[Path]) -> None:
    """Check that standard input is not one place of several.

    Raises:
        CommandError: It is.
    """
    if Path("-") in places and len(places) > 1:
        message = "- (standard input) is given alone."
        raise CommandError(message, returncode=USAGE)
