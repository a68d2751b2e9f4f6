"""Remember entries: all of them, or none."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.db import transaction

from prism_memory import access, integrity, signals
from prism_memory.db import queries
from prism_memory.db.queries import composed, named
from prism_memory.errors import Conflict
from prism_memory.lifecycle.decisions import note_decisions
from prism_memory.lifecycle.entries import Identity, Row
from prism_memory.lifecycle.governed import any_held
from prism_memory.lifecycle.lineage import write_edges
from prism_memory.lifecycle.queueing import enqueue, wake
from prism_memory.lifecycle.scopes import ensure_scope
from prism_memory.lifecycle.tombstones import hold_lineage
from prism_memory.types import Actor, Consent, Scope, uuid7


@dataclass(frozen=True)
class Stored:
    """What a remember did.

    Args:
        ids: The record of each entry, in the caller's order.
        changed: Those that are new or changed.
        pending: Those that wait for their vector, also from before.
    """

    ids: tuple[uuid.UUID, ...]
    changed: frozenset[uuid.UUID]
    pending: frozenset[uuid.UUID]


def remember(
    *,
    using: str,
    scope: Scope,
    actor: Actor,
    rows: Sequence[Row],
    embedder: str,
    at: dt.datetime,
    wakes: bool = True,
) -> Stored:
    """Store prepared rows at exactly ``scope``, and queue them for embedding.

    Rows identical to what is stored change nothing. Four to sixteen queries,
    whatever the number of rows.

    Args:
        embedder: Alias whose live spaces get a pending vector for each row.
        at: Time of writing.
        wakes: Tell the worker; False for a caller who embeds by itself.

    Raises:
        Conflict: A row would overwrite a revoked or held record, or one that was edited
            behind the app's back; change a consent; or bring back corrected words.
        NotVisible: A lineage ref names a record that is not in sight.
    """
    if not rows:
        return Stored((), frozenset(), frozenset())
    with transaction.atomic(using=using):
        if any(row.entry.lineage for row in rows):
            hold_lineage(using=using, tenant=scope.tenant)
        ensure_scope(using=using, scope=scope, at=at)
        ids, changed = _write(using, scope, rows, at)
        _write_lineage(using, scope, rows, ids, at)
        _note_consents(using, scope, rows, ids, actor, at)
        texts = {ids[row.identity]: row.embed_sha256 for row in rows}
        pending, queued = enqueue(
            using=using, scope=scope, texts=texts, embedder=embedder
        )
        _announce(using, scope, changed)
        if wakes and queued:
            wake(using=using, scope=scope, embedder=embedder)
    ordered = tuple(ids[row.identity] for row in rows)
    return Stored(ordered, frozenset(changed), pending)


def _write(
    using: str, scope: Scope, rows: Sequence[Row], at: dt.datetime
) -> tuple[dict[Identity, uuid.UUID], list[uuid.UUID]]:
    distinct = {row.identity: row for row in rows}
    sources = _ensure_sources(using, scope, distinct.values(), at)
    given = {
        **_columns(list(distinct.values()), sources),
        "tenant": scope.tenant,
        "scope_id": scope.id,
        "at": at,
    }
    _refuse_edited(using, scope, list(distinct.values()))
    statement = composed("remember", "upsert_records", held=access.held())
    upserted = queries.fetch(using, statement, given)
    if any(row["was_held"] for row in upserted):
        raise _held()
    written = [row["id"] for row in upserted]
    new = set(written)
    ids = {row.identity: row.id for row in distinct.values() if row.id in new}
    known = [row for row in distinct.values() if row.id not in new]
    for found in _find(using, scope, known):
        _refuse_conflict(distinct[_identity(found)], found, changed=found["id"] in new)
        ids[_identity(found)] = found["id"]
    integrity.sign(using=using, tenant=scope.tenant, record_ids=written)
    return ids, written


def _refuse_edited(using: str, scope: Scope, rows: Sequence[Row]) -> None:
    """Keep the app from signing what an edit behind its back left in a row."""
    if integrity.keyring() is not None:
        ids = [found["id"] for found in _find(using, scope, rows)]
        integrity.require_intact(using=using, tenant=scope.tenant, record_ids=ids)


def _find(using: str, scope: Scope, rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Return what was stored before under the rows' identities."""
    if not rows:
        return []
    names = ("kinds", "namespaces", "partitions", "keys")
    columns = zip(*(row.identity for row in rows), strict=True)
    given = {
        **{name: list(column) for name, column in zip(names, columns, strict=True)},
        "tenant": scope.tenant,
        "scope_id": scope.id,
    }
    statement = composed("remember", "find_records", held=access.held())
    return queries.fetch(using, statement, given)


def _refuse_conflict(row: Row, found: dict[str, Any], *, changed: bool) -> None:
    # A hold that hides nothing lets the same words be remembered again.
    if found["revoked"] or found["stopped"] or (found["held"] and changed):
        raise _held()
    if row.key == row.sha256.hex() and bytes(found["sha256"]) != row.sha256:
        message = "These words were corrected; to remember them anew, give a key."
        raise Conflict(message, field="key")
    if row.entry.consent is not None:
        _refuse_other_consent(row.entry.consent, found)


