"""Who vouches for what is remembered as a claim: its writer, never its content."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, replace
from typing import Final

from prism_memory.acceptance import VOUCHED
from prism_memory.conf import Limits, settings
from prism_memory.errors import Invalid
from prism_memory.facts.writing import Prepared, prepare_claim
from prism_memory.gate import Verdict as GateVerdict
from prism_memory.lifecycle.entries import Row
from prism_memory.redaction import Redaction
from prism_memory.types import (
    SYNTHESIZED,
    Claim,
    Entry,
    Kind,
    Origin,
    Provenance,
    Trust,
    uuid7,
)

TRUST_OF: Final = {
    Provenance.USER: Trust.USER,
    Provenance.IMPORTED: Trust.DOCUMENT,
    Provenance.TOOL: Trust.TOOL,
    **dict.fromkeys(SYNTHESIZED, Trust.CONSOLIDATOR),
}
"""What a provenance of S3 is as a trust class."""

HEARD: Final = frozenset({Trust.AGENT})
SYNTHETIC: Final = "synthesized"
FORGOTTEN: Final = "forgotten"


@dataclass(frozen=True)
class Vouched:
    """A claim that can be stored, with the words that it cites.

    Args:
        note: The words themselves as a record, where nothing else is cited.
        trust: Of the writer, as the provenance lowers it.
    """

    prepared: Prepared
    note: Row | None
    trust: Trust


def vouch(
    claim: Claim, *, origin: Origin | None, limits: Limits, redaction: Redaction
) -> Vouched:
    """Prepare a claim for remembering: its own words are its evidence, if need be.

    Raises:
        Invalid: No origin; a provenance that says more than its writer's trust allows
            (C27); or see ``prepare_claim``.
        LimitExceeded: See ``prepare_claim``.
    """
    if origin is not None:
        origin = replace(origin, trust=trust_of(claim.provenance, origin.trust))
    note_id = None if claim.evidence else uuid7()
    if note_id is not None:
        claim = replace(claim, evidence=(note_id,))
    prepared = prepare_claim(claim, origin=origin, limits=limits, redaction=redaction)
    if not prepared.named:
        # Not of its words: the same words may have stood here, and be closed or held.
        prepared = replace(prepared, key=str(prepared.id))
    prepared = _judged(prepared)
    note = None if note_id is None else bare_words(prepared.row, note_id)
    return Vouched(prepared, note, prepared.row.origin.trust)


def trust_of(provenance: Provenance, writer: Trust) -> Trust:
    """Return the trust class of what a writer says of itself.

    A provenance can lower what the writer's own identity is worth, never raise it.

    Raises:
        Invalid: It would raise it.
    """
    said = TRUST_OF.get(provenance, writer)
    if _rank(said) > _rank(writer):
        message = (
            f"provenance {provenance.value!r} says more than a writer of trust"
            f" {writer.value!r} may; the origin says who vouches."
        )
        raise Invalid(message, field="provenance")
    return said


def quarantined(prepared: Prepared, reason: str) -> Prepared:
    """Return a claim that the gate holds back, for what it is or comes from."""
    return replace(prepared, row=gated(prepared.row, reason))


def gated(row: Row, reason: str) -> Row:
    """Return the statement of a claim that the gate holds back, with its markers."""
    verdict = GateVerdict(flagged=True, reason=reason, markers=row.verdict.markers)
    return replace(row, verdict=verdict)


def _judged(prepared: Prepared) -> Prepared:
    """Quarantine what a model made of other things, whatever its words (B344)."""
    made = prepared.claim.provenance in SYNTHESIZED
    if not made or prepared.row.verdict.flagged or settings.AUTO_PROMOTE_SYNTHESIZED:
        return prepared
    return quarantined(prepared, SYNTHETIC)


def _rank(trust: Trust) -> int:
    return 2 * (trust in VOUCHED) + (trust in HEARD)


def bare_words(row: Row, note_id: uuid.UUID) -> Row:
    """Return the words of a fact's statement as a record of their own.

    Its gate stays open: it is in nobody's sight, and the gate of the fact, which alone
    derives from it, can be opened by one decision.
    """
    entry = Entry(row.entry.text, key=str(row.id), kind=Kind.NOTE)
    return replace(
        row,
        id=note_id,
        entry=entry,
        key=str(row.id),
        metadata_json="{}",
        lexical_text=None,
        embed_text=None,
        embed_sha256=row.sha256,
        verdict=GateVerdict(),
    )
