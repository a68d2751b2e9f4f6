"""Claims in plain words, compared with what stands: S3's entry to facts."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import cache
from typing import Any, Final

from asgiref.sync import sync_to_async

from prism_memory import backends, indexing
from prism_memory import facts as floor
from prism_memory.conf import settings
from prism_memory.errors import (
    Aborted,
    EmbedderMismatch,
    Invalid,
    PrismMemoryError,
    ProviderRejected,
    ProviderUnavailable,
)
from prism_memory.facts.candidates import MISMATCHED, Placed
from prism_memory.facts.conflict import Rules
from prism_memory.facts.conflict.configured import configured_rules
from prism_memory.facts.vouching import vouch
from prism_memory.facts.writing import Prepared
from prism_memory.memory.facing import Facing
from prism_memory.types import (
    Claim,
    DecidedFact,
    FactItem,
    Origin,
    check_part,
)

logger = logging.getLogger("prism_memory")

PIPELINES: Final = ("on", "off")
FIELDS: Final = frozenset(field.name for field in fields(Claim)) - {"text"}
"""What ``remember`` takes besides the text."""

UNCONFIGURED: Final = "no embedder is configured"
INSIDE: Final = "nothing is embedded inside an open transaction"
DROPPED: Final = "an importance that is no finite number was left out"

FAILED: Final[Mapping[type[PrismMemoryError], str]] = {
    EmbedderMismatch: MISMATCHED,
    ProviderUnavailable: "the embedder is unavailable",
    ProviderRejected: "the embedder refused the text",
}
"""What a claim is remembered in spite of (B343)."""


class Remembering(Facing):
    """Verbs of ``memory.facts`` that take a claim in plain words."""

    def remember(self, text: str, **given: Any) -> FactItem:  # noqa: ANN401
        """Remember a claim, and return the fact that stands; see below.

        For a duplicate that is the one that was there.
        """
        return self.remember_with_decision(text, **given).fact

    def remember_with_decision(
        self,
        text: str,
        *,
        pipeline: str | None = None,
        origin: Origin | None = None,
        cancelled: Callable[[], bool] | None = None,
        reason: str = "",
        **more: Any,  # noqa: ANN401 - the fields of a Claim
    ) -> DecidedFact:
        """Remember a claim at exactly this scope, and tell what was decided (B330).

        Without ``evidence`` the words themselves are stored first, and cited. What
        stands in the same scope is compared: a duplicate stores nothing, a change
        closes what it replaces, what nothing tells waits for a judge. Whether it is
        accepted follows from who vouches for it; whether it is quarantined from its
        words and its provenance (B344, B345). The author sets neither (B347).

        Embeds the text first, outside any transaction. When the embedder is down, the
        claim is admitted, unless the same words are there, and ``reason`` says so.

        Args:
            pipeline: ``on``, or ``off`` to store it whatever stands there; the setting
                ``CONFLICTS`` when None.
            origin: Who says it; the memory's own when None.
            cancelled: Asked before anything is embedded or written; True ends it.
            reason: For the audit and the history; no text content.
            more: More fields of ``prism_memory.types.Claim``: ``subject``,
                ``predicate``, ``value``, ``evidence``, ``provenance``, ``tags`` and so
                on. An importance outside 0..1 is clamped (B358).

        Raises:
            Invalid: A field is not acceptable; or the provenance says more than the
                origin allows (C27).
            LimitExceeded: A limit was exceeded; the error names it.
            NotVisible: What is cited is not in sight.
            FactKeyInUse: An open fact has the key and says something else.
            Conflict: Rivals changed again and again what it was to replace.
            Aborted: ``cancelled`` said so; nothing is written.
            Unsupported: In a host's transaction that is not READ COMMITTED.
        """
        rules = _rules(pipeline)
        claim, note = _claim(text, more)
        vouched = vouch(
            claim,
            origin=check_part(origin, Origin, "origin") or self.memory.origin,
            limits=self.memory.limits,
            redaction=self.memory.redaction,
        )
        self.memory._refuse_secret_scope()  # noqa: SLF001 - its other half
        if cancelled is not None and cancelled():
            message = "Remembering was cancelled; nothing is written."
            raise Aborted(message)
        placed = Placed()
        if rules is not None:
            placed = self._placed(vouched.prepared, cancelled)
        done = floor.remember_fact(
            **self._who(reason),
            reader=self._reader(),
            vouched=vouched,
            placed=placed,
            rules=rules,
            embedder=self.memory.embedder,
        )
        return self._decided(done, note)

    async def aremember(self, *args: Any, **kwargs: Any) -> FactItem:  # noqa: ANN401
        """Do as ``remember``, for asynchronous code."""
        return await sync_to_async(self.remember)(*args, **kwargs)

    async def aremember_with_decision(
        self,
        *args: Any,  # noqa: ANN401
        **kwargs: Any,  # noqa: ANN401
    ) -> DecidedFact:
        """Do as ``remember_with_decision``, for asynchronous code."""
        return await sync_to_async(self.remember_with_decision)(*args, **kwargs)

    def _placed(
        self, prepared: Prepared, cancelled: Callable[[], bool] | None
    ) -> Placed:
        """Return where a claim lies. Calls the embedder, before anything else."""
        if not backends.are_vectors_used():
            return Placed(degraded=UNCONFIGURED)
        if indexing.in_host_transaction(self.memory.using):
            return Placed(degraded=INSIDE)
        try:
            return self._embedded(prepared, cancelled)
        except tuple(FAILED) as error:
            return Placed(degraded=FAILED[type(error)])

    def _embedded(
        self, prepared: Prepared, cancelled: Callable[[], bool] | None
    ) -> Placed:
        memory = self.memory
        space = memory._space_to_write()  # noqa: SLF001 - its other half
        if space is None:
            return Placed(degraded=UNCONFIGURED)
        row = prepared.row
        (vector,) = backends.embed(
            indexing.embedder_of(space),
            [row.embed_text or row.entry.text],
            role="passage",
            timeout_seconds=settings.EMBED_TIMEOUT_SECONDS,
            cancelled=cancelled,
        )
        return Placed(vector, space)

    def _decided(self, done: floor.Outcome, note: str) -> DecidedFact:
        decision = done.decision
        return DecidedFact(
            fact=self._stored(done.fact_id),
            verdict=decision.verdict,
            stage=decision.stage,
            zone=decision.zone,
            similarity=decision.similarity,
            reason="; ".join(filter(None, (decision.reason, note))),
            quarantine_reason=done.quarantine_reason,
            decision_id=done.decision_id,
            others=decision.others,
            target=decision.target,
        )


def _rules(pipeline: str | None) -> Rules | None:
    """Return what a claim is judged by; None where it is not.

    Raises:
        Invalid: ``pipeline`` is neither on nor off.
    """
    if pipeline is None:
        if settings.CONFLICTS == "off":
            _warn_once()
            return None
    elif pipeline not in PIPELINES:
        message = f"pipeline must be one of {', '.join(PIPELINES)}."
        raise Invalid(message, field="pipeline")
    return None if pipeline == "off" else configured_rules()


@cache
def _warn_once() -> None:
    """Warn in each process, at the first claim (B332)."""
    logger.warning(
        "CONFLICTS is off: facts.remember stores every claim, whatever stands there."
    )


def _claim(text: str, more: Mapping[str, Any]) -> tuple[Claim, str]:
    """Return a claim, and a note on what of it was left out.

    Raises:
        Invalid: A field is unknown, or not acceptable.
    """
    if unknown := sorted(more.keys() - FIELDS):
        message = f"A claim has no field {', '.join(unknown)}."
        raise Invalid(message, field=unknown[0])
    given = dict(more)
    note = ""
    importance = given.get("importance")
    if isinstance(importance, int | float) and not isinstance(importance, bool):
        finite = _is_finite(importance)
        given["importance"] = min(1.0, max(0.0, importance)) if finite else None
        note = "" if finite else DROPPED
    return Claim(text=text, **given), note


def _is_finite(number: float) -> bool:
    try:
        return math.isfinite(number)
    except OverflowError:  # an integer of hundreds of digits
        return False
