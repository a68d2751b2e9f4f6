"""What row-level security costs recall."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Final

from django.db import connection, connections

from benchmarks import loading
from benchmarks.corpus import Corpus
from benchmarks.report import Report
from benchmarks.timing import interleaved, p50, p95
from prism_memory import Memory
from prism_memory.db import tenancy
from prism_memory.governance import row_security
from prism_memory.types import Scope

TENANT: Final = "benchmarks"
ROLE: Final = "prism_memory_benchmarks"
SITE: Final = "site"
SCOPES: Final = (500, 5_000, 20_000)
OTHERS: Final = 20
LEAKPROOF: Final = "ALTER FUNCTION ts_match_vq(tsvector, tsquery) {} LEAKPROOF"


def run(options: argparse.Namespace) -> Report:
    """Ask the same questions as the tables' owner and as a role that policies bind."""
    corpus = Corpus(options.seed, options.vectors)
    mixed = corpus.shuffled(_scopes(options.rows))
    loaded = loading.load(corpus, mixed)
    loading.build_index()
    _execute(f"DROP ROLE IF EXISTS {ROLE}")
    _execute(f"CREATE ROLE {ROLE}")
    report = Report("row_security", ("scope", "call", "p50", "p95", "x owner"))
    try:
        row_security.enable(using="default", role=ROLE)
        _add_site()
        for rows in SCOPES:
            place = Scope(TENANT, owner=f"of-{rows}")
            own = [t for t, at in zip(loaded.texts, mixed, strict=True) if at == place]
            chosen = corpus.choose(options.calls, len(own))
            _measure(report, rows, place, [corpus.question(own[i]) for i in chosen])
    finally:
        connections[SITE].close()
        row_security.disable(using="default")
        _execute(LEAKPROOF.format("NOT"))
        _execute(f"DROP OWNED BY {ROLE}")
        _execute(f"DROP ROLE {ROLE}")
    return report


def _scopes(rows: int) -> list[Scope]:
    fixed = [Scope(TENANT, owner=f"of-{n}") for n in SCOPES for _ in range(n)]
    others = [Scope(f"tenant-{i % OTHERS}", owner="other") for i in range(rows)]
    return fixed + others[: max(0, rows - len(fixed))]


def _measure(report: Report, rows: int, place: Scope, questions: Sequence[str]) -> None:
    calls = {
        "owner": Memory(place).recall,
        "guarded": Memory(place, using=SITE).recall,
    }
    for name, marked in (("guarded", "NOT"), ("leakproof", "")):
        _execute(LEAKPROOF.format(marked))
        connections[SITE].close()  # with its plans
        times = interleaved(calls, questions)
        ratio = p50(times["guarded"]) / p50(times["owner"])
        report.add(rows, "owner", p50(times["owner"]), p95(times["owner"]), 1.0)
        report.add(rows, name, p50(times["guarded"]), p95(times["guarded"]), ratio)
        report.figures[f"{name}_over_owner.{rows}"] = ratio


def _add_site() -> None:
    """Add an alias that connects as the role which the policies bind."""
    owner = connections.databases["default"]
    options = {**owner["OPTIONS"]}
    options["options"] = f"{options.get('options', '')} -c role={ROLE}".strip()
    connections.databases[SITE] = {**owner, "OPTIONS": options}
    connections[SITE].execute_wrappers.append(tenancy.guard)


def _execute(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)
