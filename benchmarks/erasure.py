"""Erasing an owner, with as many of others' records around it."""

from __future__ import annotations

import argparse
import random
import time
from dataclasses import dataclass, field
from typing import Any, Final

from django.utils import timezone
from psycopg import sql

from benchmarks import loading
from benchmarks.corpus import Corpus
from benchmarks.report import Report
from prism_memory.governance import erasure
from prism_memory.governance.erasure.position import State
from prism_memory.types import Actor, Scope

TENANT: Final = "benchmarks"
THREADS: Final = 1_000
DERIVED_OF: Final = 4
"""One record in so many is derived from another one of its owner's."""

OWNER: Final = Scope(TENANT, owner="erased")
OTHER: Final = Scope(TENANT, owner="stays")


@dataclass
class Pages:
    """How long each page took."""

    last: float = field(default_factory=time.perf_counter)
    seconds: list[float] = field(default_factory=list)

    def note(self, state: State) -> None:
        """Note that a page is done."""
        del state
        now = time.perf_counter()
        self.seconds.append(now - self.last)
        self.last = now


def run(options: argparse.Namespace) -> Report:
    """Load two owners, erase one, and look that nothing of it is left."""
    corpus = Corpus(options.seed, options.vectors)
    _load(corpus, OTHER, options.rows)
    ids = _load(corpus, OWNER, options.rows)
    links = _derive(ids, options.seed)
    if options.hnsw:
        loading.build_index()
    loading.vacuum()
    pages = Pages()
    started = time.perf_counter()
    done = erasure.erase(
        using="default",
        scope=OWNER,
        actor=Actor("benchmark"),
        at=timezone.now(),
        progress=pages.note,
    )
    seconds = time.perf_counter() - started
    left = _left()
    figures = {
        "erase_seconds": seconds,
        "erase_per_s": options.rows / seconds,
        "slowest_page_seconds": max(pages.seconds),
        "rows_left": float(left),
    }
    report = Report("erasure", ("what", "value"), figures)
    report.add("records erased", done.records)
    report.add("vectors erased", done.vectors)
    report.add("links", links)
    report.add("transactions", len(pages.seconds))
    report.rows.extend(figures.items())
    return report


def _load(corpus: Corpus, owner: Scope, rows: int) -> list[Any]:
    threads = [owner.with_thread(f"thread-{i}") for i in range(THREADS)]
    places = [threads[i % THREADS] for i in range(rows)]
    return loading.load(corpus, places).ids


def _derive(ids: list[Any], seed: int) -> int:
    """Derive one record in four from a random earlier one; return how many."""
    chance = random.Random(seed)
    chosen = range(1, len(ids), DERIVED_OF)
    with loading.connect() as connection, connection.cursor() as cursor:
        statement = sql.SQL(
            "COPY prism_memory_lineageedge (tenant, record_id, source_ref, position)"
            " FROM STDIN"
        )
        with cursor.copy(statement) as copy:
            for i in chosen:
                source = f"record:{ids[chance.randrange(i)]}"
                copy.write_row((TENANT, ids[i], source, 0))
        cursor.execute("VACUUM (ANALYZE) prism_memory_lineageedge")
    return len(chosen)


def _left() -> int:
    """Count the owner's records and vectors that are still there."""
    with loading.connect() as connection:
        found = connection.execute(
            "SELECT count(*) + count(embedding.record_id)"
            " FROM prism_memory_scope AS scope"
            " JOIN prism_memory_record AS record"
            "   ON record.tenant = scope.tenant AND record.scope_id = scope.id"
            " LEFT JOIN prism_memory_embedding AS embedding"
            "   ON embedding.tenant = record.tenant"
            "  AND embedding.record_id = record.id"
            " WHERE scope.tenant = %s AND scope.owner = %s",
            [TENANT, OWNER.owner],
        ).fetchone()
    return int(found[0]) if found else 0
