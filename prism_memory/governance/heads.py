"""The end of a chain, which an operator keeps where the database's writers cannot."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from prism_memory.db.tenancy import for_tenant
from prism_memory.errors import Invalid
from prism_memory.models import AuditSeal

_SHA256: Final = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class Head:
    """The last seal of a tenant, when it was looked at.

    Args:
        sha256: Of the seal, in hex.
    """

    tenant: str
    number: int
    sha256: str

    def line(self) -> str:
        """Return it as a line of JSON."""
        return json.dumps(vars(self), ensure_ascii=False)


@for_tenant
def head(*, using: str, tenant: str) -> Head | None:
    """Return the end of a tenant's chain, or None where nothing is sealed."""
    seals = AuditSeal.objects.using(using).filter(tenant=tenant)
    last = seals.order_by("-number").first()
    return None if last is None else Head(tenant, last.number, bytes(last.sha256).hex())


def read_heads(lines: Iterable[str]) -> tuple[Head, ...]:
    """Return the heads of a file that ``Head.line`` wrote; blank lines are passed over.

    Raises:
        Invalid: A line is none; the message says which. A file that holds nothing must
            not pass for one that agrees.
    """
    found = [_read(place, line) for place, line in enumerate(lines, 1) if line.strip()]
    if not found:
        message = "There is no head in it."
        raise Invalid(message, field="head")
    return tuple(found)


def _read(place: int, line: str) -> Head:
    message = f"Line {place} is no head: tenant, number and sha256 as JSON."
    try:
        given = json.loads(line)
        tenant, number, sha256 = given["tenant"], given["number"], given["sha256"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise Invalid(message, field="head") from None
    named = isinstance(tenant, str) and isinstance(sha256, str)
    counted = isinstance(number, int) and not isinstance(number, bool)
    if not (named and counted and number > 0 and _SHA256.fullmatch(sha256)):
        raise Invalid(message, field="head")
    return Head(tenant, number, sha256)
