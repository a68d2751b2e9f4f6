"""Embedders for tests of the queue: one that notes its calls, one with every fault."""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from prism_memory.backends.hashing import HashEmbedder
from prism_memory.errors import (
    Aborted,
    Misconfigured,
    ProviderRejected,
    ProviderUnavailable,
)
from prism_memory.types import EmbedderIdentity, Role, Vector

DIMENSIONS = 64


class Calls:
    """The calls of embedders in any process, a line each in one file."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)

    def note(self, texts: Sequence[str]) -> None:
        line = json.dumps({"pid": os.getpid(), "texts": list(texts)}) + "\n"
        with self.path.open("ab", buffering=0) as file:
            file.write(line.encode())

    def read(self) -> list[dict[str, Any]]:
        if not self.path.exists():
            return []
        return [json.loads(line) for line in self.path.read_text().splitlines()]

    def texts(self) -> list[str]:
        return [text for call in self.read() for text in call["texts"]]

    def pids(self) -> set[int]:
        return {call["pid"] for call in self.read()}


class NotingEmbedder(HashEmbedder):
    """Note each call before it is answered.

    Args:
        path: Where.
        pause_seconds: How long an answer takes.
        processes: Answer only when so many processes have called.
        name: Of the model.
    """

    def __init__(
        self,
        *,
        path: str,
        pause_seconds: float = 0,
        processes: int = 1,
        name: str = "fnv1a",
    ) -> None:
        super().__init__(dimensions=DIMENSIONS, for_tests=True)
        self.identity = EmbedderIdentity("hashing", name, DIMENSIONS)
        self.calls = Calls(path)
        self.pause_seconds = pause_seconds
        self.processes = processes

    def embed_texts(
        self, texts: Sequence[str], *, role: Role, timeout_seconds: float
    ) -> list[Vector]:
        self.calls.note(texts)
        time.sleep(self.pause_seconds)
        end = time.monotonic() + timeout_seconds
        while len(self.calls.pids()) < self.processes and time.monotonic() < end:
            time.sleep(0.02)
        return super().embed_texts(texts, role=role, timeout_seconds=timeout_seconds)


class SlowEmbedder(HashEmbedder):
    """Take its time, and note how much it is given."""

    def __init__(self, pause_seconds: float = 0) -> None:
        super().__init__(dimensions=DIMENSIONS, for_tests=True)
        self.pause_seconds = pause_seconds
        self.given: list[float] = []

    def embed_texts(
        self, texts: Sequence[str], *, role: Role, timeout_seconds: float
    ) -> list[Vector]:
        self.given.append(timeout_seconds)
        time.sleep(self.pause_seconds)
        return super().embed_texts(texts, role=role, timeout_seconds=timeout_seconds)


class FaultyEmbedder(HashEmbedder):
    """Fail as the first fault named in a text says; note the texts it was asked for."""

    asked: list[list[str]] = []

    def __init__(self) -> None:
        super().__init__(dimensions=DIMENSIONS, for_tests=True)
        self.asked.clear()

    def embed_texts(
        self, texts: Sequence[str], *, role: Role, timeout_seconds: float
    ) -> list[Vector]:
        self.asked.append(list(texts))
        vectors = super().embed_texts(texts, role=role, timeout_seconds=timeout_seconds)
        for place, text in enumerate(texts):
            for name, fault in FAULTS.items():
                if name in text:
                    vectors = fault(vectors, place, text)
        return vectors


def _raise(error: BaseException) -> Any:
    raise error


FAULTS = {
    "REJECTED": lambda _v, _i, _text: _raise(
        ProviderRejected("Too long for the model.")
    ),
    "VALUE": lambda _v, _i, text: _raise(ValueError(f"cannot read {text}")),
    "ATTRIBUTE": lambda _v, _i, text: _raise(AttributeError(f"no {text}")),
    "MEMORY": lambda _v, _i, text: _raise(MemoryError(text)),
    "NAN": lambda v, i, _text: [*v[:i], [math.nan] * DIMENSIONS, *v[i + 1 :]],
    "WIDE": lambda v, i, _text: [*v[:i], [*v[i], 0.0], *v[i + 1 :]],
    "COUNT": lambda v, i, _text: [*v, v[i]],
    "DOWN": lambda _v, _i, _text: _raise(ProviderUnavailable("It is down.")),
    "ABORT": lambda _v, _i, _text: _raise(Aborted()),
    "MISCONFIGURED": lambda _v, _i, _text: _raise(Misconfigured("No model file.")),
    "INTERRUPT": lambda _v, _i, _text: _raise(KeyboardInterrupt()),
    "UNFORESEEN": lambda _v, _i, text: _raise(Unforeseen(text)),
}


class Unforeseen(Exception):
    """What no contract speaks of: an SDK's own class."""
