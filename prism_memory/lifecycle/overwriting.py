"""What stands where a batch is written, and what of it refuses to be overwritten."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from prism_memory import access, integrity
from prism_memory.db import queries
from prism_memory.db.queries import composed
from prism_memory.errors import Conflict, Unsupported
from prism_memory.lifecycle.entries import Identity, Row
from prism_memory.types import Authorization, Consent, Scope


class SourcesLeft(Exception):
    """Records of the batch would leave sources that nobody has locked yet."""

    def __init__(self, sources: frozenset[uuid.UUID]) -> None:
        super().__init__(sources)
        self.sources = sources


def refuse_edited(using: str, scope: Scope, rows: Sequence[Row]) -> None:
    """Keep the app from signing what an edit behind its back left in a row."""
    if integrity.keyring() is not None:
        ids = [found["id"] for found in find(using, scope, rows)]
        integrity.require_intact(using=using, tenant=scope.tenant, record_ids=ids)


def refuse_unseen(upserted: Sequence[Mapping[str, Any]]) -> None:
    """Refuse to have overwritten what may be held, as far as the upsert could see.

    Raises:
        Conflict: A hold keeps one of them.
        Unsupported: The transaction sees no hold that came after its beginning.
    """
    if any(row["was_held"] for row in upserted):
        raise held()
    levels = {row["isolation"] for row in upserted if row["overwritten"]}
    if others := levels - {"read committed"}:
        message = (
            "Records are overwritten in READ COMMITTED transactions only, not in "
            f"{others.pop().upper()}."
        )
        raise Unsupported(message)


def find(
    using: str,
    scope: Scope,
    rows: Sequence[Row],
    authorization: Authorization | None = None,
) -> list[dict[str, Any]]:
    """Return what stands under the rows' identities. One query, none without rows.

    Args:
        authorization: As whom restricted documents are read: what draws upon others is
            ``closed``.
    """
    if not rows:
        return []
    names = ("kinds", "namespaces", "partitions", "keys")
    columns = zip(*(row.identity for row in rows), strict=True)
    given = {
        **{name: list(column) for name, column in zip(names, columns, strict=True)},
        "tenant": scope.tenant,
        "scope_id": scope.id,
        **access.granted_to(authorization=authorization),
    }
    parts = {"held": access.held(), "closed": access.closed()}
    statement = composed("remember", "find_records", **parts)
    return queries.fetch(using, statement, given)


def identity(found: Mapping[str, Any]) -> Identity:
    """Return what makes a row that was found one record in its scope."""
    return (found["kind"], found["namespace"], found["partition"], found["key"])


def refuse_conflict(
    row: Row, found: Mapping[str, Any], *, changed: bool, frozen: bool
) -> None:
    """Refuse a row that what stands in its place does not allow.

    Args:
        changed: It was written anew.
        frozen: So that facts that cite it would rest on something else: its words, its
            gate, its validity or who vouches for it. Where it stands may change.

    Raises:
        Conflict: See ``remember``.
    """
    _refuse_restricted(row, found)
    # A hold that hides nothing lets the same words be remembered again.
    if found["revoked"] or found["stopped"] or (found["held"] and changed):
        raise held()
    if found["blocked"] and changed:
        raise blocked()
    if found["cited"] and frozen:
        message = (
            "Facts cite the record: it is corrected or forgotten, not overwritten."
        )
        raise Conflict(message, field="key")
    if row.key == row.sha256.hex() and bytes(found["sha256"]) != row.sha256:
        message = "These words were corrected; to remember them anew, give a key."
        raise Conflict(message, field="key")
    if row.entry.consent is not None:
        _refuse_other_consent(row.entry.consent, found)


def _refuse_restricted(row: Row, found: Mapping[str, Any]) -> None:
    """Refuse also the same words: who may not read them would learn that they are."""
    if found["closed"]:
        message = "A record that draws upon a document you may not read has that key."
        raise Conflict(message, field="key")
    place = None if row.entry.source is None else row.entry.source.key
    if found["restricted_to"] not in (None, place):
        message = "A record does not leave a restricted source."
        raise Conflict(message, field="source")


def held() -> Conflict:
    """Return what a held record answers."""
    message = "A revoked or held record cannot be overwritten."
    return Conflict(message, field="key")


def blocked() -> Conflict:
    """Return what a record answers that something else keeps out of sight."""
    message = "The record is blocked by what it was derived from; forget it first."
    return Conflict(message, field="key")


def _refuse_other_consent(consent: Consent, found: Mapping[str, Any]) -> None:
    mine = (consent.source.value, consent.scope.value, consent.visible)
    stored = (found["consent_source"], found["consent_scope"], found["visible"])
    if mine != stored:
        message = "Remembering again does not change a consent; set_consent does."
        raise Conflict(message, field="consent")
