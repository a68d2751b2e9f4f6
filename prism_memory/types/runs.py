"""Long work as its tenant sees it: how far it is, and how it ended."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class RunStatus:
    """One run. No text, and no names.

    Args:
        kind: ``erase``, ``export``, ``retention``, ``decay``, ``rebuild``, ``import`` …
        target: What is worked on: a ref, the id of a policy, a fingerprint.
        state: ``running``, ``done``, ``failed`` or ``cancelled``.
        percent: 0..100; None where nobody counted what there is to do.
        per_second: What was done a second since it was last taken up; None: not known.
        attempts: Failures in a row.
        next_try_at: When a worker tries again what failed; None: nobody does.
    """

    id: uuid.UUID
    kind: str
    target: str
    state: str
    actor: str
    started_at: dt.datetime
    heartbeat_at: dt.datetime
    counts: Mapping[str, int] = field(default_factory=dict)
    percent: float | None = None
    per_second: float | None = None
    attempts: int = 0
    error: str = ""
    next_try_at: dt.datetime | None = None
    finished_at: dt.datetime | None = None


@dataclass(frozen=True)
class RunPage:
    """Runs, the newest first.

    Args:
        next_cursor: Where the next page begins; None on the last.
    """

    items: tuple[RunStatus, ...] = ()
    next_cursor: str | None = None


@dataclass(frozen=True)
class FailedText:
    """A text that was given up: it has no vector until somebody retries it.

    Args:
        error: Of the last try; no text content.
    """

    record_id: uuid.UUID
    attempts: int
    failed_at: dt.datetime
    error: str = ""


@dataclass(frozen=True)
class FailedPage:
    """Texts that were given up, the latest first."""

    items: tuple[FailedText, ...] = ()
    next_cursor: str | None = None
