"""What a file says of a fact, as it would be stored if it were claimed here. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from prism_memory.audit import REASON_CHARACTERS
from prism_memory.errors import LimitExceeded
from prism_memory.facts.writing import claim_metadata, redacted_claim
from prism_memory.redaction import Redaction
from prism_memory.types import Claim, Restored, RestoredFact, RestoredVersion
from prism_memory.types.facts import RESERVED


def reclaimed(entry: Restored, *, redaction: Redaction) -> Restored:
    """Return a fact of a file without secrets, its metadata made of what it says.

    The gate and the limits judge the statement with its metadata: what a fact says
    beside them would pass unseen. Its index texts and its place are made anew too.

    Raises:
        Invalid: A name holds a secret, or a field cannot be stored.
        LimitExceeded: A name, a tag or a reason is too long.
    """
    assert entry.fact is not None  # noqa: S101 - what ``Restoring.facts`` takes
    claim = redacted_claim(_claim(entry, entry.fact), redaction)
    return replace(
        entry,
        text=claim.statement,
        metadata=claim_metadata(claim),
        namespace="",
        partition="",
        source=None,
        lexical_text=None,
        embed_text=None,
        fact=_fact(entry.fact, claim, redaction),
    )


def _claim(entry: Restored, fact: RestoredFact) -> Claim:
    more = {k: v for k, v in entry.metadata.items() if k not in RESERVED}
    return Claim(
        subject=fact.subject,
        predicate=fact.predicate,
        value=fact.value,
        text=entry.text,
        key=fact.key,
        tags=entry.metadata.get("tags", ()),
        metadata=more,
    )


def _fact(fact: RestoredFact, claim: Claim, redaction: Redaction) -> RestoredFact:
    redaction.check_names({"fact.closing_actor": fact.closing_actor})
    words: Mapping[str, Any] = {
        name: getattr(claim, name) for name in ("subject", "predicate", "value")
    }
    return replace(
        fact,
        **words,
        closing_reason=_reason(fact.closing_reason, "fact.closing_reason", redaction),
        versions=tuple(_version(one, redaction) for one in fact.versions),
    )


def _version(version: RestoredVersion, redaction: Redaction) -> RestoredVersion:
    redaction.check_names({"versions.actor": version.actor})
    reason = _reason(version.reason, "versions.reason", redaction)
    return replace(version, reason=reason)


def _reason(reason: str, name: str, redaction: Redaction) -> str:
    clean = redaction.text(reason)
    if len(clean) > REASON_CHARACTERS:
        message = f"{name} is over {REASON_CHARACTERS} characters."
        raise LimitExceeded(message, field=name)
    return clean
