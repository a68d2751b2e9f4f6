"""What every embedder is, and the one door through which vectors come in.

``embed`` trusts no backend: it counts, measures and normalises what comes back.
"""

from __future__ import annotations

import abc
import math
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from numbers import Real
from typing import Any, ClassVar, Final, get_args

from django.core import checks

from prism_memory.conf import settings
from prism_memory.errors import (
    Aborted,
    Invalid,
    LimitExceeded,
    Misconfigured,
    PrismMemoryError,
    ProviderRejected,
    ProviderUnavailable,
)
from prism_memory.types import EmbedderIdentity, Role, Vector, check_count

MAX_DIMENSIONS: Final = 4_000
"""Widest vector. Source: pgvector, an HNSW index over ``halfvec``."""

MAX_BATCH: Final = 128
"""Most texts of one provider call (B108)."""


class Embedder(abc.ABC):
    """Turn texts into vectors; base class of every backend.

    A backend's constructor takes its OPTIONS as keywords and calls this one. It makes
    no network call and loads no model, so that ``identity`` is cheap to ask for.

    Args:
        provider: Who computes, such as ``openai``.
        model: Name of the model. Vectors of two names are never compared, so change it
            whenever something that changes vectors changes.
        dimensions: Width of a vector, 1..4,000.
        query_prefix: Put before a text that asks, as some models want.
        passage_prefix: Put before a text that is searched.

    Attributes:
        identity: What pins the space of the vectors.
        roles: True when a query and a passage of the same words differ.
        max_batch: Most texts one call of ``embed_texts`` takes.
        local: True when no text leaves this machine.
        deterministic: True when the same text always gives the same vector.

    Raises:
        Misconfigured: A value is out of its bounds.
    """

    local: ClassVar[bool] = False
    deterministic: ClassVar[bool] = False
    max_batch: int = MAX_BATCH

    def __init__(
        self,
        *,
        provider: str,
        model: str,
        dimensions: int,
        query_prefix: str = "",
        passage_prefix: str = "",
    ) -> None:
        if not model:
            message = "model must be named."
            raise Misconfigured(message, field="model")
        check_option(dimensions, "dimensions", MAX_DIMENSIONS)
        self.identity = EmbedderIdentity(provider, model, dimensions)
        self.prefixes: dict[Role, str] = {
            "query": query_prefix,
            "passage": passage_prefix,
        }
        self.roles = query_prefix != passage_prefix

    def __repr__(self) -> str:
        # Nothing but the identity: OPTIONS hold keys.
        return f"<{type(self).__name__} {self.identity}>"

    @property
    def dimensions(self) -> int:
        """Width of a vector."""
        return self.identity.dimensions

    @abc.abstractmethod
    def embed_texts(
        self, texts: Sequence[str], *, role: Role, timeout_seconds: float
    ) -> Sequence[Vector]:
        """Return one vector a text, in the order of ``texts``.

        Call ``embed`` instead, which checks what this returns. Shape of the answer:
        ``(n, dimensions)``; the length of a vector does not matter.

        Args:
            texts: At most ``max_batch``.
            role: What the texts are for.
            timeout_seconds: Longest wait, retries included.

        Raises:
            ProviderUnavailable: The same call may succeed later.
            ProviderRejected: The input or the answer is unusable.
        """

    def check(self) -> list[checks.CheckMessage]:
        """Return what a system check should say about the OPTIONS. No network."""
        return []

    def close(self) -> None:  # noqa: B027 - most backends hold nothing to close
        """Give back connections; a later call opens them again."""

    def prefixed(self, texts: Sequence[str], role: Role) -> list[str]:
        """Return the texts with the prefix of ``role`` before each."""
        prefix = self.prefixes[role]
        return [prefix + text for text in texts]


def check_option(value: object, name: str, maximum: int, minimum: int = 1) -> int:
    """Return ``value`` if it is an integer in ``minimum``..``maximum``.

    Raises:
        Misconfigured: It is not.
    """
    if isinstance(value, bool) or not isinstance(value, int):
        message = f"{name} must be an integer."
        raise Misconfigured(message, field=name)
    if not minimum <= value <= maximum:
        message = f"{name} must be in {minimum}..{maximum}, not {value}."
        raise Misconfigured(message, field=name)
    return value


