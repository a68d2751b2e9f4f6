"""Settings of PostgreSQL for one call alone."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, Final

from django.db import OperationalError, connections, transaction
from psycopg import sql
from psycopg.errors import QueryCanceled

from prism_memory.errors import DeadlineExceeded

TIMEOUT: Final = "statement_timeout"

MOST_MILLISECONDS: Final = 2**31 - 1
"""PostgreSQL takes no longer timeout: 24 days."""

SHORTER: Final = """
least(%s::bigint, coalesce(nullif((extract(
  epoch FROM current_setting('statement_timeout')::interval) * 1000)::bigint, 0),
  %s::bigint))::text
"""
"""The shorter of a limit and the one in force, in milliseconds; 0 is none."""


@contextmanager
def local_settings(
    using: str, values: Mapping[str, str], *, timeout_seconds: float | None = None
) -> Iterator[None]:
    """Hold settings for this block, and put them back after it.

    A local setting ends with the transaction. In one of our own that is right away; in
    the host's it would outlive this call, even after a savepoint, so it is put back. A
    block that fails is rolled back to where it began, its settings with it.

    Args:
        timeout_seconds: Longest one statement may run; a shorter limit that the host
            has set stays.

    Raises:
        DeadlineExceeded: A statement ran into ``timeout_seconds``.
    """
    connection = transaction.get_connection(using)
    hosted = connection.in_atomic_block or not connection.get_autocommit()
    before: dict[str, Any] = {}
    end = None if timeout_seconds is None else time.monotonic() + timeout_seconds
    try:
        with transaction.atomic(using=using):
            if hosted or timeout_seconds is not None:
                before = _exchange(using, values, timeout_seconds)
            else:
                _set(using, values)
            yield
            if hosted:
                _exchange(using, before)
    except OperationalError as error:
        late = end is not None and time.monotonic() >= end
        if late and isinstance(error.__cause__, QueryCanceled):
            raise DeadlineExceeded from error
        raise


def limited(using: str, timeout_seconds: float | None) -> AbstractContextManager[None]:
    """Stop a statement of the block that runs too long; nothing where None is given.

    Raises:
        DeadlineExceeded: As ``local_settings``.
    """
    if timeout_seconds is None:
        return nullcontext()
    return local_settings(using, {}, timeout_seconds=timeout_seconds)


def one_plan(using: str) -> dict[str, str]:
    """Return the settings by which a prepared statement has one plan, made once.

    Planning a long statement anew can take longer than running it. Nothing where the
    connection prepares none, as Django has it unless its OPTIONS say
    ``server_side_binding`` and ``prepare_threshold``; and nothing where they say
    themselves what PostgreSQL shall do, which spares a transaction for each call.
    """
    connection = connections[using]
    if "plan_cache_mode" in connection.settings_dict["OPTIONS"].get("options", ""):
        return {}
    connection.ensure_connection()
    prepares = getattr(connection.connection, "prepare_threshold", None) is not None
    if prepares and getattr(connection.features, "uses_server_side_binding", False):
        return {"plan_cache_mode": "force_generic_plan"}
    return {}


def _set(using: str, values: Mapping[str, str]) -> None:
    """Set local settings, whose names and values are ours. One short query each."""
    with transaction.get_connection(using).cursor() as cursor:
        for name, value in values.items():
            parts = sql.Identifier(*name.split(".")), sql.Literal(value)
            cursor.execute(sql.SQL("SET LOCAL {} = {}").format(*parts).as_string(None))


def _exchange(
    using: str, values: Mapping[str, Any], timeout_seconds: float | None = None
) -> dict[str, Any]:
    """Set local settings and return what they were. One query."""
    given: dict[str, tuple[str, list[Any]]] = {
        name: ("%s", [value]) for name, value in values.items()
    }
    if timeout_seconds is not None:
        # Rounded up: stopped any earlier, it would not be late yet.
        most = max(1, math.ceil(min(timeout_seconds * 1000, MOST_MILLISECONDS)))
        given[TIMEOUT] = (SHORTER, [most, most])
    if not given:
        return {}
    asked = ", ".join("current_setting(%s, true)" for _ in given)
    sets = ", ".join(f"set_config(%s, {text}, true)" for text, _ in given.values())
    bound = [part for name, (_, parts) in given.items() for part in (name, *parts)]
    with transaction.get_connection(using).cursor() as cursor:
        cursor.execute(f"SELECT {asked}, {sets}", [*given, *bound])
        row = cursor.fetchone()
    return dict(zip(given, row[: len(given)], strict=True))
