"""Documents: a big one, many of them, and what one more write costs beside many."""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable
from typing import Final

from benchmarks import loading
from benchmarks.corpus import Corpus
from benchmarks.report import Report
from benchmarks.timing import p50
from prism_memory import Memory
from prism_memory.types import Scope

TENANT: Final = "benchmarks"
MEGABYTE: Final = 1_000_000
CHUNKS: Final = 200
"""Of one document of the corpus."""

STEPS: Final = (1_000, 10_000, 100_000)
WRITES: Final = 60


def run(options: argparse.Namespace) -> Report:
    """Ingest without embedding: the drain is measured by ``ingest``."""
    corpus = Corpus(options.seed, options.vectors)
    report = Report("documents", ("what", "seconds", "chunks", "per s", "peak MB"))
    memory = Memory(Scope(TENANT, owner="reader"), origin=loading.ORIGIN)
    memory.sources.ingest("warm", "# Warm\n\nup")
    _one(report, corpus, memory, options.megabytes)
    _many(report, corpus, options.chunks)
    _write_costs(report, corpus)
    return report


def _one(report: Report, corpus: Corpus, memory: Memory, megabytes: int) -> None:
    text = _document(corpus, megabytes * MEGABYTE)
    ingest = memory.sources.ingest
    steps: dict[str, Callable[[], object]] = {
        "big.new": lambda: ingest("big", text),
        "big.same": lambda: ingest("big", text),
        "big.moved": lambda: ingest("big", "First of all.\n\n" + text),
        "big.one_changed": lambda: ingest(
            "big", text.replace("Part 7.", "Part seven.")
        ),
    }
    for name, step in steps.items():
        started = time.perf_counter()
        step()
        seconds = time.perf_counter() - started
        chunks = memory.sources.status("big").chunks
        _add(report, f"{megabytes}_mb.{name}", seconds, chunks)


def _many(report: Report, corpus: Corpus, chunks: int) -> None:
    memory = Memory(Scope(TENANT, owner="library"), origin=loading.ORIGIN)
    texts = corpus.texts(CHUNKS)
    began = time.perf_counter()
    for number in range(chunks // CHUNKS):
        parts = (f"# {number}.{i}\n\n{text}" for i, text in enumerate(texts))
        memory.sources.ingest(f"document-{number}", "\n\n".join(parts))
    _add(report, f"corpus_{chunks}", time.perf_counter() - began, chunks)


def _write_costs(report: Report, corpus: Corpus) -> None:
    """Time one write at 1,000, 10,000 and 100,000 records of the tenant (C33)."""
    crowded = Scope("crowded", owner="ada")
    memory = Memory(crowded, origin=loading.ORIGIN)
    loaded = 0
    for step in STEPS:
        loading.load(corpus, [crowded] * (step - loaded))
        loaded = step
        remembered, ingested = [], []
        for number in range(WRITES):
            started = time.perf_counter()
            memory.remember(f"One more note, {step} {number}.")
            remembered.append(time.perf_counter() - started)
            started = time.perf_counter()
            memory.sources.ingest(f"n-{step}-{number}", "# A\n\nb\n\n# C\n\nd")
            ingested.append(time.perf_counter() - started)
        _add(report, f"one_remember_at_{step}", p50(remembered), 1)
        _add(report, f"one_ingest_at_{step}", p50(ingested), 2)


def _document(corpus: Corpus, characters: int) -> str:
    parts: list[str] = []
    size, number = 0, 0
    while size < characters:
        number += 1
        words = " ".join(corpus.texts(8))
        parts.append(f"## Part {number}.\n\n{words}")
        size += len(parts[-1]) + 2
    return "\n\n".join(parts)


def _add(report: Report, name: str, seconds: float, chunks: int) -> None:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1_024
    report.add(name, seconds, chunks, round(chunks / seconds), round(peak))
    report.figures[f"{name}.seconds"] = seconds
    report.figures[f"{name}.peak_mb"] = peak
