"""Make the index texts of records anew: page by page, as a run that can be resumed.

For a setting ``SITUATE`` that changed, and to make full text anew from what is stored
(B290). The words themselves, and index texts that a caller gave, stay as they are.
"""

from __future__ import annotations

import datetime as dt
import json
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.db import transaction

from prism_memory import integrity, runs
from prism_memory.conf import settings
from prism_memory.db import queries
from prism_memory.db.queries import named
from prism_memory.db.tenancy import for_tenant
from prism_memory.lifecycle.situating import FULL_TEXT, VECTOR, index_texts
from prism_memory.models import Run, RunState
from prism_memory.redaction import Redaction
from prism_memory.types import NIL, Actor, Entry, Kind

KIND: Final = "situate"
PAGE_ROWS: Final = 200
Texts = dict[str, str | None]


@dataclass(frozen=True)
class Resituated:
    """How far it is.

    Args:
        seen: Records looked at.
        changed: Those whose index texts are others now.
        done: Nothing is left.
    """

    seen: int = 0
    changed: int = 0
    done: bool = False


@for_tenant
def resituate(
    *,
    using: str,
    tenant: str,
    actor: Actor,
    at: dt.datetime,
    whole: bool = False,
    rows: int = PAGE_ROWS,
    max_seconds: float | None = None,
    anew: bool = False,
) -> Resituated:
    """Give a tenant's records the index texts that the settings ask for.

    Safe beside readers and writers, and to repeat. A transaction a page; its place is
    saved in it. Vectors that are of another text then are left standing: ``fill`` or a
    rebuild makes them anew.

    Args:
        whole: Write every row, so that PostgreSQL makes its full text anew.
        max_seconds: Begin no further page after that.
        anew: From the first record on, wherever the last one stopped.

    Raises:
        Conflict: Another process is on it.
    """
    target = f"situate:{settings.SITUATE}{':whole' if whole else ''}"
    run = runs.begin(
        using=using,
        tenant=tenant,
        kind=KIND,
        target=target,
        actor=actor,
        at=at,
        anew=anew,
    )
    work = _Work(using, run, rows, whole)
    began = time.monotonic()
    with runs.failing(run, using=using):
        while max_seconds is None or time.monotonic() - began < max_seconds:
            now = at + dt.timedelta(seconds=time.monotonic() - began)
            if work.page(now) < rows:
                runs.finish(run, using=using, state=RunState.DONE, at=now)
                return _so_far(run, done=True)
    return _so_far(run, done=False)


@dataclass(frozen=True)
class _Work:
    """What is the same in all pages of one run."""

    using: str
    run: Run
    rows: int
    whole: bool

    def page(self, at: dt.datetime) -> int:
        """Do one page, and note in its transaction how far it is; return its rows."""
        using, run = self.using, self.run
        with transaction.atomic(using=using):
            after = uuid.UUID(run.cursor.get("after", NIL.hex))
            given = {"tenant": run.tenant, "after": after, "rows": self.rows}
            page = queries.fetch(using, named("situate")["page"], given)
            ids = [row["id"] for row in page]
            changed = _page(using, run.tenant, ids, whole=self.whole) if ids else 0
            _advance(run, using, ids, changed, at)
        return len(ids)


def _page(using: str, tenant: str, ids: Sequence[uuid.UUID], *, whole: bool) -> int:
    given = {"tenant": tenant, "ids": list(ids)}
    found = queries.fetch(using, named("situate")["lock"], given)
    redaction = Redaction.configured()
    anew = {row["id"]: texts_of(row, redaction) for row in found}
    changed = [row["id"] for row in found if anew[row["id"]] != _stored(row)]
    written = [row["id"] for row in found] if whole else changed
    if written:
        with integrity.carried(using=using, tenant=tenant, record_ids=written):
            _write(using, tenant, written, anew)
    return len(changed)


def texts_of(row: Mapping[str, Any], redaction: Redaction) -> Texts:
    """Return the index texts of a record as the settings ask for them.

    One that is not what we would have made is the caller's own, and wins.
    """
    entry = Entry(
        row["text"],
        metadata=json.loads(row["metadata"]),
        happened_at=row["happened_at"],
    )
    speaker = redaction.text(row["writer"]) if row["kind"] == Kind.TURN else ""
    found = index_texts(entry, speaker=speaker)
    ours = {name: redaction.mask(text) for name, text in found.items()}
    wanted = {} if settings.SITUATE == "off" else ours
    return {
        name: wanted.get(name) if stored is None or stored == ours.get(name) else stored
        for name, stored in _stored(row).items()
    }


def _stored(row: Mapping[str, Any]) -> Texts:
    return {name: row[name] for name in (FULL_TEXT, VECTOR)}


def _write(
    using: str, tenant: str, ids: Sequence[uuid.UUID], texts: Mapping[uuid.UUID, Texts]
) -> None:
    given = {
        "tenant": tenant,
        "ids": list(ids),
        "lexical_texts": [texts[record_id][FULL_TEXT] for record_id in ids],
        "embed_texts": [texts[record_id][VECTOR] for record_id in ids],
    }
    queries.execute(using, named("situate")["write"], given)
    queries.execute(using, named("situate")["requeue"], given)


def _advance(
    run: Run, using: str, ids: Sequence[uuid.UUID], changed: int, at: dt.datetime
) -> None:
    after = ids[-1].hex if ids else run.cursor.get("after", NIL.hex)
    counts = {
        "seen": run.counts.get("seen", 0) + len(ids),
        "changed": run.counts.get("changed", 0) + changed,
    }
    runs.advance(run, using=using, cursor={"after": after}, counts=counts, at=at)


def _so_far(run: Run, *, done: bool) -> Resituated:
    counts = run.counts
    return Resituated(counts.get("seen", 0), counts.get("changed", 0), done)
