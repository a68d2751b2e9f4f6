"""What is claimed, and what readers get of it."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from prism_memory.errors import Invalid, LimitExceeded
from prism_memory.types.checks import (
    check_finite,
    check_json,
    check_name,
    check_text,
    check_time,
    check_uuid,
)
from prism_memory.types.scopes import Scope
from prism_memory.types.vocabulary import (
    Acceptance,
    Closing,
    FactChange,
    Principal,
    Provenance,
    Sensitivity,
    Trust,
    check_choice,
)

TAGS: Final = 32
TAG_CHARACTERS: Final = 64
"""Source: S3."""

EVIDENCE: Final = 32
"""Records that one fact cites at most: they are lineage, and that has 32 places."""

RESERVED: Final = ("subject", "predicate", "object", "tags")
"""Of a fact's metadata: what the claim itself says."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim, before anybody decided about it.

    Args:
        subject: Whom or what it is about; with ``predicate`` and ``value`` or none.
        predicate: What is said of it.
        value: What it is.
        text: The statement, verbatim; the three in a row when None.
        evidence: Ids of the records that it cites, in order; each once, 32 at most.
        key: Its name in its scope while it is open; made of its words when None.
        valid_from: Since when it holds in the world; the time of writing when None.
        valid_to: Until when, exclusive; open when None.
        confidence: 0..1.
        importance: Clamped to 0..1; ``remember`` drops one that is not finite (B358).
        tags: 32 at most, of 1 to 64 characters.
        metadata: More of a JSON object. ``subject``, ``predicate``, ``object`` and
            ``tags`` are the claim's own.
        provenance: How it came to be.
        principal: Whom it is of.
        sensitivity: A label (B359).

    Raises:
        Invalid: A field cannot be stored, or the claim says nothing.
        LimitExceeded: A name is over 256 bytes, there are too many tags or evidence.
    """

    subject: str = ""
    predicate: str = ""
    value: str = ""
    text: str | None = None
    evidence: tuple[uuid.UUID, ...] = ()
    key: str | None = None
    valid_from: dt.datetime | None = None
    valid_to: dt.datetime | None = None
    confidence: float | None = None
    importance: float | None = None
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    provenance: Provenance = Provenance.NONE
    principal: Principal = Principal.USER
    sensitivity: Sensitivity = Sensitivity.INTERNAL

    def __post_init__(self) -> None:
        self._check_words()
        self._check_times()
        self._check_labels()
        self._set("evidence", _ids(self.evidence))
        self._set("tags", _tags(self.tags))
        self._check_metadata()
        self._check_weights()

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def _check_words(self) -> None:
        check_name(self.subject, "subject", blank=True)
        check_name(self.predicate, "predicate", blank=True)
        check_text(self.value, "value")
        if self.key is not None:
            check_name(self.key, "key")
        if self.text is not None:
            if not check_text(self.text, "text").strip():
                message = "text must not be blank."
                raise Invalid(message, field="text")
            return
        for name in ("subject", "predicate", "value"):
            if not getattr(self, name).strip():
                message = f"A claim without a text needs a {name}."
                raise Invalid(message, field=name)

    def _check_times(self) -> None:
        for name in ("valid_from", "valid_to"):
            self._set(name, check_time(getattr(self, name), name))
        if self.valid_from and self.valid_to and self.valid_to <= self.valid_from:
            message = "valid_to must be after valid_from."
            raise Invalid(message, field="valid_to")

    def _check_labels(self) -> None:
        choices = {
            "provenance": Provenance,
            "principal": Principal,
            "sensitivity": Sensitivity,
        }
        for name, words in choices.items():
            self._set(name, check_choice(getattr(self, name), words, name))

    def _check_metadata(self) -> None:
        metadata: object = self.metadata
        if not isinstance(metadata, Mapping):
            message = "metadata must be a JSON object."
            raise Invalid(message, field="metadata")
        check_json(self.metadata, "metadata")
        if taken := [name for name in RESERVED if name in self.metadata]:
            message = f"metadata.{taken[0]} is the claim's own: give it as a field."
            raise Invalid(message, field=f"metadata.{taken[0]}")

    def _check_weights(self) -> None:
        if self.confidence is not None:
            confidence = check_finite(self.confidence, "confidence")
            if not 0 <= confidence <= 1:
                message = "confidence must be from 0 to 1."
                raise Invalid(message, field="confidence")

    @property
    def statement(self) -> str:
        """The words that are stored and searched."""
        if self.text is not None:
            return self.text
        return f"{self.subject} {self.predicate} {self.value}"


def _ids(given: object) -> tuple[uuid.UUID, ...]:
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Sequence):
        message = "evidence must be a list of ids."
        raise Invalid(message, field="evidence")
    ids = tuple(dict.fromkeys(check_uuid(item, "evidence") for item in given))
    if len(ids) > EVIDENCE:
        message = f"evidence takes at most {EVIDENCE} ids."
        raise LimitExceeded(message, field="evidence")
    return ids


def _tags(given: object) -> tuple[str, ...]:
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Sequence):
        message = "tags must be a list of texts."
        raise Invalid(message, field="tags")
    tags = tuple(dict.fromkeys(check_text(tag, "tags") for tag in given))
    if any(not tag.strip() for tag in tags):
        message = "tags must not be blank."
        raise Invalid(message, field="tags")
    if len(tags) > TAGS or any(len(tag) > TAG_CHARACTERS for tag in tags):
        message = f"tags takes at most {TAGS}, of {TAG_CHARACTERS} characters each."
        raise LimitExceeded(message, field="tags")
    return tags


@dataclass(frozen=True)
class FactItem:
    """A fact as a reader gets it: one version of it, and what it says.

    Args:
        text: The statement, verbatim; empty where it is ``withheld``.
        acceptance: Of this version.
        gate: Of this version: ``open`` or ``quarantined``.
        valid_from: Since when it holds in the world.
        valid_to: Until when, exclusive; None while it holds.
        recorded_from: Since when this version was held, by the database's clock.
        recorded_to: Until when, exclusive; None while it is.
        evidence: Ids of what it cites, in order.
        closing: Why the fact is open no more, or ``""``.
        closing_reason: As whoever closed it said.
        archived: Put aside, and may come back.
        withheld: Why its words are not shown: ``forgotten``, ``quarantined`` or
            ``""``.
        cause: What began this version, who did it, and why they said so.
    """

    id: uuid.UUID
    key: str
    scope: Scope
    subject: str
    predicate: str
    value: str
    text: str
    acceptance: Acceptance
    gate: str
    valid_from: dt.datetime
    valid_to: dt.datetime | None
    recorded_from: dt.datetime
    recorded_to: dt.datetime | None
    evidence: tuple[uuid.UUID, ...]
    confidence: float | None
    importance: float | None
    tags: tuple[str, ...]
    provenance: Provenance
    principal: Principal
    sensitivity: Sensitivity
    trust: Trust
    writer: str
    supersedes: uuid.UUID | None
    superseded_by: uuid.UUID | None
    pending_supersedes: uuid.UUID | None
    closing: Closing = Closing.OPEN
    closing_reason: str = ""
    archived: bool = False
    withheld: str = ""
    cause: FactChange = FactChange.ASSERTED
    actor: str = ""
    reason: str = ""
    gate_reason: str = ""

    @property
    def is_accepted(self) -> bool:
        """Whether it may be relied on."""
        return self.acceptance is Acceptance.ACCEPTED


@dataclass(frozen=True)
class FactPage(Sequence[FactItem]):
    """One page of facts, or of their versions.

    Args:
        next_cursor: Where the next page begins, or None on the last.
    """

    items: tuple[FactItem, ...] = ()
    next_cursor: str | None = None

    def __getitem__(self, index: Any) -> Any:  # noqa: ANN401 - as Sequence has it
        return self.items[index]

    def __len__(self) -> int:
        return len(self.items)
