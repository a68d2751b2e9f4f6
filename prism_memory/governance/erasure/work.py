"""One erasure at work: page by page, then the places, then the receipt.

Each page is a transaction with the tenant's lineage to itself, and writes down how far
the work is. A process that is killed leaves nothing half done, and the next one goes on
from there.
"""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from django.utils import timezone

from prism_memory import runs
from prism_memory.db.local import local_settings
from prism_memory.governance.erasure import copies, places
from prism_memory.governance.erasure.pages import (
    START,
    Gone,
    place_of,
    read_page,
    remove_page,
)
from prism_memory.governance.erasure.patience import WAIT, patiently
from prism_memory.governance.erasure.position import State
from prism_memory.governance.erasure.receipts import conclude
from prism_memory.governance.erasure.target import Target
from prism_memory.indexing import tell_removed
from prism_memory.lifecycle.tombstones import hold_lineage
from prism_memory.models import Run, VectorCopy
from prism_memory.models import Scope as ScopeRow
from prism_memory.types import NIL, Actor, Erased

COPIES: Final = VectorCopy._meta.db_table  # noqa: SLF001 - likewise
SCOPES: Final = ScopeRow._meta.db_table  # noqa: SLF001 - Django has no other name for it


@dataclass
class Work:
    """One erasure that a run stands for.

    Args:
        hosted: It runs in a host's transaction, which may still be rolled back: exports
            go after its commit.
    """

    using: str
    target: Target
    run: Run
    actor: Actor
    state: State
    progress: Callable[[State], None] | None
    page: int
    hosted: bool = False

    def finish(self) -> Erased:
        """Remove all that is there, and return the receipt."""
        while True:
            while patiently(self.using, self._records):
                pass
            self._copies(counted=True)
            if self.target.is_scope:
                while patiently(self.using, self._named):
                    pass
                after: uuid.UUID | None = NIL
                while after is not None:
                    after = patiently(self.using, partial(self._places, after))
            self._tell_indexes()
            if receipt := patiently(self.using, self._end):
                # One that began in that very moment may have read the last records.
                self._copies(counted=False)
                return receipt
            self.state = replace(self.state, after=dict(START))

    def _records(self) -> bool:
        """Remove the next page; tell whether there was one."""
        with self._alone():
            page = read_page(
                using=self.using,
                target=self.target,
                after=self.state.after,
                rows=self.page,
            )
            if not page:
                return False
            gone = self._remove([row["id"] for row in page if not row["held"]])
            after = place_of(page[-1]) if gone.whole else self.state.after
            state = self._note(self._with(gone, after))
        self._went_on(state)
        return True

    def _copies(self, *, counted: bool) -> None:
        """Remove the exports that may hold some of it."""
        for run in self._exports():
            given: dict[str, Any] = {"using": self.using, "actor": self.actor}
            copies.remove_copy(**given, run=run, hosted=self.hosted)
            if counted:
                counts = Counter({copies.EXPORTS: 1})
                self._went_on(self._note(self.state.plus(counts)))

    def _tell_indexes(self) -> None:
        """Have an external index delete its copies; in a host's transaction, later."""
        if self.hosted:
            return
        told = tell_removed(using=self.using, tenant=self.target.tenant)
        if told.removed:
            counts = Counter({COPIES: told.removed})
            with self._alone():
                state = self._note(self.state.plus(counts))
            self._went_on(state)

    def _exports(self) -> list[Run]:
        return copies.copies_of(
            using=self.using, target=self.target, elsewhere=self.state.elsewhere
        )

    def _named(self) -> bool:
        """Remove a page of what bears the names; tell whether there was any."""
        with self._alone():
            rows = places.clear_named(using=self.using, target=self.target)
            if not rows.total():
                return False
            state = self._note(self.state.plus(rows))
        self._went_on(state)
        return True

    def _places(self, after: uuid.UUID) -> uuid.UUID | None:
        """Clear the next scopes; return the last one's id, or None after the last.

        The target's own row stays to the end: who goes on knows its names by it.
        """
        with self._alone():
            locked = places.lock_places(
                using=self.using, target=self.target, after=after, rows=self.page
            )
            if not locked:
                return None
            mine = self.target.scope.id
            free = [
                row["id"] for row in locked if not row["covered"] and row["id"] != mine
            ]
            rows = places.clear_places(
                using=self.using, target=self.target, scope_ids=free
            )
            state = self._note(self.state.plus(rows))
        self._went_on(state)
        last: uuid.UUID = locked[-1]["id"]
        return last

    def _end(self) -> Erased | None:
        """Close the work; None where somebody wrote more than fits here meanwhile.

        With every place locked, nobody writes: what is committed by now goes too, and
        what comes later comes after the receipt.
        """
        with self._alone():
            free = self._lock()
            rest = places.free_records(
                using=self.using, target=self.target, scope_ids=free, rows=self.page + 1
            )
            if len(rest) > self.page:
                return None
            gone = self._remove(rest, wait=False)
            if not gone.whole:
                return None
            if not self.hosted and self._exports():
                return None
            state = self._with(gone, self.state.after).plus(self._clear(free))
            self._note(state)
            receipt = conclude(
                using=self.using,
                target=self.target,
                run=self.run,
                actor=self.actor,
                state=state,
                at=timezone.now(),
            )
        self._went_on(state)
        return receipt

    def _lock(self) -> list[uuid.UUID]:
        """Lock all that records are written to; return the scopes no hold covers."""
        if self.target.is_scope:
            locked = places.lock_places(
                using=self.using,
                target=self.target,
                after=NIL,
                rows=None,
            )
            return [row["id"] for row in locked if not row["covered"]]
        if self.target.family == "source":
            found = places.lock_source(using=self.using, target=self.target)
            return [row["scope_id"] for row in found if not row["covered"]]
        return []

    def _clear(self, scope_ids: Sequence[uuid.UUID]) -> Counter[str]:
        given: dict[str, Any] = {"using": self.using, "target": self.target}
        if not self.target.is_scope:
            return places.clear_sources(**given, scope_ids=scope_ids)
        counts: Counter[str] = Counter()
        while (rows := places.clear_named(**given)).total():
            counts += rows
        counts += places.unname_holds(**given)
        counts += places.clear_places(**given, scope_ids=scope_ids)
        if self.state.made and counts[SCOPES]:
            counts[SCOPES] -= 1
        return counts

    def _remove(self, ids: Sequence[uuid.UUID], *, wait: bool = True) -> Gone:
        if not ids:
            return Gone()
        return remove_page(
            using=self.using,
            target=self.target,
            run_id=self.run.id,
            ids=ids,
            actor=self.actor,
            at=timezone.now(),
            most=self.page,
            wait=wait,
        )

    def _with(self, gone: Gone, after: dict[str, Any]) -> State:
        given: dict[str, Any] = {"using": self.using, "target": self.target}
        elsewhere = places.count_elsewhere(**given, kept=gone.kept)
        beyond = copies.elsewhere(**given, scope_ids=gone.beyond)
        spared = places.facts_elsewhere(**given, ids=gone.spared)
        return self.state.plus(
            gone.rows,
            after=after,
            kinds=self.state.kinds + gone.kinds,
            derived=self.state.derived + elsewhere,
            elsewhere=self.state.elsewhere | beyond,
            spared=(self.state.spared | {*map(str, spared)}) - {*map(str, gone.facts)},
        )

    @contextmanager
    def _alone(self) -> Iterator[None]:
        with local_settings(self.using, {"lock_timeout": WAIT}):
            hold_lineage(using=self.using, tenant=self.target.tenant, alone=True)
            yield

    def _note(self, state: State) -> State:
        """Write down how far the work is, in the transaction of the step."""
        cursor = {
            "level": self.target.level.value,
            "scope_ids": self.target.scope_ids,
            "after": state.after,
            "kinds": dict(state.kinds),
            "derived": state.derived,
            "elsewhere": sorted(state.elsewhere),
            "spared": sorted(state.spared),
            "made": state.made,
        }
        runs.advance(
            self.run,
            using=self.using,
            cursor=cursor,
            counts=dict(state.rows),
            at=timezone.now(),
        )
        return state

    def _went_on(self, state: State) -> None:
        self.state = state
        if self.progress:
            self.progress(state)
