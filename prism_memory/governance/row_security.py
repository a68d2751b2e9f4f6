"""Row-level security: PostgreSQL's own guard in front of every tenant's rows.

It guards against a filter that was forgotten, a raw cursor, and a connection that comes
out of a pool with somebody's transaction: not against code that may itself set
``prism_memory.tenant``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from django.apps import apps
from django.db import connections, transaction
from django.db.migrations.recorder import MigrationRecorder
from django.db.models import CompositePrimaryKey, Model
from psycopg import sql

from prism_memory.db import queries
from prism_memory.db.constraints import TenantKey
from prism_memory.db.queries import named
from prism_memory.db.tenancy import INSTALLATION
from prism_memory.errors import Invalid, Misconfigured

POLICY: Final = "prism_memory_tenant"
MIGRATIONS: Final = MigrationRecorder.Migration._meta.db_table  # noqa: SLF001


@dataclass(frozen=True)
class Role:
    """A role of the database.

    Args:
        unbound: Why no policy binds it, or empty.
    """

    name: str
    unbound: str = ""


@dataclass(frozen=True)
class Table:
    """How one table is guarded.

    Args:
        owned: The role that asks is its owner, or of its owner's.
    """

    name: str
    enabled: bool
    forced: bool
    policy: bool
    owner: str
    owned: bool

    @property
    def guarded(self) -> bool:
        """Whether its rows are behind the policy, for its owner too."""
        return self.enabled and self.forced and self.policy


@dataclass(frozen=True)
class Guard:
    """How the whole is guarded, as the role that asks sees it.

    Args:
        leakproof: Full text may use its index under the policies.
    """

    role: Role
    tables: tuple[Table, ...]
    leakproof: bool

    @property
    def on(self) -> bool:
        """Whether every table is guarded."""
        return all(table.guarded for table in self.tables)


def tables() -> list[str]:
    """Return the tables whose rows belong to a tenant, by their keys."""
    found = [model._meta for model in _models()]  # noqa: SLF001
    return sorted(
        meta.db_table
        for meta in found
        if isinstance(meta.pk, CompositePrimaryKey)
        or any(isinstance(one, TenantKey) for one in meta.constraints)
    )


def _models() -> Iterator[type[Model]]:
    yield from apps.get_app_config("prism_memory").get_models()


def enable(*, using: str, role: str = "", leakproof: bool = False) -> Guard:
    """Put every tenant's table behind the policy, for its owner too. One transaction.

    Tables that are guarded stay as they are, so it may be run again after a migration.

    Args:
        role: Is granted what the app needs; the role that the site connects as.
        leakproof: Let full text use its index under the policies: marks the function
            behind ``@@`` LEAKPROOF, which takes a superuser.

    Raises:
        Invalid: No such role.
        Misconfigured: It is a superuser, bypasses policies, or owns the tables.
    """
    with transaction.atomic(using=using):
        if role:
            _check_bound(using, role)
        for table in status(using=using).tables:
            if not table.policy:
                _run(using, "create_policy", table.name)
            if not table.guarded:
                _run(using, "enable", table.name)
        if role:
            _grant(using, role)
        if leakproof:
            queries.execute(using, named("row_security")["make_leakproof"], {})
        return status(using=using)


def disable(*, using: str) -> Guard:
    """Take the policy off every table. One transaction."""
    with transaction.atomic(using=using):
        for table in status(using=using).tables:
            _run(using, "disable", table.name)
            _run(using, "drop_policy", table.name)
        return status(using=using)


def status(*, using: str) -> Guard:
    """Return how the tables are guarded. Three queries."""
    texts = named("row_security")
    given = {"policy": POLICY, "tables": tables()}
    found = tuple(
        Table(
            name=row["table"],
            enabled=row["enabled"],
            forced=row["forced"],
            policy=row["policy"],
            owner=row["owner"],
            owned=row["is_owner"],
        )
        for row in queries.fetch(using, texts["states"], given)
    )
    (mine,) = queries.fetch(using, texts["current_role"], {})
    (proof,) = queries.fetch(using, texts["leakproof"], {})
    unbound = _unbound(
        superuser=mine["superuser"],
        bypasses=mine["bypasses"],
        owns=any(table.owned for table in found),
    )
    return Guard(Role(mine["name"], unbound), found, proof["leakproof"])


def _unbound(*, superuser: bool, bypasses: bool, owns: bool) -> str:
    if superuser:
        return "it is a superuser"
    if bypasses:
        return "it has BYPASSRLS"
    return "it owns the tables, and may take the policies off" if owns else ""


def _check_bound(using: str, role: str) -> None:
    owners = sorted({table.owner for table in status(using=using).tables})
    given = {"role": role, "owners": owners}
    rows = queries.fetch(using, named("row_security")["role"], given)
    if not rows:
        message = "There is no such role in the database."
        raise Invalid(message, field="role")
    why = _unbound(
        superuser=rows[0]["superuser"],
        bypasses=rows[0]["bypasses"],
        owns=rows[0]["owns"],
    )
    if why:
        message = f"No policy would bind this role: {why}."
        raise Misconfigured(message, field="role")


def _grant(using: str, role: str) -> None:
    names = [model._meta.db_table for model in _models()]  # noqa: SLF001
    for name in names:
        _run(using, "grant", name, role=sql.Identifier(role))
    # Whether all is migrated is asked by the site's own check of readiness.
    _run(using, "grant_reading", MIGRATIONS, role=sql.Identifier(role))
    found = queries.fetch(using, named("row_security")["sequences"], {"tables": names})
    for row in found:
        _run(using, "grant_sequence", row["name"], role=sql.Identifier(role))


def _run(using: str, name: str, table: str, **parts: sql.Composable) -> None:
    statement = sql.SQL(named("row_security")[name]).format(
        table=sql.Identifier(table),
        policy=sql.Identifier(POLICY),
        nobody=sql.Literal(INSTALLATION),
        **parts,
    )
    with connections[using].cursor() as cursor:
        cursor.execute(statement.as_string(None))
