"""What is signed, and how. Pure: no database, no Django, no clock.

HMAC-SHA-256 over a form in which two different rows never look alike: each part tells
its type and its length.
"""

from __future__ import annotations

import hmac
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from prism_memory.errors import Misconfigured

Part = str | bytes | int | float | uuid.UUID | None

FORMAT: Final = "1"
"""Of the serialisation; a change of it makes every signature invalid."""

SECRET_BYTES: Final = 32
"""The shortest key. Source: RFC 2104, no shorter than the hash."""

FIELDS: Final = (
    "scope_id",
    "id",
    "version",
    "kind",
    "tier",
    "namespace",
    "partition",
    "key",
    "text",
    "lexical_text",
    "embed_text",
    "language",
    "sha256",
    "sequence",
    "first_sequence",
    "importance",
    "metadata",
    "trust",
    "writer",
    "consent_source",
    "consent_scope",
    "visible",
    "granted_at",
    "revoked_at",
    "gate",
    "gate_reason",
    "gate_markers",
    "generation",
    "source_id",
    "ordinal",
    "line_start",
    "line_end",
    "offset_start",
    "offset_end",
    "happened_at",
    "created_at",
    "changed_at",
    "retired_at",
    "expires_at",
    "valid_from",
    "valid_to",
)
"""Columns of a record that are signed: all but how often it was used."""


class State(StrEnum):
    """What a signature says of a row."""

    INTACT = "intact"
    UNSIGNED = "unsigned"
    UNKNOWN_KEY = "unknown_key"
    CHANGED = "changed"


def canonical(*parts: Part) -> bytes:
    """Return the parts as bytes, so that no other parts give the same."""
    return b"".join(map(_encoded, parts))


def _encoded(part: Part) -> bytes:
    if part is None:
        return b"n"
    tag, body = _tagged(part)
    return tag + len(body).to_bytes(8) + body


def _tagged(part: str | bytes | float | uuid.UUID) -> tuple[bytes, bytes]:
    if isinstance(part, str):
        return b"s", part.encode()
    if isinstance(part, uuid.UUID):
        return b"u", part.bytes
    if isinstance(part, int):  # also a bool, under a tag of its own
        return b"b" if isinstance(part, bool) else b"i", str(part).encode()
    if isinstance(part, float):
        return b"f", repr(part).encode()
    return b"y", bytes(part)


@dataclass(frozen=True)
class Keyring:
    """The keys of an installation.

    Args:
        keys: Secrets by the id of their key.
        current: Id of the key that signs; the others only verify.

    Raises:
        Misconfigured: There is no such key, or a secret is too short.
    """

    keys: Mapping[str, bytes] = field(repr=False)
    current: str

    def __post_init__(self) -> None:
        if self.current not in self.keys:
            message = "INTEGRITY_KEY names no key of INTEGRITY_KEYS."
            raise Misconfigured(message, field="INTEGRITY_KEY")
        if any(len(secret) < SECRET_BYTES for secret in self.keys.values()):
            message = f"A key of INTEGRITY_KEYS is under {SECRET_BYTES} bytes."
            raise Misconfigured(message, field="INTEGRITY_KEYS")

    def sign(self, message: bytes) -> bytes:
        """Return the signature of a message by the current key, 32 bytes."""
        return self._mac(self.current, message)

    def state(self, message: bytes, mac: bytes | None, key: str | None) -> State:
        """Tell what a stored signature says of a message."""
        if mac is None or key is None:
            return State.UNSIGNED
        if key not in self.keys:
            return State.UNKNOWN_KEY
        same = hmac.compare_digest(self._mac(key, message), bytes(mac))
        return State.INTACT if same else State.CHANGED

    def sign_record(self, tenant: str, row: Mapping[str, Any]) -> bytes:
        """Return the signature of a record by the current key."""
        return self.sign(record_message(tenant, row))

    def state_of_record(self, tenant: str, row: Mapping[str, Any]) -> State:
        """Tell what a record's own signature says of it."""
        return self.state(record_message(tenant, row), row["mac"], row["mac_key"])

    def _mac(self, key: str, message: bytes) -> bytes:
        return hmac.digest(self.keys[key], canonical(key) + message, "sha256")


def record_message(tenant: str, row: Mapping[str, Any]) -> bytes:
    """Return what is signed of a record.

    Args:
        row: Of the statement ``integrity.rows``: times and JSON as PostgreSQL's text.
    """
    parts = (row[name] for name in FIELDS)
    return canonical("prism_memory.record", FORMAT, tenant, *parts)
