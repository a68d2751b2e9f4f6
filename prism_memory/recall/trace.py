"""What is told of a recall afterwards: ids, hashes and numbers, never a text.

Nothing is written here. Signals carry the trace: ``recalled`` to whoever listens, a
tracer of the host (B388), and ``trace_wanted`` to the background tasks, where it shall
be kept.
"""

from __future__ import annotations

import datetime as dt
import re
import uuid
from collections.abc import Mapping
from dataclasses import fields
from numbers import Real
from typing import Any, Final

from django.utils.crypto import salted_hmac

from prism_memory import signals
from prism_memory.access import Reader
from prism_memory.conf import settings
from prism_memory.types import JSON, Actor, Hit, Recalled, Trace, uuid7

SALT: Final = "prism_memory.recall.query"
NAMED_CHOICES: Final = frozenset({"legs", "fusion", "reranker", "transformer"})
"""Options whose value is a name of ours or of the settings, never a caller's text."""
NUMBERS_BY_NAME: Final = frozenset({"weights"})
ALWAYS_GIVEN: Final = frozenset({"scope", "mode", "strict", "at", "where"})
"""Of a reader; whatever else is given narrows what they see."""
CHOICE: Final = re.compile(r"[A-Za-z][\w-]{0,63}")
RANDOM_BITS: Final = 62
"""Of a UUIDv7, at its end."""


def query_hash(*, tenant: str, text: str) -> bytes:
    """Return the HMAC-SHA-256 of a question, 32 bytes.

    Its key comes from ``SECRET_KEY``: who holds a dump but not the key can neither
    confirm a guess nor link the questions of two tenants. Case and white space make
    no difference.
    """
    words = " ".join(text.lower().split())
    return salted_hmac(SALT, f"{tenant}\0{words}", algorithm="sha256").digest()


def trace_of(
    *,
    trace_id: uuid.UUID,
    reader: Reader,
    query_sha256: bytes,
    recalled: Recalled,
    actor: Actor,
    at: dt.datetime,
    options: Mapping[str, object] | None = None,
    timings: Mapping[str, float] | None = None,
) -> Trace:
    """Return what is kept of a recall. Pure."""
    return Trace(
        id=trace_id,
        scope=reader.scope,
        query_sha256=query_sha256,
        actor=actor.name,
        mode=reader.mode,
        strategy=recalled.strategy,
        degraded=recalled.degraded,
        at=at,
        options={**_noted(options or {}), **_narrowed(reader)},
        hits=tuple(map(_hit, recalled.hits)),
        timings_ms={step: round(ms, 3) for step, ms in (timings or {}).items()},
    )


def announce(
    *,
    using: str,
    reader: Reader,
    question_text: str,
    recalled: Recalled,
    timings: Mapping[str, float] | None = None,
    reinforce: bool = False,
    options: Mapping[str, object] | None = None,
    actor: Actor | None = None,
) -> uuid.UUID | None:
    """Tell who listens of a recall, after its own transaction. No query.

    Never fails a recall (B431): a receiver that fails is logged by Django.

    Returns:
        The id of the trace that will be written, or None where none will.

    Args:
        timings: Milliseconds by step.
        reinforce: The hits shall be strengthened.
        options: How it was asked. Of what may be text, only that it was given is kept.
    """
    trace_id = uuid7()
    keep = is_kept(trace_id)
    heard = signals.recalled.has_listeners(Trace)
    if not (heard or keep or reinforce):
        return None
    trace = trace_of(
        trace_id=trace_id,
        reader=reader,
        query_sha256=query_hash(tenant=reader.scope.tenant, text=question_text),
        recalled=recalled,
        actor=actor or Actor(),
        at=reader.at,
        options=options,
        timings=timings,
    )
    if heard:
        signals.recalled.send_robust(sender=Trace, using=using, trace=trace)
    if keep or reinforce:
        signals.trace_wanted.send_robust(
            sender=Trace, using=using, trace=trace, keep=keep, reinforce=reinforce
        )
    return trace_id if keep else None


def is_kept(trace_id: uuid.UUID) -> bool:
    """Tell whether the settings want this trace kept; a sample is drawn by its id."""
    if settings.TRACES == "sampled":
        drawn = trace_id.int & ((1 << RANDOM_BITS) - 1)
        return drawn < settings.TRACE_SHARE * (1 << RANDOM_BITS)
    return settings.TRACES == "on"


def _hit(hit: Hit) -> JSON:
    return {
        "id": str(hit.id),
        "score": hit.score,
        "ranks": dict(hit.ranks),
        "signals": dict(hit.signals),
    }


def _noted(options: Mapping[str, object]) -> JSON:
    return {
        name: _option(name, value)
        for name, value in options.items()
        if value is not None
    }


def _option(name: str, value: object) -> Any:  # noqa: ANN401 - what JSON holds
    if isinstance(value, bool | int | float):
        return value
    if isinstance(value, str) and name in NAMED_CHOICES and CHOICE.fullmatch(value):
        return str(value)
    if isinstance(value, Mapping) and name in NUMBERS_BY_NAME:
        numbers = {k: v for k, v in value.items() if isinstance(v, Real)}
        return {k: float(v) for k, v in numbers.items() if CHOICE.fullmatch(k)}
    return True


def _narrowed(reader: Reader) -> JSON:
    names = {field.name for field in fields(reader)} - ALWAYS_GIVEN
    given = [n for n in sorted(names) if getattr(reader, n) not in (None, False)]
    if reader.where.comparisons:
        given.append("filter")
    return {"strict": reader.strict, "narrowed_by": given}
