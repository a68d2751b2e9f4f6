"""Writing, against a bare COPY of the same rows and vectors."""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from functools import partial
from typing import Final

from django.utils import timezone

from benchmarks import loading
from benchmarks.corpus import Corpus
from benchmarks.report import Report
from benchmarks.timing import p50
from prism_memory import Memory, backends, indexing
from prism_memory.conf import settings
from prism_memory.types import Scope

TENANT: Final = "benchmarks"
BATCH: Final = 128
ROUNDS: Final = 4


def run(options: argparse.Namespace) -> Report:
    """Take turns: COPY, remember, drain, remember one by one; medians of the rounds."""
    corpus = Corpus(options.seed, options.vectors)
    rows = max(BATCH, options.rows // ROUNDS // BATCH * BATCH)
    times: dict[str, list[float]] = defaultdict(list)
    _round(
        corpus, rows=BATCH, singles=min(10, options.singles)
    )  # opens connections, fills caches
    for _ in range(ROUNDS):
        found = _round(corpus, rows=rows, singles=options.singles)
        for name, per_second in found.items():
            times[name].append(per_second)
    figures = {name: p50(values) for name, values in times.items()}
    copy = figures["copy_per_s"]
    figures["copy_over_remember"] = copy / figures["remember_per_s"]
    both = 1 / (1 / figures["remember_per_s"] + 1 / figures["drain_per_s"])
    figures["copy_over_remember_and_drain"] = copy / both
    report = Report("ingest", ("what", "records/s"), figures)
    report.rows.extend((name, round(p50(values))) for name, values in times.items())
    return report


def _round(corpus: Corpus, *, rows: int, singles: int) -> dict[str, float]:
    texts = corpus.texts(rows)
    passages = partial(backends.embed, backends.get_embedder(), role="passage")
    passages(texts)  # known from now on: the embedder's time does not count
    memory = Memory(Scope(TENANT, owner="remembered"), origin=loading.ORIGIN)
    found = {"copy_per_s": rows / _copy(corpus, texts)}
    started = time.perf_counter()
    for start in range(0, rows, BATCH):
        memory.remember(texts[start : start + BATCH])
    found["remember_per_s"] = rows / (time.perf_counter() - started)
    started = time.perf_counter()
    drained = indexing.drain(
        using="default",
        tenant=TENANT,
        space=loading.space(),
        embed=passages,
        batch=settings.EMBED_BATCH,
    )
    found["drain_per_s"] = drained.embedded / (time.perf_counter() - started)
    single = corpus.texts(singles)
    started = time.perf_counter()
    for text in single:
        memory.remember(text)
    found["remember_single_per_s"] = singles / (time.perf_counter() - started)
    return found


def _copy(corpus: Corpus, texts: list[str]) -> float:
    """Return the seconds that COPY takes; the rows are made before the clock runs."""
    rows, vectors = loading.prepared(texts), corpus.vectors(len(texts))
    places = [Scope(TENANT, owner="copied")] * len(texts)
    with loading.connect(autocommit=False) as connection:
        loading.write_scopes(connection, places, at := timezone.now())
        connection.commit()
        started = time.perf_counter()
        loading.copy_records(connection, places, rows, at)
        loading.copy_embeddings(connection, loading.space(), places, rows, vectors, at)
        connection.commit()
        return time.perf_counter() - started
