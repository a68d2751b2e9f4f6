"""What the chunks of documents are called: ids that are made, so that they are known.

A key is ``source:hash:place``, and ``:g2`` in a generation: the id of the document's
source, the SHA-256 of the words in hex, and which of such words in it, from 0.
"""

from __future__ import annotations

import re
import uuid
from typing import Final

from prism_memory.types.scopes import SCOPE_NAMESPACE

CHUNK_NAMESPACE: Final = uuid.uuid5(SCOPE_NAMESPACE, "chunk")
"""Ids of chunks are made in it, so that a chunk that was forgotten is known again."""

CHUNK_KEY: Final = re.compile(
    r"(?P<words>[0-9a-f-]{36}:[0-9a-f]{64}):\d{1,9}(?::g\d{1,10})?"
)


def chunk_id(tenant: str, key: str) -> uuid.UUID:
    """Return the id that a chunk has as long as its source lives, whatever happens."""
    return uuid.uuid5(CHUNK_NAMESPACE, f"{tenant}\0{key}")


def is_chunk_key(key: str) -> bool:
    """Tell whether a key is one that chunks of documents bear."""
    return CHUNK_KEY.fullmatch(key) is not None


def words_of(key: str) -> str:
    """Return what the keys of all chunks of a document that say the same begin with."""
    match = CHUNK_KEY.fullmatch(key)
    return "" if match is None else match["words"]


def words_id(tenant: str, key: str) -> uuid.UUID:
    """Return the id that stands for a chunk's words, wherever a document says them.

    That of their first place, in no generation, whether or not it is there: what was
    taken out at one place is known by it at every other (C12).
    """
    return chunk_id(tenant, f"{words_of(key)}:0")
