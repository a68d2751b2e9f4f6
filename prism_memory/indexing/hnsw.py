"""The HNSW index of a space: made online, by a command, never by a migration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from django.db import DatabaseError, connections
from psycopg import sql
from psycopg.errors import DeadlockDetected, DuplicateTable

from prism_memory.db import queries
from prism_memory.db.queries import composed, named
from prism_memory.errors import Conflict, Unsupported
from prism_memory.indexing.spaces import Space, forget_known

M: Final = 24
EF_CONSTRUCTION: Final = 128
"""With pgvector's own 16 and 64, a filtered scan misses one neighbour in a hundred;
with these none of 32 was missed (docs/benchmarks.md)."""


@dataclass(frozen=True)
class IndexState:
    """An index as PostgreSQL knows it.

    Args:
        m: Links of a node; 0 where there is no index.
        ef_construction: Candidates while it was built.
    """

    name: str
    exists: bool
    valid: bool
    bytes: int
    m: int = 0
    ef_construction: int = 0


def index_name(space: Space) -> str:
    """Return the name of the index of ``space``."""
    return f"prism_memory_hnsw_{space.id}"


def index_state(*, using: str, space: Space) -> IndexState:
    """Return whether the index exists and is whole. One query."""
    name = index_name(space)
    rows = queries.fetch(using, named("indexing")["index_state"], {"name": name})
    if not rows:
        return IndexState(name, exists=False, valid=False, bytes=0)
    return IndexState(name, exists=True, **rows[0])


def create_index(
    *,
    using: str,
    space: Space,
    m: int | None = None,
    ef_construction: int | None = None,
    memory_megabytes: int = 256,
) -> IndexState:
    """Make the index without blocking writers; one left half made is made anew.

    Args:
        m: Links of a node, 2 to 100; ``M`` when None.
        ef_construction: Candidates while building, 4 to 1,000; ``EF_CONSTRUCTION``
            when None.
        memory_megabytes: ``maintenance_work_mem`` while building.

    Raises:
        Unsupported: Inside a transaction, where PostgreSQL cannot do it.
        Conflict: It exists, with other parameters than are asked for, or another
            process builds it at this moment.
    """
    if connections[using].in_atomic_block:
        message = "An index is built outside any transaction."
        raise Unsupported(message)
    state = index_state(using=using, space=space)
    if state.valid:
        _refuse_other_parameters(state, m, ef_construction)
    else:
        refuse_while_built(using=using, space=space)
        if state.exists:
            _drop(using, space)
        parameters = {
            "m": m or M,
            "ef_construction": ef_construction or EF_CONSTRUCTION,
        }
        _build(using, space, parameters, memory_megabytes)
    _set_mode(using, space, "hnsw")
    return index_state(using=using, space=space)


def _refuse_other_parameters(
    state: IndexState, m: int | None, ef_construction: int | None
) -> None:
    if m in (None, state.m) and ef_construction in (None, state.ef_construction):
        return
    message = (
        f"{state.name} exists already with m={state.m},"
        f" ef_construction={state.ef_construction}; drop it first to make it anew."
    )
    raise Conflict(message)


def is_being_built(*, using: str, space: Space) -> bool:
    """Tell whether somebody builds the index now. One query."""
    given = {"name": index_name(space)}
    return bool(queries.fetch(using, named("indexing")["index_builders"], given))


def refuse_while_built(*, using: str, space: Space) -> None:
    """Check that nobody builds the index now. One query.

    Raises:
        Conflict: Somebody does. To drop it now would wait for that build and undo it.
    """
    given = {"name": index_name(space)}
    for row in queries.fetch(using, named("indexing")["index_builders"], given):
        message = f"Backend {row['pid']} of the server builds {given['name']} now."
        raise Conflict(message)


def drop_index(*, using: str, space: Space) -> None:
    """Drop the index; recall then scans exactly, and stays right.

    Raises:
        Conflict: Another process builds it at this moment.
    """
    refuse_while_built(using=using, space=space)
    _set_mode(using, space, "none")
    _drop(using, space)


def _set_mode(using: str, space: Space, mode: str) -> None:
    given = {"mode": mode, "space_id": space.id}
    queries.execute(using, named("indexing")["set_index_mode"], given)
    forget_known(using=using, alias=space.alias)


def _drop(using: str, space: Space) -> None:
    drop_named_index(using=using, name=index_name(space))


def drop_named_index(*, using: str, name: str) -> None:
    """Drop an index without blocking anybody, if it is there."""
    index = sql.Identifier(name)
    queries.execute(using, composed("indexing", "drop_index", name=index), {})


def reindex(*, using: str, name: str) -> None:
    """Make an index anew without blocking anybody.

    Raises:
        Unsupported: Inside a transaction.
    """
    if connections[using].in_atomic_block:
        message = "An index is built outside any transaction."
        raise Unsupported(message)
    index = sql.Identifier(name)
    queries.execute(using, composed("indexing", "remake_index", name=index), {})


def _build(
    using: str, space: Space, parameters: dict[str, int], memory_megabytes: int
) -> None:
    statement = composed(
        "indexing",
        "create_index",
        name=sql.Identifier(index_name(space)),
        dimensions=space.identity.dimensions,
        space_id=space.id,
        **parameters,
    )
    with connections[using].cursor() as cursor:
        memory = f"{memory_megabytes}MB"
        cursor.execute("SELECT set_config('maintenance_work_mem', %s, false)", [memory])
        try:
            cursor.execute(statement)
        except DatabaseError as error:
            # Two that began in one moment: each waits for the other's transaction.
            if not isinstance(error.__cause__, (DuplicateTable, DeadlockDetected)):
                raise
            message = f"Another process began {index_name(space)} in this moment."
            raise Conflict(message) from error
        finally:
            cursor.execute("RESET maintenance_work_mem")
