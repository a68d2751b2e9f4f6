"""What access to documents costs recall: of tenants that restrict none, and others."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

from django.db import connection
from psycopg import sql

from benchmarks import loading
from benchmarks.corpus import Corpus
from benchmarks.report import Report
from benchmarks.timing import interleaved, p50, p95
from prism_memory import AccessGrant, Authorization, Entry, Memory, SourceRef
from prism_memory.access import Reader
from prism_memory.recall.candidates import statement
from prism_memory.types import Kind, Open, Scope

TENANT: Final = "benchmarks"
SCOPES: Final = (500, 5_000)
ADA: Final = Authorization("ada", open=Open.ALLOW)
BEFORE: Final[list[tuple[Any, str, Any]]] = [
    (Reader, "documents", lambda *_, **__: ("everything",)),
    (statement, "restricts", lambda: sql.SQL("FALSE")),
]


def run(options: argparse.Namespace) -> Report:
    """Ask the same questions by the rule without documents, and by the whole rule."""
    corpus = Corpus(options.seed, options.vectors)
    places = {size: Scope(TENANT, owner=f"of-{size}") for size in SCOPES}
    others = [Scope("another", owner="other")] * options.rows
    mixed = corpus.shuffled(
        [*(places[size] for size in SCOPES for _ in range(size)), *others]
    )
    loaded = loading.load(corpus, mixed)
    report = Report("access", ("scope", "call", "p50", "p95", "x without"))
    questions = {}
    for size, place in places.items():
        own = [t for t, at in zip(loaded.texts, mixed, strict=True) if at == place]
        chosen = corpus.choose(options.calls, len(own))
        questions[size] = [corpus.question(own[i]) for i in chosen]
        memory = Memory(place)
        calls = {"without": _without(memory), "none restricted": memory.recall}
        _measure(report, size, calls, questions[size])
    _restrict(Scope(TENANT, owner="elsewhere"))
    for size, place in places.items():
        memory = Memory(place)
        calls = {
            "without": _without(memory),
            "some restricted": memory.recall,
            "authorized": Memory(place, authorization=ADA).recall,
        }
        _measure(report, size, calls, questions[size])
    return report


def _measure(
    report: Report,
    rows: int,
    calls: dict[str, Callable[[str], object]],
    questions: Sequence[str],
) -> None:
    times = interleaved(calls, questions, rounds=3)
    for name, taken in times.items():
        ratio = p50(taken) / p50(times["without"])
        report.add(rows, name, p50(taken), p95(taken), ratio)
        if name != "without":
            report.figures[f"{name.replace(' ', '_')}_over_without.{rows}"] = ratio


def _without(memory: Memory) -> Callable[[str], object]:
    """Return the recall that there was before documents could be restricted."""

    def recall(question: str) -> object:
        with _as_before():
            return memory.recall(question)

    return recall


@contextmanager
def _as_before() -> Iterator[None]:
    was = [(owner, name, getattr(owner, name)) for owner, name, _ in BEFORE]
    try:
        for owner, name, value in BEFORE:
            setattr(owner, name, value)
        yield
    finally:
        for owner, name, value in was:
            setattr(owner, name, value)


def _restrict(scope: Scope) -> None:
    """Let the tenant restrict a hundred documents, a thousand grants in all."""
    memory = Memory(scope, origin=loading.ORIGIN)
    keys = [f"document-{n}" for n in range(100)]
    memory.remember(
        [Entry(f"In {key}.", kind=Kind.CHUNK, source=SourceRef(key)) for key in keys]
    )
    grants = [AccessGrant(f"reader-{n}") for n in range(10)]
    memory.sources.set_access(dict.fromkeys(keys, grants))
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE prism_memory_source")
        cursor.execute("ANALYZE prism_memory_sourceaccess")
