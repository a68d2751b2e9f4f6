"""Claim texts off the queue, write their vectors, or put them back.

Each function is one short transaction; none calls the embedder. A claim is fenced by
its own end: who lost it to another drain can put nothing back.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import uuid
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.db import transaction

from prism_memory.conf import settings
from prism_memory.db import queries
from prism_memory.db.queries import named, vector_text
from prism_memory.indexing.copies import want
from prism_memory.indexing.spaces import Space
from prism_memory.runs import back_off_seconds
from prism_memory.types import Vector

ERROR_CHARACTERS: Final = 500


@dataclass(frozen=True)
class Queue:
    """What waits in a space for one tenant."""

    using: str
    tenant: str
    space: Space

    @property
    def place(self) -> dict[str, Any]:
        """The parameters that every statement on it takes."""
        return {
            "tenant": self.tenant,
            "space_id": self.space.id,
            "attempts": settings.EMBED_ATTEMPTS,
        }


@dataclass(frozen=True)
class Claimed:
    """A text that this drain holds for a while."""

    record_id: uuid.UUID
    sha256: bytes
    attempts: int
    claimed_until: dt.datetime
    text: str

    @property
    def is_of_its_text(self) -> bool:
        """Whether the text is the one that the queue asks for.

        Not where it changed while it was claimed: the statement read the record as it
        was before, and the queue's row as it is now.
        """
        return hashlib.sha256(self.text.encode()).digest() == self.sha256


@dataclass(frozen=True)
class Returned:
    """A text that goes back to the queue.

    Args:
        error: Why; no text content.
        blamed: It counts as a try of this text.
        at_once: Without a pause.
    """

    item: Claimed
    error: str
    blamed: bool
    at_once: bool = False

    @property
    def is_last(self) -> bool:
        """Whether this was its last try, so that it is given up."""
        return self.blamed and self.item.attempts >= settings.EMBED_ATTEMPTS

    @property
    def seconds(self) -> float:
        """How long it rests."""
        if self.at_once:
            return 0.0
        return back_off_seconds(self.item.attempts - (not self.blamed))


def claim(
    queue: Queue, rows: int, record_ids: Collection[uuid.UUID] | None
) -> list[Claimed]:
    """Take up to ``rows`` texts that are due, of these records if given."""
    given = {
        **queue.place,
        "rows": rows,
        "claim_seconds": settings.CLAIM_SECONDS,
        "record_ids": None if record_ids is None else list(record_ids),
    }
    found = queries.fetch(queue.using, named("indexing")["claim"], given)
    return [Claimed(**{**row, "sha256": bytes(row["sha256"])}) for row in found]


def write(queue: Queue, vectors: Sequence[tuple[Claimed, Vector]]) -> int:
    """Write vectors whose text is still the one embedded; return how many."""
    if not vectors:
        return 0
    given = {
        **queue.place,
        "record_ids": [item.record_id for item, _ in vectors],
        "sha256s": [item.sha256 for item, _ in vectors],
        "vectors": [vector_text(vector) for _, vector in vectors],
    }
    with transaction.atomic(using=queue.using):
        rows = queries.fetch(queue.using, named("indexing")["write_vectors"], given)
        ids = [row["record_id"] for row in rows]
        want(using=queue.using, tenant=queue.tenant, space=queue.space, record_ids=ids)
        count_vectors(
            queue, Counter(row["scope_id"] for row in rows if not row["counted"])
        )
    return len(rows)


def count_vectors(queue: Queue, added: Counter[uuid.UUID]) -> None:
    """Add to what the planner reads, scope by scope in the order of their ids."""
    for scope_id in sorted(added):
        given = {
            "tenant": queue.tenant,
            "space_id": queue.space.id,
            "scope_id": scope_id,
            "added": added[scope_id],
        }
        queries.execute(queue.using, named("indexing")["count_vectors"], given)


def put_back(queue: Queue, returned: Sequence[Returned]) -> None:
    """Give texts back that have no vector, each with its reason and its pause."""
    if not returned:
        return
    given = {
        **queue.place,
        "record_ids": [back.item.record_id for back in returned],
        "claims": [back.item.claimed_until for back in returned],
        "errors": [back.error[:ERROR_CHARACTERS] for back in returned],
        "seconds": [back.seconds for back in returned],
        "forgivens": [int(not back.blamed) for back in returned],
    }
    queries.execute(queue.using, named("indexing")["put_back"], given)


def give_up(queue: Queue) -> int:
    """Mark texts as failed that were tried as often as it may be; return how many."""
    return queries.execute(queue.using, named("indexing")["give_up"], queue.place)


def retry_failed(*, using: str, tenant: str, space: Space) -> int:
    """Give texts that were given up all their tries again; return how many."""
    given = {"tenant": tenant, "space_id": space.id}
    return queries.execute(using, named("indexing")["retry"], given)
