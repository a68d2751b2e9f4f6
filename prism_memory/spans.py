"""Spans of OpenTelemetry: what was done, for how long. Ids are hashed; no text.

Only the API package is used, so that the host chooses the SDK, the exporter and the
share that is kept. Without the package, or with ``SPANS`` off, nothing is made.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache, wraps
from importlib import import_module
from importlib.util import find_spec
from inspect import getmembers, iscoroutinefunction, isfunction
from typing import Any, Final, TypeVar

from django.utils.crypto import salted_hmac
from django.utils.module_loading import import_string

from prism_memory.conf import settings
from prism_memory.types import Scope

C = TypeVar("C")
R = TypeVar("R")

PREFIX: Final = "prism_memory."
API: Final = "opentelemetry.trace"
SALT: Final = "prism_memory.spans"
HASH_CHARACTERS: Final = 16
NAMED: Final = frozenset({"strategy"})
"""Fields of results whose texts are words of ours, and may be told."""

Note = Callable[[Mapping[str, Any]], None]
"""Adds numbers, truths and words of ours to the span at work."""


def hashed(text: str) -> str:
    """Return 16 hexadecimal digits of an HMAC-SHA-256: the same for the same id.

    Its key is ``SPAN_SALT``, or made of ``SECRET_KEY``: who reads the spans cannot try
    names out.
    """
    secret = settings.SPAN_SALT or None
    mac = salted_hmac(SALT, text, secret=secret, algorithm="sha256")
    return mac.hexdigest()[:HASH_CHARACTERS]


def place(scope: Scope) -> dict[str, str]:
    """Return where it was done, hashed."""
    return {"tenant": hashed(scope.tenant), "scope": hashed(str(scope.id))}


@contextmanager
def span(name: str, where: Callable[[], Mapping[str, Any]] = dict) -> Iterator[Note]:
    """Make a span of a block, as a child of the one at work.

    An error that leaves the block is told by its class: its words may quote a caller.

    Args:
        name: What is done, such as ``memory.recall``.
        where: What is told of it from the start; called only if anybody records.
    """
    tracer = _tracer()
    if tracer is None:
        yield _nothing
        return
    with tracer.start_as_current_span(
        PREFIX + name, record_exception=False, set_status_on_exception=False
    ) as current:
        if not current.is_recording():
            yield _nothing
            return
        current.set_attributes(_prefixed(where()))
        try:
            yield lambda told: current.set_attributes(_prefixed(told))
        except BaseException as error:
            current.set_attribute("error.type", type(error).__name__)
            current.set_status(_api().StatusCode.ERROR)
            raise


def of_the_past(
    name: str, told: Mapping[str, Any], *, start: dt.datetime, end: dt.datetime
) -> None:
    """Make a span of what has ended, which several processes may have worked on."""
    tracer = _tracer()
    if tracer is None:
        return
    made = tracer.start_span(PREFIX + name, start_time=_nanoseconds(start))
    if made.is_recording():
        made.set_attributes(_prefixed(told))
    made.end(end_time=_nanoseconds(end))


def spanned(name: str) -> Callable[[type[C]], type[C]]:
    """Return what makes a span of each public method of a door (B388).

    The door has a ``scope``. What a method returns is told by its numbers, truths and
    lengths alone; see ``counts``. An asynchronous twin calls the plain method.
    """

    def over(door: type[C]) -> type[C]:
        for verb, method in getmembers(door, isfunction):
            if verb == "__call__":
                setattr(door, verb, _method(name, method))
            elif not verb.startswith("_") and not iscoroutinefunction(method):
                setattr(door, verb, _method(f"{name}.{verb}", method))
        return door

    return over


def _method(name: str, method: Callable[..., R]) -> Callable[..., R]:
    @wraps(method)
    def within(self: Any, *args: Any, **kwargs: Any) -> R:  # noqa: ANN401 - any
        with span(name, lambda: place(self.scope)) as note:
            found = method(self, *args, **kwargs)
            if note is not _nothing:
                note(counts(found))
        return found

    return within


def counts(found: object) -> dict[str, Any]:
    """Return what may be told of a result: numbers, truths, choices and lengths.

    No text, no id and no time of it: of a text, only whether there is one.
    """
    if isinstance(found, bool | int | float):
        return {"result": found}
    if isinstance(found, tuple | list | set | frozenset):
        return {"rows": len(found)}
    if not is_dataclass(found) or isinstance(found, type):
        return {}
    told = {}
    for field in fields(found):
        value = _told(field.name, getattr(found, field.name))
        if value is not None:
            told[field.name] = value
    return told


def _told(name: str, value: object) -> Any:  # noqa: ANN401 - what a span takes
    if isinstance(value, Enum):
        return str(value.value)
    if isinstance(value, bool | int | float):
        return value
    if isinstance(value, tuple | list | set | frozenset):
        return len(value)
    if isinstance(value, str):
        return value if name in NAMED else bool(value)
    return None


def _nothing(told: Mapping[str, Any]) -> None:
    """Tell nobody."""
    del told


def _prefixed(told: Mapping[str, Any]) -> dict[str, Any]:
    return {PREFIX + name: value for name, value in told.items()}


def _nanoseconds(moment: dt.datetime) -> int:
    since = moment - dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
    return (since // dt.timedelta(microseconds=1)) * 1_000


def _tracer() -> Any:  # noqa: ANN401 - OpenTelemetry's Tracer, which may be missing
    """Return who makes spans, or None where none are to be made."""
    if settings.SPANS == "off" or not _is_there():
        return None
    if settings.TRACER:
        return import_string(settings.TRACER)()
    return _api().get_tracer("prism_memory")


@cache
def _is_there() -> bool:
    """Tell whether the API is installed. Looks once."""
    try:
        return find_spec(API) is not None
    except ModuleNotFoundError:
        return False


@cache
def _api() -> Any:  # noqa: ANN401 - a module
    return import_module(API)
