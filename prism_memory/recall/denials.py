"""Access to documents, looked at again after it was found and before it is shown.

A provider may take seconds, in which somebody may lose a grant. What was lost is
withheld, and an audit is told: each document once, and its id nowhere else.
"""

from __future__ import annotations

import datetime as dt
import logging
import uuid
from collections.abc import Collection, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any, Final

from django.db import DatabaseError, InterfaceError, connections, transaction
from django.utils import timezone
from django.utils.module_loading import import_string
from psycopg.errors import QueryCanceled

from prism_memory import signals
from prism_memory.access import Reader, denied_sources, visible
from prism_memory.conf import settings
from prism_memory.types import Denial, DenialReason

logger = logging.getLogger("prism_memory")

UNCHECKED: Final = "all is withheld: access to it could not be checked"

Row = Mapping[str, Any]


@dataclass
class Gate:
    """Who looks again at what one recall found.

    Args:
        shared: Who reads what another thread shares with the reader's.
        denied: Why each source was withheld, so far.
        failed: Access could not be checked.
    """

    using: str
    reader: Reader
    shared: Reader | None = None
    denied: dict[uuid.UUID, tuple[DenialReason, dt.datetime]] = field(
        default_factory=dict
    )
    failed: bool = False

    def kept(self, rows: Mapping[str, Row]) -> set[str]:
        """Return the ids in sight now that say what they said. One query.

        One more where another thread shares something, and where one is not.

        Args:
            rows: By id, which ``version`` was read, and of which ``source_id``.
        """
        at = timezone.now()
        if self.reader.authorization is None:
            return self._kept(rows, at)
        try:
            with self._savepoint():
                return self._kept(rows, at)
        except (DatabaseError, InterfaceError) as error:
            logger.warning("Access was not checked (%s).", type(error).__name__)
            self.failed = True
            sources = (row.get("source_id") for row in rows.values())
            self._note(filter(None, sources), DenialReason.CHECK_FAILED, at)
            if isinstance(error.__cause__, QueryCanceled):
                raise  # the time is over, and so is the recall
            return set()

    def first(self, ids: Collection[str], rows: Mapping[str, Row], n: int) -> list[str]:
        """Return the first ``n`` of the ids that are kept; a query for each ``n``."""
        ordered, kept = list(ids), list[str]()
        for start in range(0, len(ordered), n):
            page = ordered[start : start + n]
            seen = self.kept({i: rows[i] for i in page})
            kept += [i for i in page if i in seen]
            if len(kept) >= n or self.failed:
                break
        return kept[:n]

    def tell(self) -> None:
        """Tell the audit of each source that was withheld, once."""
        denied, self.denied = self.denied, {}
        who = self.reader.authorization
        for source_id, (reason, at) in denied.items():
            denial = Denial(
                self.reader.scope, source_id, reason, who.principal if who else "", at
            )
            signals.access_denied.send_robust(
                sender=Denial, using=self.using, denial=denial, reason=reason
            )
            if settings.ON_DENIAL:
                import_string(settings.ON_DENIAL)(denial)

    def _kept(self, rows: Mapping[str, Row], at: dt.datetime) -> set[str]:
        versions = {i: row["version"] for i, row in rows.items()}
        seen = still_visible(self.using, self.reader, versions, self.shared)
        lost = [uuid.UUID(i) for i in rows.keys() - seen]
        if lost:
            found = denied_sources(using=self.using, reader=self.reader, ids=lost)
            for source_id, reason in found.items():
                self._note([source_id], reason, at)
        return seen

    def _note(
        self, sources: Iterable[uuid.UUID], reason: DenialReason, at: dt.datetime
    ) -> None:
        for source_id in sources:
            self.denied.setdefault(source_id, (reason, at))

    def _savepoint(self) -> AbstractContextManager[None]:
        """A failing check must leave a host's transaction as it was."""
        if not connections[self.using].in_atomic_block:
            return nullcontext()
        savepoint: AbstractContextManager[None] = transaction.atomic(using=self.using)
        return savepoint


def still_visible(
    using: str,
    reader: Reader,
    versions: Mapping[str, int],
    shared: Reader | None = None,
) -> set[str]:
    """Return the ids that are in sight now, and say what they said. One query.

    A provider may take seconds, in which somebody may withdraw or correct a record.

    Args:
        versions: By id, which state of the record was read.
        shared: Who reads what another thread shares, if anybody: a query more.
    """
    found: set[str] = set()
    for one in filter(None, (reader, shared)):
        now = replace(one, at=timezone.now())
        rows = visible(using=using, reader=now).filter(id__in=[*versions])
        pairs = ((str(i), version) for i, version in rows.values_list("id", "version"))
        found |= {i for i, version in pairs if versions[i] == version}
    return found
