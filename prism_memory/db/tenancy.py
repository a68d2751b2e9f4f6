"""Whose rows a statement may touch, told to PostgreSQL where it guards them.

With row-level security on, policies compare each row's tenant with the setting
``prism_memory.tenant`` of the connection. It is set for a transaction alone, right
before each statement: a connection that goes back to a pool never carries it on, and a
pooler may give a connection for no more than one transaction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import wraps
from inspect import getmembers, iscoroutinefunction, isfunction
from typing import Any, Final, ParamSpec, TypeVar

from django.db import connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from psycopg.pq import TransactionStatus

from prism_memory.conf import settings

P = ParamSpec("P")
R = TypeVar("R")
C = TypeVar("C")

NAME: Final = "prism_memory.tenant"

INSTALLATION: Final = "\x1finstallation"
"""What stands there for the rows of the installation, whose tenant is empty: an empty
setting is what a connection has after its first use."""

EXCHANGE: Final = "SELECT current_setting(%s, true), set_config(%s, %s, true)"


@dataclass
class _Acting:
    """For whom this piece of work is.

    Args:
        before: By alias, what was set in a host's transaction before this work.
    """

    tenant: str
    before: dict[str, str] = field(default_factory=dict)


_acting: ContextVar[_Acting | None] = ContextVar("prism_memory_tenant", default=None)


@contextmanager
def acting_for(tenant: str) -> Iterator[None]:
    """Let the statements of this block touch the rows of one tenant.

    Opens no transaction and asks nothing by itself. In a host's transaction the setting
    is put back at the end. Nothing where row-level security is off.
    """
    outer = _acting.get()
    mine = _Acting(tenant, {} if outer is None else outer.before)
    token = _acting.set(mine)
    try:
        yield
    finally:
        _acting.reset(token)
        if outer is None:
            _put_back(mine.before)


def for_tenant(operation: Callable[P, R]) -> Callable[P, R]:
    """Let an operation act for the tenant that its keywords name.

    They are ``tenant``, or ``scope`` or ``reader``, which have one.
    """

    @wraps(operation)
    def acting(*args: P.args, **kwargs: P.kwargs) -> R:
        given: Any = kwargs
        tenant = given.get("tenant")
        if tenant is None:
            where = given["scope"] if "scope" in given else given["reader"].scope
            tenant = where.tenant
        with acting_for(tenant):
            return operation(*args, **kwargs)

    return acting


def for_its_tenant(door: type[C]) -> type[C]:
    """Let each public method of a class act for the tenant of its ``scope``."""
    for name, method in getmembers(door, isfunction):
        if not name.startswith("_") and not iscoroutinefunction(method):
            setattr(door, name, _acting_method(method))
    return door


def _acting_method(method: Callable[..., R]) -> Callable[..., R]:
    @wraps(method)
    def acting(self: Any, *args: Any, **kwargs: Any) -> R:  # noqa: ANN401 - any
        with acting_for(self.scope.tenant):
            return method(self, *args, **kwargs)

    return acting


def install(connection: BaseDatabaseWrapper, **kwargs: object) -> None:
    """Guard the statements of a new connection, if the settings ask for it."""
    del kwargs  # of the signal
    wanted = settings.ROW_SECURITY and connection.vendor == "postgresql"
    if wanted and guard not in connection.execute_wrappers:
        connection.execute_wrappers.append(guard)


def guard(
    execute: Callable[..., R],
    sql: str,
    params: Any,  # noqa: ANN401 - Django's
    many: bool,
    context: dict[str, Any],
) -> R:
    """Run a statement for the tenant at work; as it stands where there is none."""
    acting = _acting.get()
    if acting is None:
        return execute(sql, params, many, context)
    connection: BaseDatabaseWrapper = context["connection"]
    if connection.in_atomic_block or not connection.get_autocommit():
        before = _exchange(connection, acting.tenant or INSTALLATION)
        acting.before.setdefault(connection.alias, before)
        return execute(sql, params, many, context)
    with transaction.atomic(using=connection.alias):
        _exchange(connection, acting.tenant or INSTALLATION)
        return execute(sql, params, many, context)


def _exchange(connection: Any, tenant: str) -> str:  # noqa: ANN401 - Django's wrapper
    """Set the tenant for this transaction; return what was set before."""
    with connection.wrap_database_errors:
        row = connection.connection.execute(EXCHANGE, [NAME, NAME, tenant]).fetchone()
    return row[0] or ""


def _put_back(before: dict[str, str]) -> None:
    for alias, value in before.items():
        connection: Any = connections[alias]
        raw = connection.connection
        if raw is None or raw.info.transaction_status != TransactionStatus.INTRANS:
            continue  # it ended with its transaction, or will be rolled back with it
        _exchange(connection, value)
