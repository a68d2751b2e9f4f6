"""Recall against the floor, by the size of the scope."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, Final

from django.db import connection

from benchmarks import loading, serving
from benchmarks.corpus import Corpus
from benchmarks.floor import Floor
from benchmarks.report import Report
from benchmarks.timing import interleaved, p50, p95
from prism_memory import Memory, backends
from prism_memory.conf import settings
from prism_memory.indexing import Space
from prism_memory.types import Scope

TENANT: Final = "benchmarks"
SMALLEST: Final = 50
WANTED: Final = {500: 600, 5_000: 20_000, 20_000: 200_000, 50_000: 200_000}
"""Scope sizes that are always measured, from that many rows in the table on."""

HTTP_SCOPE: Final = 500
NOT_COUNTED: Final = (
    "SAVEPOINT",
    "RELEASE",
    "ROLLBACK",
    "BEGIN",
    "COMMIT",
    "SET LOCAL",
)


def run(options: argparse.Namespace) -> Report:
    """Fill the table, then measure one scope after the other."""
    corpus = Corpus(options.seed, options.vectors)
    sizes = scope_sizes(options.rows, options.scopes)
    scopes = [Scope(TENANT, owner=f"owner-{i}") for i in range(len(sizes))]
    places = [s for s, size in zip(scopes, sizes, strict=True) for _ in range(size)]
    loaded = loading.load(corpus, mixed := corpus.shuffled(places))
    space = loading.space()
    if options.rows > settings.EXACT_SCAN_ROWS:
        space = loading.build_index()
    report = Report("latency", ("rows", "recall p50", "p95", "floor p50", "p95", "x"))
    for scope, size in zip(scopes, sizes, strict=True):
        own = [t for t, s in zip(loaded.texts, mixed, strict=True) if s == scope]
        questions = [
            corpus.question(own[i]) for i in corpus.choose(options.calls, size)
        ]
        _measure(report, scope, size, space, questions)
        if options.http and size == HTTP_SCOPE:
            _measure_http(report, scope, questions)
    report.figures["statements_per_recall"] = count_statements(scopes[0], "what was it")
    return report


def scope_sizes(rows: int, count: int) -> list[int]:
    """Return ``count`` sizes that add up to ``rows``: the wanted ones, and from 50 up.

    Raises:
        ValueError: ``rows`` are too few for so many scopes.
    """
    wanted = [size for size, least in WANTED.items() if rows >= least][:count]
    others = count - len(wanted)
    left = rows - sum(wanted)
    if left < SMALLEST * others:
        message = f"{count} scopes need at least {SMALLEST * count + sum(wanted)} rows."
        raise ValueError(message)
    low, high = 1.0, 2.0
    for _ in range(60):
        ratio = (low + high) / 2
        total = sum(SMALLEST * ratio**i for i in range(others))
        low, high = (ratio, high) if total < left else (low, ratio)
    sizes = [int(SMALLEST * low**i) for i in range(others)]
    if sizes:
        sizes[-1] += left - sum(sizes)
    return sorted(wanted + sizes)


def _measure(
    report: Report, scope: Scope, size: int, space: Space, questions: list[str]
) -> None:
    memory = Memory(scope)
    embed = partial(backends.embed, backends.get_embedder(), role="query")
    vectors = {question: embed([question])[0] for question in questions}
    floor = Floor(scope, size, space, indexed=_goes_by_index(memory, questions))
    floor.learn(questions)
    times = interleaved(
        {"recall": memory.recall, "floor": lambda text: floor(text, vectors[text])},
        questions,
    )
    floor.close()
    recall, bottom = times["recall"], times["floor"]
    ratio = p50(recall) / p50(bottom)
    report.add(size, p50(recall), p95(recall), p50(bottom), p95(bottom), ratio)
    if size in WANTED:
        report.figures[f"in_process_over_floor.{size}"] = ratio
        report.figures[f"in_process_minus_floor_ms.{size}"] = p50(recall) - p50(bottom)
        report.figures[f"in_process_p50_ms.{size}"] = p50(recall)


def _goes_by_index(memory: Memory, questions: list[str]) -> bool:
    """Return how recall looks for vectors here: the floor does as it does."""
    memory.recall(questions[0])  # the app learns how large the scope is by asking
    return memory.recall(questions[0]).strategy == "index"


def _measure_http(report: Report, scope: Scope, questions: list[str]) -> None:
    with serving.server(scope) as ask:
        times = interleaved({"http": ask, "recall": Memory(scope).recall}, questions)
    report.figures["http_p50_ms"] = p50(times["http"])
    report.figures["http_p95_ms"] = p95(times["http"])
    report.figures["http_minus_in_process_ms"] = p50(times["http"]) - p50(
        times["recall"]
    )


def count_statements(scope: Scope, question: str) -> int:
    """Return how many statements one recall sends, but for those of transactions."""
    Memory(scope).recall(question)
    with counted() as statements:
        Memory(scope).recall(question)
    return len(statements)


@contextmanager
def counted() -> Iterator[list[str]]:
    """Collect the statements of a block that are neither transactions nor settings."""
    found: list[str] = []

    def see(execute: Any, text: str, *rest: Any) -> Any:  # noqa: ANN401 - Django's own
        if not text.startswith(NOT_COUNTED) and "set_config" not in text:
            found.append(text)
        return execute(text, *rest)

    with connection.execute_wrapper(see):
        yield found
