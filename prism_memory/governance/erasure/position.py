"""How far an erasure is, as its run keeps it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any

from prism_memory.governance.erasure.pages import START
from prism_memory.models import Record, Run


@dataclass(frozen=True)
class State:
    """How far an erasure is, as its run keeps it.

    Args:
        after: Where the next page begins.
        derived: Records elsewhere that derive from these and that a hold keeps.
        elsewhere: Ids of scopes that are no part of the target and held such records,
            and of those above: exports of them may hold the words.
        spared: Ids of facts elsewhere that lost evidence and stand on other.
        made: The target's own row was made for this, to keep its names: not counted.
    """

    after: dict[str, Any] = field(default_factory=lambda: dict(START))
    rows: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    derived: int = 0
    elsewhere: frozenset[str] = frozenset()
    spared: frozenset[str] = frozenset()
    made: bool = False

    @property
    def records(self) -> int:
        """Records removed by now."""
        return self.rows[Record._meta.db_table]  # noqa: SLF001 - Django has no other name for it

    @classmethod
    def of(cls, run: Run) -> State:
        """Return what a run kept."""
        cursor = run.cursor
        return cls(
            after=cursor.get("after", dict(START)),
            rows=Counter(run.counts),
            kinds=Counter(cursor.get("kinds", {})),
            derived=cursor.get("derived", 0),
            elsewhere=frozenset(cursor.get("elsewhere", ())),
            spared=frozenset(cursor.get("spared", ())),
            made=cursor.get("made", False),
        )

    def plus(self, rows: Counter[str], **more: Any) -> State:  # noqa: ANN401 - fields
        """Return this state with more rows removed."""
        total = Counter(self.rows)
        total.update({table: count for table, count in rows.items() if count})
        return replace(self, rows=total, **more)
