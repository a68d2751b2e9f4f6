"""The text leg alone, in one large scope: BM25 beside OR-ed ``ts_rank``."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Any, Final

from benchmarks import loading
from benchmarks.corpus import Corpus, common_words
from benchmarks.floor import parameters
from benchmarks.report import Report
from benchmarks.timing import interleaved, p50, p95
from prism_memory import Memory
from prism_memory.types import Scope

TENANT: Final = "benchmarks"
LARGE: Final = Scope(TENANT, owner="large")
NEIGHBOURS: Final = 20

TS_RANK: Final = r"""
WITH asked AS MATERIALIZED (
  SELECT string_agg('''' || replace(replace(lexeme, '\', '\\'), '''', '''''')
                    || '''', ' | ')::tsquery AS query
    FROM (SELECT DISTINCT unnest(tsvector_to_array(
                   to_tsvector(language::regconfig, %(query)s::text))) AS lexeme
            FROM unnest(%(languages)s::text[]) AS language) AS words)
SELECT record.id, ts_rank(record.search, asked.query) AS rank
  FROM asked
  JOIN prism_memory_record AS record
    ON record.tenant = %(tenant)s::text
   AND record.scope_id = ANY(%(scope_ids)s::uuid[])
   AND record.search @@ (%(sight)s::tsquery && asked.query)
 ORDER BY rank DESC LIMIT %(rows)s::integer
"""
"""What most do: any of the words, and PostgreSQL's own rank."""


def run(options: argparse.Namespace) -> Report:
    """Fill one scope and some around it; ask with rare words and with common ones."""
    corpus = Corpus(options.seed, options.vectors)
    places = [LARGE] * options.rows + [
        Scope(TENANT, owner=f"owner-{i % NEIGHBOURS}") for i in range(options.others)
    ]
    loaded = loading.load(corpus, mixed := corpus.shuffled(places))
    own = [t for t, scope in zip(loaded.texts, mixed, strict=True) if scope == LARGE]
    chosen = corpus.choose(options.calls, len(own))
    questions = [corpus.question(own[i]) for i in chosen]
    common = [f"{question} {common_words(2)}" for question in questions]
    report = Report("text", ("questions", "call", "p50", "p95", "x ts_rank"))
    report.figures["rows"] = options.rows
    _measure(report, "bm25", questions, options.rows)
    _measure(report, "bm25_common", common, options.rows)
    return report


def _measure(report: Report, name: str, questions: Sequence[str], records: int) -> None:
    memory = Memory(LARGE)
    with loading.connect() as connection:
        given = parameters(LARGE, records)
        calls: dict[str, Callable[[str], object]] = {
            "bm25": lambda text: memory.recall(text, legs="text"),
            "ts_rank": lambda text: _rows(connection, given | {"query": text}),
        }
        times = interleaved(calls, questions)
    least = p50(times["ts_rank"])
    for call, found in times.items():
        report.add(name, call, p50(found), p95(found), p50(found) / least)
    report.figures[f"{name}_p50_ms"] = p50(times["bm25"])
    report.figures[f"{name}_p95_ms"] = p95(times["bm25"])
    report.figures[f"{name}_over_ts_rank"] = p50(times["bm25"]) / least


def _rows(connection: Any, given: dict[str, Any]) -> list[Any]:  # noqa: ANN401 - psycopg's
    found: list[Any] = connection.execute(TS_RANK, given).fetchall()
    return found
