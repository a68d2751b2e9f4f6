"""Recall in one scope, while everything around it grows."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import partial
from typing import Any, Final

from benchmarks import loading
from benchmarks.corpus import Corpus, common_words
from benchmarks.report import Report
from benchmarks.timing import interleaved, p50, p95
from prism_memory import Memory, indexing
from prism_memory.types import Scope

TENANT: Final = "benchmarks"
FIXED: Final = Scope(TENANT, owner="fixed")
NEIGHBOURS: Final = 200
"""Other scopes: half of them of the same tenant, half of twenty others."""

FACTOR: Final = 4
CALIBRATION: Final = "SELECT sum(sqrt(n)) FROM generate_series(1, 20000) AS n"
"""Work that no table has a part in: how quick the machine is at the moment."""


def run(options: argparse.Namespace) -> Report:
    """Fill up step by step, and measure the same questions after each."""
    corpus = Corpus(options.seed, options.vectors)
    others = [FIXED] * options.scope + _others(options.start - options.scope)
    loaded = loading.load(corpus, mixed := corpus.shuffled(others))
    own = [t for t, scope in zip(loaded.texts, mixed, strict=True) if scope == FIXED]
    common = common_words(2)
    questions = [
        f"{corpus.question(own[i])} {common}"
        for i in corpus.choose(options.calls, len(own))
    ]
    report = Report(
        "growth",
        (
            "rows",
            "recall p50",
            "p95",
            "text p50",
            "vector p50",
            "machine p50",
            "x first",
        ),
    )
    rows = options.start
    while True:
        _measure(report, rows, questions, hnsw=options.hnsw)
        if rows >= options.to:
            break
        more = min(rows * FACTOR, options.to) - rows
        indexing.drop_index(using="default", space=loading.space())
        loading.load(corpus, _others(more))
        rows += more
    first, last = report.rows[0], report.rows[-1]
    report.figures["growth_ratio"] = _number(last[-1])
    report.figures["growth_ratio_unscaled"] = _number(last[1]) / _number(first[1])
    machine = _number(last[-2]) / _number(first[-2])
    for leg, column in (("text", 3), ("vector", 4)):
        grown = _number(last[column]) / _number(first[column])
        report.figures[f"growth_ratio.{leg}"] = grown / machine
    report.figures["rows"] = rows
    return report


def _others(count: int) -> list[Scope]:
    scopes = [
        Scope(TENANT if i % 2 else f"tenant-{i % 40}", owner=f"owner-{i}")
        for i in range(NEIGHBOURS)
    ]
    return [scopes[i % NEIGHBOURS] for i in range(count)]


def _measure(
    report: Report, rows: int, questions: Sequence[str], *, hnsw: bool
) -> None:
    if hnsw:
        loading.build_index()
    memory = Memory(FIXED)
    with loading.connect() as connection:
        calls: dict[str, Any] = {
            "recall": memory.recall,
            "text": partial(memory.recall, legs="text"),
            "vector": partial(memory.recall, legs="vector"),
            "machine": lambda _: connection.execute(CALIBRATION).fetchall(),
        }
        times = interleaved(calls, questions)
    recall, machine = p50(times["recall"]), p50(times["machine"])
    text, vector = p50(times["text"]), p50(times["vector"])
    cells = (rows, recall, p95(times["recall"]), text, vector, machine)
    first = report.rows[0] if report.rows else cells
    ratio = recall / _number(first[1]) / (machine / _number(first[5]))
    report.add(*cells, ratio)


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0
