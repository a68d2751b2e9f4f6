"""Write what parsers yield, batch by batch, so that it can be stopped and resumed."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Final

from django.db import transaction
from django.utils import timezone

from prism_memory import runs
from prism_memory.errors import (
    Conflict,
    Invalid,
    LimitExceeded,
    NotVisible,
    PrismMemoryError,
)
from prism_memory.ingest.batches import batches, by_scope
from prism_memory.ingest.entries import BadEntry, Incoming
from prism_memory.models import Run
from prism_memory.models.choices import RunState
from prism_memory.types import Actor, Entry, Scope

KIND: Final = "import"
BLOCK_BYTES: Final = 1_048_576
REFUSALS: Final = (Invalid, LimitExceeded, Conflict, NotVisible)
"""What an entry can be refused for; anything else is not the entry's fault."""

Write = Callable[[Scope, list[Entry]], int]
"""Remembers entries of one scope; returns how many were new or changed."""


@dataclass(frozen=True)
class Loaded:
    """How far an import is.

    Args:
        entries: Entries of the file that are stored.
        changed: Those of them that were new or differed from what was stored.
        resumed_at: Entries that an earlier, interrupted import had stored.
    """

    entries: int = 0
    changed: int = 0
    resumed_at: int = 0


@dataclass
class Loading:
    """One import at work."""

    using: str
    write: Write
    run: Run
    loaded: Loaded

    def all(
        self,
        found: Iterable[list[Incoming]],
        progress: Callable[[Loaded], None] | None,
    ) -> None:
        """Store batch after batch; note how it ended, with the place of what failed."""
        try:
            for batch in found:
                self.step(batch)
                if progress:
                    progress(self.loaded)
        except PrismMemoryError as error:
            place = f" at {error.place}" if isinstance(error, BadEntry) else ""
            self.end(RunState.FAILED, f"{error.code}{place}")
            raise
        self.end(RunState.DONE)

    def step(self, batch: list[Incoming]) -> None:
        """Store a batch and how far that is, in one transaction."""
        try:
            with transaction.atomic(using=self.using):
                changed = self._write(batch)
                self.loaded = replace(
                    self.loaded,
                    entries=self.loaded.entries + len(batch),
                    changed=self.loaded.changed + changed,
                )
                counts = {
                    "entries": self.loaded.entries,
                    "changed": self.loaded.changed,
                }
                cursor = {"entries": self.loaded.entries}
                runs.advance(
                    self.run,
                    using=self.using,
                    cursor=cursor,
                    counts=counts,
                    at=timezone.now(),
                )
        except runs.TakenOver:
            raise
        except REFUSALS as error:
            place = self._place(batch)
            raise BadEntry(str(error), place=place, field=error.field) from error

    def _write(self, batch: Sequence[Incoming]) -> int:
        groups = by_scope(batch).items()
        return sum(self.write(scope, entries) for scope, entries in groups)

    def _place(self, batch: list[Incoming]) -> str:
        """Say which entry was refused, by trying each; nothing of it stays."""
        with transaction.atomic(using=self.using):
            refused = next((i for i in batch if self._is_refused(i)), None)
            transaction.set_rollback(True, using=self.using)
        if refused is not None:
            return refused.place
        return f"{batch[0].place} to {batch[-1].place}"

    def _is_refused(self, item: Incoming) -> bool:
        try:
            with transaction.atomic(using=self.using):
                self._write([item])
        except REFUSALS:
            return True
        return False

    def end(self, state: RunState, error: str = "") -> None:
        """Note how it ended."""
        runs.finish(
            self.run, using=self.using, state=state, error=error, at=timezone.now()
        )


def load(
    *,
    using: str,
    tenant: str,
    target: str,
    actor: Actor,
    items: Iterable[Incoming],
    write: Write,
    rows: int,
    progress: Callable[[Loaded], None] | None = None,
) -> Loaded:
    """Store every item; go on where an interrupted import of the same target stopped.

    A batch is stored whole or not at all, together with how far the import is. Items
    already stored change nothing.

    Args:
        target: Names the work; see ``fingerprint``.
        rows: Entries of one batch.
        progress: Called after each batch.

    Raises:
        BadEntry: An item was refused, here or by the parser. Earlier batches stay.
        ScopeDenied: The tenant is blank.
        LimitExceeded: The tenant is over 256 bytes.
        Conflict: Another process began or took up the same import meanwhile.
    """
    run = runs.begin(
        using=using,
        tenant=Scope(tenant).tenant,
        kind=KIND,
        target=target,
        actor=actor,
        at=timezone.now(),
    )
    known = run.cursor.get("entries", 0)
    changed = run.counts.get("changed", 0)
    loading = Loading(using, write, run, Loaded(known, changed, known))
    with runs.failing(run, using=using):
        loading.all(batches(islice(items, known, None), rows), progress)
    return loading.loaded


def fingerprint(path: Path, *words: str) -> str:
    """Name an import: by what the file holds, and by how it is read.

    Args:
        words: What else makes it the same work: the format, what was chosen.
    """
    digest = hashlib.sha256()
    for block in _blocks(path):
        digest.update(block)
    for word in words:
        digest.update(hashlib.sha256(word.encode("utf-8", "surrogatepass")).digest())
    name = path.name.encode("utf-8", "replace")[:100].decode("utf-8", "ignore")
    return f"{digest.hexdigest()[:16]} {name}"


def _blocks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while block := file.read(BLOCK_BYTES):
            yield block
