"""From a document as a caller gives it to pieces that can be stored. No database."""

from __future__ import annotations

import hashlib
import uuid
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from prism_memory.conf import Limits
from prism_memory.errors import Invalid, LimitExceeded
from prism_memory.gate import judge
from prism_memory.ingest.chunking import (
    Chunk,
    Chunker,
    MarkdownChunker,
    check_length,
    check_number,
)
from prism_memory.lifecycle.entries import Row, prepare
from prism_memory.redaction import Redaction
from prism_memory.types import (
    Entry,
    Kind,
    Origin,
    SourceRef,
    check_bool,
    check_generation,
    check_name,
    check_text,
    to_json,
)

IDENTITY_CHARACTERS: Final = 1_000
METADATA_BYTES: Final = 65_536
ALL_METADATA_BYTES: Final = 67_108_864
"""Of all chunks of one document together: each bears a copy."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A chunk of a document on its way in.

    Args:
        name: Its text's SHA-256 in hex and which of such texts it is, from 0.
    """

    name: str
    chunk: Chunk
    row: Row

    def judged(self) -> Piece:
        """Return it with what the gate says. Never in a transaction."""
        entry = self.row.entry
        verdict = judge(entry.text, entry.metadata)
        return replace(self, row=replace(self.row, verdict=verdict))


@dataclass(frozen=True)
class Document:
    """A redacted document, cut.

    Args:
        generation: Of its scope's documents; None for what is always seen.
        restricted: From now on nobody reads it without a grant.
    """

    key: str
    uri: str
    origin: Origin
    sha256: bytes
    bytes: int
    chunker: str
    language: str
    metadata: Mapping[str, Any]
    generation: int | None
    pieces: tuple[Piece, ...]
    restricted: bool = False

    def key_of(self, source_id: uuid.UUID, piece: Piece) -> str:
        """Return the key of a piece's record."""
        generation = "" if self.generation is None else f":g{self.generation}"
        return f"{source_id}:{piece.name}{generation}"


def prepare_document(  # noqa: PLR0913 - what a document is made of
    *,
    key: str,
    text: str,
    uri: str,
    chunker: Chunker | None,
    origin: Origin | None,
    metadata: Mapping[str, Any] | None,
    language: str | None,
    generation: int | None,
    restricted: bool,
    limits: Limits,
    redaction: Redaction,
) -> Document:
    """Redact a document, cut it, and check what would be stored; nothing is yet.

    Raises:
        Invalid: A field is not acceptable, or the chunker's answer; the error names it.
        LimitExceeded: A limit was exceeded; the error names it.
    """
    check_length(check_text(text, "text"))
    _check_names(key, origin, redaction)
    assert origin is not None  # noqa: S101 - as just checked
    clean = redaction.text(text)
    chosen = chunker or MarkdownChunker()
    chunks = _cut(chosen, clean)
    common = _metadata(metadata, len(chunks), redaction)
    place = SourceRef(key, uri=redaction.text(check_text(uri, "uri")))
    entries = [
        _entry(name, chunk, place, common, language) for name, chunk in _named(chunks)
    ]
    # Redacted before it was cut: once more could change what slices back.
    rows = prepare(
        entries, origin=origin, limits=limits, redaction=Redaction(), judges=False
    )
    rows = tuple(_masked(row, redaction) for row in rows)
    return Document(
        key=key,
        uri=place.uri,
        origin=origin,
        sha256=hashlib.sha256(clean.encode()).digest(),
        bytes=len(clean.encode()),
        chunker=_identity(chosen),
        language=rows[0].language,
        metadata=common,
        generation=None if generation is None else check_generation(generation),
        pieces=tuple(
            Piece(row.key, chunk, row) for row, chunk in zip(rows, chunks, strict=True)
        ),
        restricted=check_bool(restricted, "restricted"),
    )


def _check_names(key: str, origin: Origin | None, redaction: Redaction) -> None:
    check_name(key, "key")
    if not isinstance(origin, Origin):
        message = "A document needs an origin: who vouches for it, and who wrote it."
        raise Invalid(message, field="origin")
    redaction.check_names({"key": key, "writer": origin.writer})


def _cut(chunker: Chunker, text: str) -> tuple[Chunk, ...]:
    """Return the chunks, checked: a host's own chunker may be wrong.

    Raises:
        Invalid: They do not slice back, or there is none.
        LimitExceeded: They are too many.
    """
    chunks = tuple(chunker.chunks(text))
    check_number(len(chunks))
    if not chunks:
        message = "text must not be blank."
        raise Invalid(message, field="text")
    last = 0
    for chunk in chunks:
        sliced = text[chunk.offset_start : chunk.offset_end]
        in_order = (
            last <= chunk.offset_start and 1 <= chunk.line_start <= chunk.line_end
        )
        if not (in_order and sliced and sliced == chunk.text):
            message = "The chunker's chunks do not slice back, in order, to the text."
            raise Invalid(message, field="chunker")
        last = chunk.offset_start
    return tuple(replace(chunk, ordinal=place) for place, chunk in enumerate(chunks))


def _identity(chunker: Chunker) -> str:
    identity = check_text(chunker.identity, "chunker")
    if not identity.strip() or len(identity) > IDENTITY_CHARACTERS:
        message = f"A chunker's identity has 1 to {IDENTITY_CHARACTERS:,} characters."
        raise LimitExceeded(message, field="chunker")
    return identity


def _metadata(
    given: Mapping[str, Any] | None, chunks: int, redaction: Redaction
) -> Mapping[str, Any]:
    asked: object = given
    if not isinstance(asked, Mapping | None):
        message = "metadata must be a JSON object."
        raise Invalid(message, field="metadata")
    to_json(given or {}, "metadata")
    clean: Mapping[str, Any] = redaction.json(dict(given or {}), "metadata")
    size = len(to_json(clean, "metadata").encode())
    if size > METADATA_BYTES:
        message = f"metadata is over {METADATA_BYTES:,} bytes."
        raise LimitExceeded(message, field="metadata")
    if size * chunks > ALL_METADATA_BYTES:
        most = ALL_METADATA_BYTES // chunks
        message = (
            f"metadata of a document of {chunks:,} chunks is at most {most} bytes."
        )
        raise LimitExceeded(message, field="metadata")
    return clean


def _named(chunks: Sequence[Chunk]) -> list[tuple[str, Chunk]]:
    seen: Counter[str] = Counter()
    named = []
    for chunk in chunks:
        sha256 = hashlib.sha256(chunk.text.encode()).hexdigest()
        named.append((f"{sha256}:{seen[sha256]}", chunk))
        seen[sha256] += 1
    return named


def _entry(
    name: str,
    chunk: Chunk,
    place: SourceRef,
    metadata: Mapping[str, Any],
    language: str | None,
) -> Entry:
    heading = {"heading": list(chunk.heading)} if chunk.heading else {}
    return Entry(
        chunk.text,
        key=name,
        kind=Kind.CHUNK,
        metadata={**metadata, **heading},
        source=replace(place, ordinal=chunk.ordinal),
        language=language,
    )


def _masked(row: Row, redaction: Redaction) -> Row:
    """Return a row without what its index texts spell together, and no part holds."""
    if not redaction.secrets:
        return row
    lexical = None if row.lexical_text is None else redaction.mask(row.lexical_text)
    embed = None if row.embed_text is None else redaction.mask(row.embed_text)
    seen = (embed or row.entry.text).encode()
    return replace(
        row,
        lexical_text=lexical,
        embed_text=embed,
        embed_sha256=hashlib.sha256(seen).digest(),
    )
