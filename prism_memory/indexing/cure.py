"""Mend what the examination found, where that is safe: online, and nothing is lost."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from django.db import connections
from psycopg import sql

from prism_memory.db import queries
from prism_memory.db.queries import composed, named
from prism_memory.errors import Unsupported
from prism_memory.indexing.enqueue import enqueue_missing, requeue_stale
from prism_memory.indexing.hnsw import create_index, drop_named_index
from prism_memory.indexing.recount import recount
from prism_memory.indexing.spaces import Space, space_of
from prism_memory.models import EmbeddingSpace, Record
from prism_memory.types.findings import Finding

ROWS: Final = 1_000


def cure(*, using: str, finding: Finding) -> int:
    """Mend one finding; return how many rows were touched, or 1.

    Raises:
        Unsupported: Inside a transaction, or it is none that can be mended.
        Conflict: Somebody builds the index at this moment.
    """
    if connections[using].in_atomic_block and finding.kind in OUTSIDE:
        message = "This is mended outside any transaction."
        raise Unsupported(message)
    mend = CURES.get(finding.kind)
    if mend is None or not finding.curable:
        message = f"{finding.kind} is for a person to decide."
        raise Unsupported(message)
    return mend(using, finding)


def _indexed(using: str, finding: Finding) -> int:
    create_index(using=using, space=_space(using, finding))
    return 1


def _dropped(using: str, finding: Finding) -> int:
    drop_named_index(using=using, name=finding.subject)
    return 1


def _declared(using: str, finding: Finding) -> int:
    """Make an index that the models declare anew, without blocking writers."""
    (index,) = (one for one in Record._meta.indexes if one.name == finding.subject)  # noqa: SLF001
    drop_named_index(using=using, name=index.name)
    with connections[using].schema_editor(atomic=False) as editor:
        editor.execute(index.create_sql(Record, editor, concurrently=True), params=None)
    return 1


def _analyzed(using: str, finding: Finding) -> int:
    return _tended("analyze_table", using, finding)


def _vacuumed(using: str, finding: Finding) -> int:
    return _tended("vacuum_table", using, finding)


def _tended(name: str, using: str, finding: Finding) -> int:
    table = sql.Identifier(finding.subject)
    queries.execute(using, composed("doctor", name, table=table), {})
    return 1


def _in_batches(name: str) -> Callable[[str, Finding], int]:
    def mend(using: str, finding: Finding) -> int:
        given = {
            "tenant": finding.tenant,
            "space_id": finding.space_id,
            "dimensions": _space(using, finding).identity.dimensions,
            "rows": ROWS,
        }
        count = 0
        while touched := queries.execute(using, named("doctor")[name], given):
            count += touched
        if name == "delete_orphans":
            _of_tenant(recount)(using, finding)
        return count

    return mend


def _of_tenant(verb: Callable[..., int]) -> Callable[[str, Finding], int]:
    def mend(using: str, finding: Finding) -> int:
        space = _space(using, finding)
        return verb(using=using, tenant=finding.tenant, space=space)

    return mend


def _space(using: str, finding: Finding) -> Space:
    rows: Any = EmbeddingSpace.objects.using(using)
    return space_of(rows.get(id=finding.space_id))


CURES: Final[Mapping[str, Callable[[str, Finding], int]]] = {
    "index_missing": _indexed,
    "index_invalid": _indexed,
    "index_wanted": _indexed,
    "index_left_over": _dropped,
    "record_index_missing": _declared,
    "record_index_invalid": _declared,
    "statistics_missing": _analyzed,
    "statistics_old": _analyzed,
    "table_bloated": _vacuumed,
    "vectors_orphaned": _in_batches("delete_orphans"),
    "width_drift": _in_batches("requeue_drifted"),
    "vectors_missing": _of_tenant(enqueue_missing),
    "vectors_stale": _of_tenant(requeue_stale),
    "counts_off": _of_tenant(recount),
}

OUTSIDE: Final = frozenset(
    kind
    for kind, mend in CURES.items()
    if mend in {_indexed, _dropped, _declared, _vacuumed}
)
"""What PostgreSQL does outside transactions alone."""