def _held() -> Conflict:
    message = "A revoked or held record cannot be overwritten."
    return Conflict(message, field="key")


def _refuse_other_consent(consent: Consent, found: dict[str, Any]) -> None:
    mine = (consent.source.value, consent.scope.value, consent.visible)
    stored = (found["consent_source"], found["consent_scope"], found["visible"])
    if mine != stored:
        message = "Remembering again does not change a consent; set_consent does."
        raise Conflict(message, field="consent")


def _ensure_sources(
    using: str, scope: Scope, rows: Iterable[Row], at: dt.datetime
) -> dict[str, uuid.UUID]:
    first: dict[str, Row] = {}
    for row in rows:
        if row.entry.source:
            first.setdefault(row.entry.source.key, row)
    if not first:
        return {}
    given = {
        "tenant": scope.tenant,
        "scope_id": scope.id,
        "at": at,
        "ids": [uuid7() for _ in first],
        "keys": list(first),
        "uris": [row.entry.source.uri for row in first.values() if row.entry.source],
        "trusts": [row.origin.trust.value for row in first.values()],
        "writers": [row.origin.writer for row in first.values()],
    }
    sql = named("remember")
    found: list[dict[str, Any]] = []
    while len(found) < len(first):  # one that was empty may just be removed
        queries.execute(using, sql["ensure_sources"], given)
        found = queries.fetch(using, sql["find_sources"], given)
    return {row["key"]: row["id"] for row in found}


def _identity(found: dict[str, Any]) -> Identity:
    return (found["kind"], found["namespace"], found["partition"], found["key"])


def _columns(rows: Sequence[Row], sources: dict[str, uuid.UUID]) -> dict[str, Any]:
    entries = [row.entry for row in rows]
    consents = [entry.consent for entry in entries]
    places = [entry.source for entry in entries]
    return {
        "ids": [row.id for row in rows],
        "numbered": [row.id for row in rows if row.entry.sequence is not None],
        "kinds": [entry.kind.value for entry in entries],
        "tiers": [entry.tier.value for entry in entries],
        "namespaces": [entry.namespace for entry in entries],
        "partitions": [entry.partition for entry in entries],
        "keys": [row.key for row in rows],
        "texts": [entry.text for entry in entries],
        "lexical_texts": [row.lexical_text for row in rows],
        "embed_texts": [row.embed_text for row in rows],
        "languages": [row.language for row in rows],
        "sha256s": [row.sha256 for row in rows],
        "sequences": [entry.sequence for entry in entries],
        "importances": [entry.importance for entry in entries],
        "metadatas": [row.metadata_json for row in rows],
        "trusts": [row.origin.trust.value for row in rows],
        "writers": [row.origin.writer for row in rows],
        "consent_sources": [c.source.value if c else None for c in consents],
        "consent_scopes": [c.scope.value if c else None for c in consents],
        "visibles": [c.visible if c else None for c in consents],
        "granted_ats": [c.granted_at if c else None for c in consents],
        "default_sources": [row.default_consent for row in rows],
        "source_ids": [sources[place.key] if place else None for place in places],
        "ordinals": [place.ordinal if place else None for place in places],
        "happened_ats": [entry.happened_at for entry in entries],
        "expires_ats": [entry.expires_at for entry in entries],
        "valid_froms": [entry.valid_from for entry in entries],
        "valid_tos": [entry.valid_to for entry in entries],
    }


def _write_lineage(
    using: str,
    scope: Scope,
    rows: Sequence[Row],
    ids: dict[Identity, uuid.UUID],
    at: dt.datetime,
) -> None:
    sources = {
        ids[row.identity]: row.entry.lineage.source_ids
        for row in rows
        if row.entry.lineage is not None
    }
    if not sources:
        return
    changed = write_edges(using=using, scope=scope, sources=sources, at=at)
    known = changed - {row.id for row in rows}
    if known and any_held(using=using, tenant=scope.tenant, record_ids=known):
        raise _held()


def _note_consents(
    using: str,
    scope: Scope,
    rows: Iterable[Row],
    ids: dict[Identity, uuid.UUID],
    actor: Actor,
    at: dt.datetime,
) -> None:
    """Note the consents that new records came with, not those that are assumed."""
    given = [
        row.id
        for row in rows
        if row.entry.consent is not None and ids[row.identity] == row.id
    ]
    if given:
        note_decisions(
            using=using, tenant=scope.tenant, actor=actor, record_ids=given, at=at
        )


def _announce(using: str, scope: Scope, changed: Sequence[uuid.UUID]) -> None:
    if changed:
        send = partial(
            signals.remembered.send_robust,
            sender=Scope,
            scope=scope,
            ids=tuple(changed),
        )
        transaction.on_commit(send, using=using, robust=True)
