"""Read files in a process of its own, which may take so long and so much memory.

A file is written by others, and its format's library is large: what makes it hang, eat
memory or break down must cost that one file, not the run.
"""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import resource
from collections.abc import Iterator
from dataclasses import asdict
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from typing import Any, Final

from prism_memory.errors import (
    Invalid,
    LimitExceeded,
    Misconfigured,
    PrismMemoryError,
)
from prism_memory.ingest.reading.choosing import read
from prism_memory.ingest.reading.values import Document, Unreadable

SECONDS: Final = 120.0
MEMORY_BYTES: Final = 2_147_483_648

IN_HERE: Final = frozenset({"text", "markdown"})
"""Formats that no library reads: nothing to fear."""

ERRORS: Final[dict[str, type[PrismMemoryError]]] = {
    kind.code: kind for kind in (Invalid, LimitExceeded, Misconfigured, Unreadable)
}


class BoundedReader:
    """Reads one file after another; the process starts with the first that needs it.

    Args:
        seconds: What one file may take.
    """

    def __init__(self, *, seconds: float = SECONDS) -> None:
        self.seconds = seconds
        self._process: SpawnProcess | None = None
        self._pipe: Connection | None = None

    def read(
        self, content: bytes, format_: str, *, encoding: str | None = None
    ) -> Document:
        """Return the words of a file; see ``choosing.read``.

        Raises:
            Unreadable: Also, it took too long or too much memory.
            Invalid, LimitExceeded, Misconfigured: See ``choosing.read``.
        """
        if format_ in IN_HERE:
            return read(content, format_, encoding=encoding)
        try:
            answer = self._asked(self._started(), content, [format_, encoding])
        except (EOFError, OSError):
            self.close()
            message = "its reader broke down."
            raise Unreadable(message, field="file") from None
        if answer is None:
            self.close()
            message = f"reading it took over {self.seconds:g} s."
            raise Unreadable(message, field="file")
        return _document(answer)

    def _asked(
        self, pipe: Connection, content: bytes, how: list[str | None]
    ) -> dict[str, Any] | None:
        pipe.send_bytes(json.dumps(how).encode())
        pipe.send_bytes(content)
        # JSON, not objects: what comes back may be of a process that was taken over.
        answered = pipe.poll(self.seconds)
        return json.loads(pipe.recv_bytes()) if answered else None

    def close(self) -> None:
        """End the process, whatever it does."""
        process, pipe = self._process, self._pipe
        self._process = self._pipe = None
        if process is not None and pipe is not None:
            process.kill()
            process.join()
            process.close()
            pipe.close()

    def _started(self) -> Connection:
        if self._pipe is None:
            spawn = multiprocessing.get_context("spawn")
            self._pipe, other = spawn.Pipe()
            self._process = spawn.Process(target=serve, args=(other,), daemon=True)
            self._process.start()
            other.close()
        return self._pipe


@contextlib.contextmanager
def bounded_reader(*, seconds: float = SECONDS) -> Iterator[BoundedReader]:
    """Yield a reader whose process ends with the block."""
    reader = BoundedReader(seconds=seconds)
    try:
        yield reader
    finally:
        reader.close()


def serve(pipe: Connection) -> None:
    """Read what comes through the pipe until it closes: the process of its own."""
    _bound_memory()
    with contextlib.suppress(EOFError, KeyboardInterrupt):
        while True:
            format_, encoding = json.loads(pipe.recv_bytes())
            pipe.send_bytes(json.dumps(_answer(pipe, format_, encoding)).encode())


def _bound_memory() -> None:
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    bound = MEMORY_BYTES if most == resource.RLIM_INFINITY else min(MEMORY_BYTES, most)
    with contextlib.suppress(OSError, ValueError):  # macOS has it, and refuses it
        resource.setrlimit(resource.RLIMIT_AS, (bound, most))


def _answer(pipe: Connection, format_: str, encoding: str | None) -> dict[str, Any]:
    try:
        return asdict(read(pipe.recv_bytes(), format_, encoding=encoding))
    except MemoryError:
        message = f"reading it takes over {MEMORY_BYTES:,} bytes of memory."
        return {"code": Unreadable.code, "message": message, "field": "file"}
    except tuple(ERRORS.values()) as error:
        return {"code": error.code, "message": str(error), "field": error.field}


def _document(answer: dict[str, Any]) -> Document:
    if "code" in answer:
        raise ERRORS[answer["code"]](answer["message"], field=answer["field"])
    return Document(**answer)