def embed(
    embedder: Embedder,
    texts: Sequence[str],
    *,
    role: Role,
    batch: int | None = None,
    timeout_seconds: float | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> list[list[float]]:
    """Return one vector of unit length a text, in order. Calls the embedder.

    Never call it inside a transaction: a provider may take its whole timeout.

    Args:
        embedder: From ``get_embedder``, or any other.
        texts: Any number; none makes no call.
        role: ``query`` for what asks, ``passage`` for what is searched.
        batch: Texts of one call, 1..128; the setting ``EMBED_BATCH`` when None.
        timeout_seconds: Longest wait for one call; the setting
            ``EMBED_TIMEOUT_SECONDS`` when None.
        cancelled: Asked before each call; True stops there.

    Returns:
        Shape ``(n, dimensions)``, finite, unit length.

    Raises:
        Aborted: ``cancelled`` said so; what was embedded is lost.
        Invalid: ``texts`` are not strings, or ``role`` is none.
        LimitExceeded: ``batch`` is out of its bounds.
        ProviderUnavailable: The provider did not answer, or a query too late; the same
            call may succeed.
        ProviderRejected: The provider refused a text, or its answer is unusable.
    """
    check_request(texts, role)
    size = min(check_batch(batch), embedder.max_batch)
    wait = (
        settings.EMBED_TIMEOUT_SECONDS if timeout_seconds is None else timeout_seconds
    )
    vectors: list[list[float]] = []
    for start in range(0, len(texts), size):
        if cancelled is not None and cancelled():
            message = f"Embedding was cancelled after {start} of {len(texts)} texts."
            raise Aborted(message)
        part = texts[start : start + size]
        vectors += embed_batch(embedder, part, role=role, timeout_seconds=wait)
    return vectors


def check_request(texts: object, role: object) -> None:
    if isinstance(texts, str | bytes) or not isinstance(texts, Sequence):
        message = "texts must be a list of strings."
        raise Invalid(message, field="texts")
    if not all(isinstance(text, str) for text in texts):
        message = "Every text must be a string."
        raise Invalid(message, field="texts")
    if role not in get_args(Role):
        message = f"role must be one of {', '.join(get_args(Role))}."
        raise Invalid(message, field="role")


def check_batch(batch: int | None) -> int:
    size = check_count(
        settings.EMBED_BATCH if batch is None else batch, "batch", minimum=1
    )
    if size > MAX_BATCH:
        message = f"batch is over the limit of {MAX_BATCH} texts."
        raise LimitExceeded(message, field="batch")
    return size


def embed_batch(
    embedder: Embedder, texts: Sequence[str], *, role: Role, timeout_seconds: float
) -> list[list[float]]:
    # What is stored may come late, and is kept; who asks has gone on without it.
    patience = timeout_seconds if role == "query" else math.inf
    with answered_within(embedder, patience):
        vectors = list(
            embedder.embed_texts(texts, role=role, timeout_seconds=timeout_seconds)
        )
    if len(vectors) != len(texts):
        message = f"{embedder!r} gave {len(vectors)} vectors for {len(texts)} texts."
        raise ProviderRejected(message)
    label = f"a vector of {embedder!r}"
    return [unit_vector(vector, label, embedder.dimensions) for vector in vectors]


_OUTAGES: list[type[Exception]] = [OSError]


def count_as_outage(kind: type[Exception]) -> None:
    """Let an error that ends a call from outside count as no answer."""
    if kind not in _OUTAGES:
        _OUTAGES.append(kind)


@contextmanager
def provider_errors(backend: object) -> Iterator[None]:
    """Raise what a backend let through as an error of this app.

    The message names the kind of the failure and not its words, which may quote texts.

    Raises:
        ProviderUnavailable: For an ``OSError``, a timeout among them.
        ProviderRejected: For any other: a text may be the cause, so the batch is
            halved until it stands alone.
    """
    try:
        yield
    except PrismMemoryError:
        raise
    except tuple(_OUTAGES) as error:
        message = f"{backend!r} did not answer ({type(error).__name__})."
        raise ProviderUnavailable(message) from error
    except Exception as error:
        # The one place where code of others is called, with error classes of their
        # own, so that no list of classes would be whole.
        message = f"{backend!r} failed ({type(error).__name__})."
        raise ProviderRejected(message) from error


@contextmanager
def answered_within(backend: object, timeout_seconds: float) -> Iterator[None]:
    """As ``provider_errors``, and refuse what came too late.

    Nothing interrupts a backend that overruns its time; but who asked has gone on
    without it, or should have, so its answer counts as none.

    Raises:
        ProviderUnavailable: Likewise, or it took longer.
        ProviderRejected: Likewise.
    """
    began = time.monotonic()
    with provider_errors(backend):
        yield
    if time.monotonic() - began > timeout_seconds:
        message = f"{backend!r} answered too late."
        raise ProviderUnavailable(message)


def assert_finite_vector(
    vector: object, label: str, expected_length: int
) -> list[float]:
    """Return ``vector`` as a list of floats, if it is one that can be stored (B106).

    For code of your own that makes or carries vectors; ``embed`` has done it already.

    Args:
        vector: A sequence of numbers, or an array of one dimension.
        label: What to call it in the error.
        expected_length: Its exact width.

    Raises:
        ProviderRejected: Not a list, empty, of another width, or it holds something
            that is not a finite number. A bool is none.
    """
    values = as_list(vector)
    if values is None or not values:
        message = f"{label} must be a list of numbers that is not empty."
        raise ProviderRejected(message)
    if len(values) != expected_length:
        message = f"{label} has {len(values)} dimensions, not {expected_length}."
        raise ProviderRejected(message)
    plain = {*map(type, values)} == {float}
    floats = values if plain else [as_float(value) for value in values]
    if not all(map(math.isfinite, floats)):
        where = next(i for i, x in enumerate(floats) if not math.isfinite(x))
        message = f"{label} holds no finite number at position {where}."
        raise ProviderRejected(message)
    return floats


def as_list(vector: object) -> list[Any] | None:
    """Return the items, or None for what is no list of numbers."""
    tolist = getattr(vector, "tolist", None)
    if callable(tolist):  # an array; asked this way so that NumPy stays optional
        vector = tolist()
    if isinstance(vector, str | bytes | bytearray) or not isinstance(vector, Sequence):
        return None
    return list(vector)


def as_float(value: object) -> float:
    """Return ``value`` as a float, NaN for what is no number or too large for one."""
    if type(value) is float:  # nearly all; ABC look-ups would cost a millisecond
        return value
    if isinstance(value, bool) or not isinstance(value, Real):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.inf


def unit_vector(vector: object, label: str, expected_length: int) -> list[float]:
    """Return ``vector`` scaled to length 1.

    Raises:
        ProviderRejected: See ``assert_finite_vector``; also a vector without length,
            which has no direction.
    """
    floats = assert_finite_vector(vector, label, expected_length)
    length = math.hypot(*floats)
    if not sys.float_info.min <= length <= sys.float_info.max:
        message = f"{label} has no length to divide by."
        raise ProviderRejected(message)
    return [value / length for value in floats]
