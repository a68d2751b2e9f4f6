"""Which connections a store opened, so that it closes these and no other (B489)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from inspect import getmembers, iscoroutinefunction, isfunction
from typing import Any, Final, TypeVar

from django.db import connections

from prism_memory.errors import Conflict

C = TypeVar("C")
R = TypeVar("R")

UNWATCHED: Final = frozenset({"close", "transaction"})
"""Methods that see to it themselves."""


class Connections:
    """The connections of one store to its database: one a thread, as Django has them.

    Args:
        using: Database alias.
    """

    def __init__(self, using: str) -> None:
        self._using = using
        self._opened = threading.local()

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Note the connection that this block opens, if it opens one."""
        wrapper = connections[self._using]
        was_open = wrapper.connection is not None
        try:
            yield
        finally:
            if not was_open and wrapper.connection is not None:
                self._opened.raw = wrapper.connection

    def close(self) -> None:
        """Close the connection of this thread, if it was opened here and still stands.

        Raises:
            Conflict: A transaction is open on it.
        """
        wrapper = connections[self._using]
        raw = getattr(self._opened, "raw", None)
        if raw is None or wrapper.connection is not raw:
            return
        if wrapper.in_atomic_block:
            message = "A transaction is open on the connection."
            raise Conflict(message)
        self._opened.raw = None
        wrapper.close()


def watching(door: type[C]) -> type[C]:
    """Let each public method of a class note what it opens in ``connections``."""
    for name, method in getmembers(door, isfunction):
        public = not name.startswith("_") and name not in UNWATCHED
        if public and not iscoroutinefunction(method):
            setattr(door, name, _watching_method(method))
    return door


def _watching_method(method: Callable[..., R]) -> Callable[..., R]:
    @wraps(method)
    def watched(self: Any, *args: Any, **kwargs: Any) -> R:  # noqa: ANN401 - any
        with self.connections.watched():
            return method(self, *args, **kwargs)

    return watched
