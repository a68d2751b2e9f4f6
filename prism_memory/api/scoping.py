"""The scope of a request: its grant, narrowed by headers, never by body or query.

``Prism-Owner``, ``Prism-Agent`` and ``Prism-Thread``, percent-encoded UTF-8.
"""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import unquote

from django.http.request import HttpHeaders

from prism_memory.errors import Invalid
from prism_memory.types import Grant, Scope

PREFIX: Final = "prism-"
LEVELS: Final = ("owner", "agent", "thread")
# Printable ASCII but blanks, and but the comma: servers join a header that was sent
# twice with it, and two scopes are none.
_ENCODED: Final = re.compile(r"(?:[!-$&-+\--~]|%[0-9A-Fa-f]{2})+")


def scope_of(grant: Grant, headers: HttpHeaders) -> Scope:
    """Return the scope that a request works in.

    Raises:
        Invalid: A header is empty, malformed or unknown. An empty one is not "all":
            a client that lost a name must not end up one level higher.
        ScopeDenied: It is not open to the grant.
        LimitExceeded: A level is over 256 bytes.
    """
    named = {name.lower(): value for name, value in headers.items()}
    given = {
        name.removeprefix(PREFIX): value
        for name, value in named.items()
        if name.startswith(PREFIX)
    }
    if not given.keys() <= set(LEVELS):
        message = "There are Prism-Owner, Prism-Agent and Prism-Thread, no other."
        raise Invalid(message, field="headers")
    return grant.narrowed(**{level: decoded(level, given[level]) for level in given})


def decoded(level: str, value: str) -> str:
    """Return the name in a header.

    Raises:
        Invalid: Empty, or not percent-encoded UTF-8.
    """
    name = f"Prism-{level.capitalize()}"
    if not _ENCODED.fullmatch(value):
        message = f"{name} must be percent-encoded UTF-8, and not empty."
        raise Invalid(message, field=name)
    try:
        return unquote(value, errors="strict")
    except UnicodeDecodeError:
        message = f"{name} is not UTF-8 once decoded."
        raise Invalid(message, field=name) from None
