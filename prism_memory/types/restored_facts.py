"""What an export says of a fact, on its way back in."""

from __future__ import annotations

import datetime as dt
import uuid
from dataclasses import dataclass
from itertools import pairwise

from prism_memory.errors import Invalid
from prism_memory.types.checks import check_finite, check_name, check_text, check_time
from prism_memory.types.vocabulary import (
    Acceptance,
    Closing,
    FactChange,
    Principal,
    Provenance,
    Sensitivity,
    check_choice,
)


@dataclass(frozen=True, slots=True)
class RestoredVersion:
    """What was held of a fact for a while.

    Raises:
        Invalid: A field cannot be stored, or an interval is empty.
    """

    acceptance: Acceptance
    valid_from: dt.datetime
    recorded_from: dt.datetime
    valid_to: dt.datetime | None = None
    recorded_to: dt.datetime | None = None
    gate: str = "open"
    cause: FactChange = FactChange.ASSERTED
    actor: str = ""
    reason: str = ""

    def __post_init__(self) -> None:
        for name, choices in (("acceptance", Acceptance), ("cause", FactChange)):
            value = check_choice(getattr(self, name), choices, f"versions.{name}")
            object.__setattr__(self, name, value)
        if self.gate not in {"open", "quarantined"}:
            message = "versions.gate must be 'open' or 'quarantined'."
            raise Invalid(message, field="versions.gate")
        for axis in ("valid", "recorded"):
            self._check_interval(axis)
        check_name(self.actor, "versions.actor")
        check_text(self.reason, "versions.reason")

    def _check_interval(self, axis: str) -> None:
        for end in ("from", "to"):
            name = f"{axis}_{end}"
            moment = check_time(getattr(self, name), f"versions.{name}")
            object.__setattr__(self, name, moment)
        starts, ends = getattr(self, f"{axis}_from"), getattr(self, f"{axis}_to")
        if starts is None or (ends is not None and ends <= starts):
            message = f"versions.{axis}_to must be after versions.{axis}_from."
            raise Invalid(message, field=f"versions.{axis}_to")


@dataclass(frozen=True, slots=True)
class RestoredFact:
    """A fact beside its statement. What it cites is its record's lineage.

    Args:
        id: That it had, and will have: others speak of it.
        closing: ``superseded``, or open: what was retracted or forgotten is not told.
        versions: The oldest first; the last one is held, and its gate open.
        own_words: Id of the record of its bare words, among what it cites; None where
            it cites none.

    Raises:
        Invalid: A field cannot be stored, or the versions are no history.
        LimitExceeded: A name is over 256 bytes.
    """

    id: uuid.UUID
    key: str
    versions: tuple[RestoredVersion, ...]
    subject: str = ""
    predicate: str = ""
    value: str = ""
    confidence: float | None = None
    provenance: Provenance = Provenance.NONE
    principal: Principal = Principal.USER
    sensitivity: Sensitivity = Sensitivity.INTERNAL
    supersedes: uuid.UUID | None = None
    superseded_by: uuid.UUID | None = None
    pending_supersedes: uuid.UUID | None = None
    closing: Closing = Closing.OPEN
    closed_at: dt.datetime | None = None
    closing_actor: str = ""
    closing_reason: str = ""
    own_words: uuid.UUID | None = None

    def __post_init__(self) -> None:
        check_name(self.key, "fact.key")
        for name in ("subject", "predicate", "closing_actor"):
            check_name(getattr(self, name), f"fact.{name}", blank=True)
        for name in ("value", "closing_reason"):
            check_text(getattr(self, name), f"fact.{name}")
        for name, choices in (
            ("provenance", Provenance),
            ("principal", Principal),
            ("sensitivity", Sensitivity),
            ("closing", Closing),
        ):
            value = check_choice(getattr(self, name), choices, f"fact.{name}")
            object.__setattr__(self, name, value)
        if self.own_words == self.id:
            message = "fact.own_words is the id of the fact itself."
            raise Invalid(message, field="fact.own_words")
        self._check_confidence()
        self._check_closing()
        self._check_versions()

    @property
    def last(self) -> RestoredVersion:
        """The version that is held."""
        return self.versions[-1]

    def _check_confidence(self) -> None:
        if self.confidence is None:
            return
        if not 0 <= check_finite(self.confidence, "fact.confidence") <= 1:
            message = "fact.confidence must be from 0 to 1."
            raise Invalid(message, field="fact.confidence")

    def _check_closing(self) -> None:
        closed_at = check_time(self.closed_at, "fact.closed_at")
        object.__setattr__(self, "closed_at", closed_at)
        known = self.closing in {Closing.OPEN, Closing.SUPERSEDED}
        if not known or (self.closing is Closing.OPEN) != (closed_at is None):
            message = "fact.closing must be open, or superseded with its closed_at."
            raise Invalid(message, field="fact.closing")
        if self.superseded_by is not None and self.closing is Closing.OPEN:
            message = "fact.superseded_by goes with fact.closing superseded."
            raise Invalid(message, field="fact.superseded_by")

    def _check_versions(self) -> None:
        is_history = bool(self.versions) and self.last.recorded_to is None
        is_history = is_history and self.last.gate == "open"
        for one, following in pairwise(self.versions):
            ends = one.recorded_to
            is_history &= ends is not None and ends <= following.recorded_from
        if not is_history:
            message = "fact.versions must follow each other, the last held and open."
            raise Invalid(message, field="fact.versions")
