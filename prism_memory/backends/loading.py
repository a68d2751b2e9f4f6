"""How backends load what is heavy or optional: late, once a process, after a fork anew.

Nothing here knows what an embedder is.
"""

from __future__ import annotations

import ctypes
import importlib
import importlib.util
import os
import sys
import threading
import weakref
from collections.abc import Callable
from typing import Any, Final, Generic, TypeVar

from prism_memory.errors import Misconfigured

T = TypeVar("T")


def install_hint(extra: str) -> str:
    """Return the words that tell how to install ``extra``."""
    return f'Install it with: pip install "django-prism-memory[{extra}]"'


def require(*modules: str, extra: str) -> None:
    """Check that the modules of an extra are installed, without importing them.

    Raises:
        Misconfigured: One is missing; the text names the extra.
    """
    for name in modules:
        if not is_installed(name):
            message = f"The package {name} is not installed. {install_hint(extra)}"
            raise Misconfigured(message)


def is_installed(name: str) -> bool:
    # First what is loaded: a module made by hand has no spec, and find_spec raises.
    if sys.modules.get(name) is not None:
        return True
    return importlib.util.find_spec(name) is not None


def load(name: str, *, extra: str) -> Any:  # noqa: ANN401 - optional, so untyped here
    """Import and return an optional module.

    Raises:
        Misconfigured: It cannot be imported; the text names the extra.
    """
    try:
        return importlib.import_module(name)
    except ImportError as error:
        message = f"The package {name} cannot be imported. {install_hint(extra)}"
        raise Misconfigured(message) from error


def load_onnxruntime(*, extra: str) -> Any:  # noqa: ANN401 - untyped package
    """Import and return onnxruntime without its telemetry.

    From 1.32 on the package reports its use to Microsoft. That starts a thread at
    import which a forked child waits for at its exit, for ever; and a memory that
    promises to stay on this machine should not phone. A host that sets the variable
    itself is left its choice.

    Raises:
        Misconfigured: It cannot be imported; the text names the extra.
    """
    chosen = os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    package = load("onnxruntime", extra=extra)
    if chosen == "1":  # the host may have imported it before us
        package.disable_telemetry_events()
    return package


class PerProcess(Generic[T]):
    """A value made at first use, once in each process, whichever thread comes first.

    Celery's prefork pool forks after the settings are loaded. Threads and sockets do
    not survive that, so a child makes a value of its own.

    Args:
        make: Makes the value; called under a lock.
    """

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._value: T | None = None
        _ALL.add(self)

    def get(self) -> T:
        """Return the value of this process."""
        value = self._value
        if value is None:
            with self._lock:
                if self._value is None:
                    self._value = self._make()
                value = self._value
        return value

    def pop(self) -> T | None:
        """Return the value of this process and forget it; None if none was made."""
        with self._lock:
            value, self._value = self._value, None
        return value

    def renew(self) -> None:
        """Start anew in a forked child."""
        if self._value is not None:
            # Never freed, not even at the exit: a session of onnxruntime would wait
            # there for ever for its threads, which the fork left behind.
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(self._value))
        self._value = None
        self._lock = threading.Lock()  # another thread may have held it at the fork


_ALL: Final[weakref.WeakSet[PerProcess[Any]]] = weakref.WeakSet()


def _renew_all() -> None:
    for value in list(_ALL):
        value.renew()


os.register_at_fork(after_in_child=_renew_all)
