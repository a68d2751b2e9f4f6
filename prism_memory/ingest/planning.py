"""What an ingest has to change, from what is stored and what is wanted. No database."""

from __future__ import annotations

import datetime as dt
import json
import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from prism_memory.errors import Conflict
from prism_memory.ingest.documents import Document, Piece
from prism_memory.types import chunk_id

PLACES: Final = (*("ordinal", "line_start", "line_end", "offset_start", "offset_end"),)


@dataclass(frozen=True)
class Stored:
    """A chunk that is there.

    Args:
        place: Ordinal, lines and offsets; all None where the document held it no more.
        said: What is said of it beside its words.
        embed_sha256: Of what is embedded; known of what was retired.
    """

    id: uuid.UUID
    place: tuple[int | None, ...]
    said: tuple[str, ...]
    metadata: str
    sha256: bytes
    retired_at: dt.datetime | None
    closed: bool
    cited: bool
    embed_sha256: bytes | None

    @classmethod
    def read(cls, row: Mapping[str, Any]) -> Stored:
        """Return a row of the statement ``chunks``."""
        seen = row["embed_sha256"]
        return cls(
            id=row["id"],
            place=tuple(row[name] for name in PLACES),
            said=(row["language"], row["trust"], row["writer"]),
            metadata=ordered(row["metadata"]),
            sha256=bytes(row["sha256"]),
            retired_at=row["retired_at"],
            closed=row["gate"] != "open",
            cited=row["cited"],
            embed_sha256=None if seen is None else bytes(seen),
        )


@dataclass(frozen=True)
class Move:
    """A chunk that stays, and stands or is described otherwise.

    Args:
        reworded: Somebody corrected its words: they stay.
        redescribed: Its metadata is another.
        closes: What is said of it now gives orders.
    """

    stored: Stored
    piece: Piece
    reworded: bool
    redescribed: bool
    closes: bool

    @property
    def restored(self) -> bool:
        """Whether it had left the document, or search."""
        return self.stored.retired_at is not None


@dataclass(frozen=True)
class Plan:
    """What to do, all of it or nothing.

    Args:
        new: Pieces to store, with their ids and keys.
        moves: Chunks to change in place.
        kept: How many of those that are there stay, moved or not.
        vanished: Chunks to retire.
        withheld: Pieces whose words a person took out of memory.
        closed: Chunks that stay, and that the gate holds back.
    """

    new: Sequence[tuple[uuid.UUID, str, Piece]] = ()
    moves: Sequence[Move] = ()
    kept: int = 0
    vanished: Sequence[uuid.UUID] = ()
    withheld: int = 0
    closed: int = field(default=0)

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to do."""
        return not (self.new or self.moves or self.vanished)

    def unjudged(self, judged: Collection[str]) -> list[Piece]:
        """Return the pieces that the gate has to be asked of, by name."""
        asked = [piece for _, _, piece in self.new]
        asked += [
            move.piece
            for move in self.moves
            if move.redescribed and not move.stored.closed
        ]
        return [piece for piece in asked if piece.name not in judged]


def ordered(value: object) -> str:
    """Return JSON in one form: to Python 1 and True are equal.

    Args:
        value: A JSON object, or the text of one as a driver may give it.
    """
    loaded = json.loads(value) if isinstance(value, str) else value
    return json.dumps(loaded, sort_keys=True, default=dict)


def place_of(piece: Piece) -> tuple[int, ...]:
    """Return where a piece stands, as ``Stored.place``."""
    return tuple(getattr(piece.chunk, name) for name in PLACES)


def plan(
    document: Document,
    *,
    tenant: str,
    source_id: uuid.UUID,
    stored: Mapping[str, Stored],
    taken: Collection[str],
) -> Plan:
    """Compare.

    Args:
        stored: By key: what is in force, and what had left and is wanted again.
        taken: Keys of what somebody took out of memory, or hid, at another place too.

    Raises:
        Conflict: A chunk that facts cite would get another trust class.
    """
    new, moves, kept, withheld, closed = [], [], 0, 0, 0
    keys = [document.key_of(source_id, piece) for piece in document.pieces]
    for key, piece in zip(keys, document.pieces, strict=True):
        there = stored.get(key)
        if there is None:
            record_id = chunk_id(tenant, key)
            if key in taken:
                withheld += 1
            else:
                new.append((record_id, key, piece))
            continue
        kept += 1
        closed += there.closed
        withheld += there.sha256 != piece.row.sha256
        if move := _move(there, piece):
            moves.append(move)
    wanted = set(keys)
    vanished = [
        there.id
        for key, there in stored.items()
        if key not in wanted and there.retired_at is None
    ]
    return Plan(new, moves, kept, vanished, withheld, closed)


def _move(there: Stored, piece: Piece) -> Move | None:
    row = piece.row
    trust, writer = row.origin.trust.value, row.origin.writer
    metadata = ordered(row.entry.metadata)
    said = (row.language, trust, writer)
    same = (place_of(piece), said, metadata, None)
    if (there.place, there.said, there.metadata, there.retired_at) == same:
        return None
    if there.cited and there.said[1] != trust:
        message = (
            "Facts cite chunks of it: their trust class stays what it was judged by."
        )
        raise Conflict(message, field="origin")
    redescribed = there.metadata != metadata
    beside = any(marker.field == "metadata" for marker in row.verdict.markers)
    return Move(
        there,
        piece,
        reworded=there.sha256 != row.sha256,
        redescribed=redescribed,
        closes=redescribed and beside and not there.closed,
    )
