"""The databases that the host has."""

from __future__ import annotations

from django.db import connections

from prism_memory.errors import Misconfigured


def check_database(alias: str) -> str:
    """Return the alias of a database, if there is one. No query.

    Raises:
        Misconfigured: There is none of that name.
    """
    known = [*connections]
    if alias not in known:
        message = f"There is no database {alias!r}, but {', '.join(known)}."
        raise Misconfigured(message, field="using")
    return alias
