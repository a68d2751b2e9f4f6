"""The parts of an installation that ``prism_memory_doctor`` looks at.

Another part is one more entry of ``PARTS``: what examines it, and what cures it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from django.db import DatabaseError

from prism_memory import indexing
from prism_memory.errors import Conflict, PrismMemoryError
from prism_memory.management.command import table
from prism_memory.types.findings import Finding


@dataclass(frozen=True)
class Part:
    """One part of an installation.

    Args:
        meaning: What it is, for the help.
        examine: Yields what is wrong, for a database and some tenants. Changes nothing.
        cure: Mends one finding, and returns how many rows it touched.
    """

    meaning: str
    examine: Callable[..., Iterator[Finding]]
    cure: Callable[..., int]


PARTS: Final[Mapping[str, Part]] = {
    "index": Part(
        "indexes, vectors, full text and the planner's numbers",
        indexing.examine,
        indexing.cure,
    ),
}


@dataclass(frozen=True)
class Seen:
    """A finding, and what became of it.

    Args:
        cured: Rows that were touched to mend it; None where nothing was done.
        error: Why it could not be mended.
    """

    part: str
    finding: Finding
    cured: int | None = None
    error: str = ""

    @property
    def is_left(self) -> bool:
        """Whether it is still wrong."""
        return self.cured is None

    def as_json(self) -> dict[str, Any]:
        """Return it for programs."""
        return {
            "part": self.part,
            **asdict(self.finding),
            "cured": self.cured,
            "error": self.error,
        }


def look(
    *, using: str, names: Sequence[str], tenants: Sequence[str], fix: bool
) -> list[Seen]:
    """Examine these parts, and mend what may be mended if that is asked for."""
    found = []
    for name in names:
        part = PARTS[name]
        findings = list(part.examine(using=using, tenants=tenants))
        found += [_seen(using, name, part, one, fix=fix) for one in findings]
    return found


def _seen(using: str, name: str, part: Part, finding: Finding, *, fix: bool) -> Seen:
    if not (fix and finding.curable):
        return Seen(name, finding)
    try:
        return Seen(name, finding, part.cure(using=using, finding=finding))
    except Conflict as error:
        return Seen(name, finding, error=str(error))
    except PrismMemoryError as error:
        return Seen(name, finding, error=error.code)
    except DatabaseError as error:  # a deadlock, a lock: the other cures go on
        return Seen(name, finding, error=type(error).__name__)


def lines(found: Sequence[Seen]) -> list[str]:
    """Return what was found, for people."""
    if not found:
        return ["Nothing is wrong."]
    rows = [
        (
            one.part,
            one.finding.kind,
            one.finding.tenant or "-",
            one.finding.subject,
            one.finding.count,
            _outcome(one),
        )
        for one in found
    ]
    told = table(("part", "finding", "tenant", "where", "count", "now"), rows)
    kinds = {one.finding.kind: one.finding for one in found}
    return [*told, "", *(_explained(kinds[kind]) for kind in sorted(kinds))]


def _outcome(one: Seen) -> str:
    if one.cured is not None:
        return f"mended ({one.cured:,})"
    return one.error or ("--fix mends it" if one.finding.curable else "see below")


def _explained(finding: Finding) -> str:
    advice = f" {finding.advice}" if finding.advice else ""
    return f"{finding.kind}: {finding.meaning}.{advice}"
