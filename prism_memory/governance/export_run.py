"""Export all that lies at and below a scope: a run, part by part, to a storage.

A part is written, then noted together with the place where the next one begins. Who
goes on after a crash removes the part that was not noted, and writes it anew: nothing
is there twice, nothing is left out. No transaction is open while a file is written.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from typing import Any, Final

from django.db import transaction

from prism_memory import runs
from prism_memory.errors import NotVisible, PrismMemoryError
from prism_memory.governance import export_files as files
from prism_memory.governance.export import left_out, place, read, trusted
from prism_memory.governance.export_manifest import manifest, written
from prism_memory.governance.export_state import Position, note, scope_of
from prism_memory.governance.lines import LEVELS, Sight, writing
from prism_memory.models import Record, Run, Scope
from prism_memory.models.choices import RunState
from prism_memory.redaction import Redaction
from prism_memory.types import Actor
from prism_memory.types import Scope as ScopeValue

PAGE_ROWS: Final = 100
PART_RECORDS: Final = 5_000
PART_BYTES: Final = 16_777_216

Now = Callable[[], dt.datetime]


class Exporting:
    """One export at work.

    Args:
        run: Taken up by this process.
        now: Tells the time.
    """

    def __init__(self, *, using: str, run: Run, redaction: Redaction, now: Now) -> None:
        self.using = using
        self.run = run
        self.redaction = redaction
        self.now = now
        self.options: Mapping[str, bool] = run.cursor["options"]
        self.position = Position.of(run)
        rows = Scope.objects.using(using)
        root = rows.filter(tenant=run.tenant, id=scope_of(run)).first()
        if root is None:  # erased meanwhile
            raise NotVisible
        strict = not self.options["include_unconsented"]
        self.sight = Sight(root.value, strict=strict, facts=True)

    def expect_scopes(self) -> None:
        """Note how many scopes there are, for who asks how far it is. One query."""
        if "total" not in self.run.cursor:
            rows = Scope.objects.using(self.using).below(self.sight.root)
            runs.expect(self.run, using=self.using, total=rows.count(), at=self.now())

    def work(self, is_over: Callable[[], bool]) -> bool:
        """Write parts until all is written, or ``is_over`` says so; tell whether it is.

        Raises:
            TakenOver: Another process took the run up, or it was cancelled.
            Misconfigured: The storage failed. The run has failed, and can go on.
        """
        with ExitStack() as stack:
            stack.push(self._note_failure)
            self._clean()
            while self._part():
                if is_over():
                    return False
            self._end()
        return True

    def _note_failure(self, kind: Any, error: Any, trace: Any) -> bool:  # noqa: ANN401 - as __exit__
        """Note why it failed, in the domain's words; those of others may hold text."""
        del trace
        if kind is not None and not issubclass(kind, runs.TakenOver):
            ours = isinstance(error, PrismMemoryError)
            told = f"{error.code}: {error}" if ours else kind.__name__
            runs.finish(
                self.run,
                using=self.using,
                state=RunState.FAILED,
                at=self.now(),
                error=told,
            )
        return False

    @property
    def _holder(self) -> str:
        """Part of a file's name: two processes never write the same file."""
        return str(self.run.cursor["holder"][:8])

    def _clean(self) -> None:
        """Remove what a process that died may have left."""
        if self.position.pending:
            files.delete(self.position.pending)
            self._keep(replace(self.position, pending=""))

    def _part(self) -> bool:
        """Write one part; tell whether there may be more."""
        making = files.Making(compress=self.options["compress"])
        try:
            reached = self.position
            more = True
            while more and not _is_full(making):
                reached, more = self._page(making, reached)
            if making.records:
                reached = self._save(making, reached)
            self._keep_part(reached)
        finally:
            making.close()
        return more

    def _page(self, making: files.Making, at: Position) -> tuple[Position, bool]:
        """Write a page of one scope; return the place after it."""
        scope = self._scope(at)
        if scope is None:
            return at, False
        after = at.after if at.open and scope.id == at.scope else None
        now = self.now()
        records = read(
            using=self.using,
            sight=self.sight,
            scope=scope,
            after=after,
            rows=PAGE_ROWS,
            at=now,
        )
        shown = trusted(using=self.using, scope=scope, records=records)
        self._write(making, scope, shown, now)
        broken = len(records) - len(shown)
        counts = at.counts + Counter(records=len(shown), broken=broken)
        if len(records) < PAGE_ROWS:
            counts += Counter(
                {
                    "scopes": 1,
                    **left_out(using=self.using, sight=self.sight, scope=scope, at=now),
                }
            )
            return replace(
                at, scope=scope.id, open=False, after=None, counts=counts
            ), True
        last = place(records[-1])
        return replace(at, scope=scope.id, open=True, after=last, counts=counts), True

    def _scope(self, at: Position) -> ScopeValue | None:
        rows = Scope.objects.using(self.using).below(self.sight.root)
        # The open one is gone where it was erased meanwhile.
        found = rows.filter(id=at.scope).first() if at.open else None
        found = found or rows.filter(id__gt=at.scope).order_by("id").first()
        return None if found is None else found.value

    def _write(
        self,
        making: files.Making,
        scope: ScopeValue,
        records: list[Record],
        now: dt.datetime,
    ) -> None:
        write = writing(
            using=self.using,
            sight=self.sight,
            scope=scope,
            records=records,
            redaction=self.redaction,
            at=now,
        )
        for record in records:
            making.add(write.line(record))

    def _save(self, making: files.Making, reached: Position) -> Position:
        number = len(self.position.parts) + 1
        ending = ".gz" if self.options["compress"] else ""
        part = f"part-{number:05d}-{self._holder}.jsonl{ending}"
        name = f"{files.folder(self.run.id)}/{part}"
        self._keep(replace(self.position, pending=name))
        made = making.saved(name)
        counts = reached.counts + Counter(parts=1)
        return replace(reached, parts=(*reached.parts, made), counts=counts)

    def _keep_part(self, reached: Position) -> None:
        new = reached.parts[len(self.position.parts) :]
        try:
            self._keep(replace(reached, pending=""))
        except runs.TakenOver:
            # Nobody noted it. After any other fault that is not sure: it stays, and
            # who goes on removes it if need be.
            files.delete(*(part.name for part in new))
            raise

    def _keep(self, position: Position) -> None:
        runs.advance(
            self.run,
            using=self.using,
            cursor={**self.run.cursor, **position.kept()},
            counts=position.counts,
            at=self.now(),
        )
        self.position = position

    def _end(self) -> None:
        """Write the manifest, then note the end."""
        at = self.now()
        counts = self.position.counts
        seen = {"records", "parts", "scopes"}
        root = self.sight.root
        content = manifest(
            head={
                "export": str(self.run.id),
                "scope": {
                    level: self.redaction.mask(getattr(root, level)) for level in LEVELS
                },
                **self.options,
            },
            parts=self.position.parts,
            left_out={name: n for name, n in counts.items() if name not in seen},
            at=at,
        )
        name = f"{files.folder(self.run.id)}/manifest-{self._holder}.json"
        self._keep(replace(self.position, pending=name))
        name = written(name, content)
        try:
            self._finish(name, at)
        except runs.TakenOver:
            files.delete(name)
            raise

    def _finish(self, name: str, at: dt.datetime) -> None:
        counts = self.position.counts
        with transaction.atomic(using=self.using):
            runs.advance(
                self.run,
                using=self.using,
                cursor={**self.run.cursor, "pending": "", "manifest": name},
                counts=counts,
                at=at,
            )
            runs.finish(self.run, using=self.using, state=RunState.DONE, at=at)
            note(self.using, self.run, Actor(self.run.actor), "end", at, counts)


def _is_full(making: files.Making) -> bool:
    return making.records >= PART_RECORDS or making.written >= PART_BYTES
