"""What a seal is made of. Pure: no database, no Django, no clock.

A seal closes a run of one tenant's events: a SHA-256 over them in the order of their
ids, and one over that, over all else a seal says, and over the seal before it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from prism_memory.integrity.macs import FORMAT, Keyring, State, canonical

NOTHING_BEFORE: Final = bytes(32)

EVENT: Final = ("id", "actor", "action", "target", "reason", "detail", "at")
SEAL: Final = (
    "number",
    "events",
    "digest",
    "previous",
    "content",
    "violations",
    "first_at",
    "last_at",
    "at",
)

Row = Mapping[str, Any]


@dataclass
class Digest:
    """A SHA-256 over events, added in the order of their ids.

    Args:
        tenant: Whose they are.
        events: How many were added.
    """

    tenant: str
    events: int = 0
    _hash: Any = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._hash = hashlib.sha256(canonical("prism_memory.events", FORMAT))

    def add(self, row: Row) -> None:
        """Add an event, as the statements of ``audit.sql`` give it."""
        parts = (row[name] for name in EVENT)
        self._hash.update(canonical(canonical(self.tenant, *parts)))
        self.events += 1

    @property
    def value(self) -> bytes:
        """The hash over what was added so far, 32 bytes."""
        found: bytes = self._hash.digest()
        return found


def digest_of(tenant: str, rows: Iterable[Row]) -> Digest:
    """Return the digest over events in the order of their ids."""
    digest = Digest(tenant)
    for row in rows:
        digest.add(row)
    return digest


def sha256_of(tenant: str, seal: Row) -> bytes:
    """Return the hash over a seal, 32 bytes.

    Args:
        seal: Times as microseconds since 1970 in UTC, as text.
    """
    parts = (seal[name] for name in SEAL)
    message = canonical("prism_memory.seal", FORMAT, tenant, *parts)
    return hashlib.sha256(message).digest()


def mac_message(tenant: str, seal: Row) -> bytes:
    """Return what is signed of a seal: its hash holds all the rest."""
    return canonical("prism_memory.seal.mac", FORMAT, tenant, seal["sha256"])


def mac_state(keys: Keyring, tenant: str, seal: Row) -> State:
    """Tell what a seal's signature says of it."""
    return keys.state(mac_message(tenant, seal), seal["mac"], seal["mac_key"])
