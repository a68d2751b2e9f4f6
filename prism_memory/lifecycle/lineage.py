"""Write down what records are derived from."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Iterable, Mapping, Sequence, Set

from prism_memory import access
from prism_memory.db import queries
from prism_memory.db.queries import composed, named
from prism_memory.errors import Invalid, NotVisible
from prism_memory.lifecycle.tombstones import inherit, lift_left
from prism_memory.types import RECORD, ReadMode, Scope, record_ref

EXTERNAL = "ext:"


def write_edges(
    *,
    using: str,
    scope: Scope,
    sources: Mapping[uuid.UUID, Sequence[str]],
    at: dt.datetime,
    known: Set[uuid.UUID] = frozenset(),
    anew: Set[uuid.UUID] = frozenset(),
) -> frozenset[uuid.UUID]:
    """Replace the lineage of records; return those whose lineage is another now.

    What blocks a source blocks them too, from their first moment on; corrections of
    what they no longer derive from do not any more. Two to seven queries.

    Args:
        sources: For each record, the ids that the caller gave.
        known: Those that were there before.
        anew: Those of them that have other words, whatever their lineage was.

    Raises:
        NotVisible: A ref names a record that is neither in sight (B8), nor shared
            with this scope.
    """
    refs = _resolve(using, scope, {i for ids in sources.values() for i in ids}, at)
    edges = [
        (record_id, ref, position)
        for record_id, ids in sources.items()
        for position, ref in enumerate(dict.fromkeys(refs[i] for i in ids))
    ]
    sql = named("remember")
    given = {
        "tenant": scope.tenant,
        "record_ids": list(sources),
        "edge_record_ids": [record_id for record_id, _, _ in edges],
        "source_refs": [ref for _, ref, _ in edges],
        "positions": [position for _, _, position in edges],
    }
    changed = queries.fetch(using, sql["clear_lineage"], given)
    if edges:
        changed += queries.fetch(using, sql["insert_lineage"], given)
    changed_ids = frozenset(row["record_id"] for row in changed)
    if again := known & (changed_ids | anew):
        lift_left(using=using, tenant=scope.tenant, record_ids=again, at=at)
    if edges:
        inherit(using=using, tenant=scope.tenant, record_ids=list(sources), at=at)
    return changed_ids


def _resolve(
    using: str, scope: Scope, ids: Iterable[str], at: dt.datetime
) -> dict[str, str]:
    ids = list(ids)
    records = {i: _record_id(i) for i in ids if i.startswith(RECORD)}
    _check_visible(using, scope, records.values(), at)
    inside = {i: record_ref(record_id) for i, record_id in records.items()}
    keys = [i for i in ids if not i.startswith((RECORD, EXTERNAL))]
    found = _find_keys(using, scope, keys)
    outside = {i: f"{EXTERNAL}{scope.id}:{i}" for i in keys if i not in found}
    named_outside = {i: _external(scope, i) for i in ids if i.startswith(EXTERNAL)}
    return {**inside, **found, **outside, **named_outside}


def _external(scope: Scope, ref: str) -> str:
    place, _, name = ref.removeprefix(EXTERNAL).partition(":")
    if not name or place not in {str(level.id) for level in scope.chain()}:
        raise NotVisible(field="lineage.source_ids")
    return ref


def _record_id(ref: str) -> uuid.UUID:
    try:
        return uuid.UUID(ref.removeprefix(RECORD))
    except ValueError:
        message = "lineage.source_ids holds a ref that is no record:<uuid>."
        raise Invalid(message, field="lineage.source_ids") from None


def _scope_ids(scope: Scope) -> list[uuid.UUID]:
    return [level.id for level in scope.visible(ReadMode.CHAIN)]


def _check_visible(
    using: str, scope: Scope, ids: Iterable[uuid.UUID], at: dt.datetime
) -> None:
    wanted = set(ids)
    if not wanted:
        return
    given = {
        "tenant": scope.tenant,
        "scope_ids": _scope_ids(scope),
        "ids": list(wanted),
    }
    rows = queries.fetch(using, named("remember")["resolve_ids"], given)
    beyond = wanted - {row["id"] for row in rows}
    if beyond and beyond != find_shared(using=using, scope=scope, ids=beyond, at=at):
        raise NotVisible(field="lineage.source_ids")


def find_shared(
    *, using: str, scope: Scope, ids: Iterable[uuid.UUID], at: dt.datetime
) -> set[uuid.UUID]:
    """Return those that another thread shares with exactly ``scope``. One query."""
    given = {
        "tenant": scope.tenant,
        "ids": list(ids),
        "at": at,
        **access.child_parameters(scope=scope),
    }
    statement = composed("remember", "resolve_shared", shared=access.shared())
    return {row["id"] for row in queries.fetch(using, statement, given)}


def _find_keys(using: str, scope: Scope, keys: Sequence[str]) -> dict[str, str]:
    if not keys:
        return {}
    given = {"tenant": scope.tenant, "scope_ids": _scope_ids(scope), "keys": keys}
    rows = queries.fetch(using, named("remember")["resolve_keys"], given)
    return {row["key"]: record_ref(row["id"]) for row in rows}
