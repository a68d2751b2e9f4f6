"""Full pages and true neighbours under scope filters of any width."""

from __future__ import annotations

import argparse
import uuid
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from django.conf import settings as django_settings
from django.test import override_settings

from benchmarks import loading
from benchmarks.corpus import Corpus, Vectors
from benchmarks.report import Report
from prism_memory import Memory, backends
from prism_memory.types import Scope

TENANT: Final = "benchmarks"
SHARES: Final = (0.0025, 0.02, 0.05, 0.2, 0.5)
ASKED: Final = 32
TIMES: Final = 12
TIE: Final = 1e-5
"""Two neighbours nearer to each other than this are one to half precision."""

REGIMES: Final[Mapping[str, dict[str, int]]] = {
    "chosen": {},
    "exact": {"EXACT_SCAN_ROWS": 1_000_000},
    "index": {"EXACT_SCAN_ROWS": 0},
}
"""As the app chooses by the settings' defaults, and each of its two ways forced."""


@dataclass(frozen=True)
class Stored:
    """One scope as it is in the database: the oracle's ground."""

    ids: Sequence[uuid.UUID]
    vectors: Vectors


def run(options: argparse.Namespace) -> Report:
    """Measure each table size in each regime."""
    report = Report(
        "filtered",
        ("table", "share", "regime", "strategy", "rows", "neighbours", "worst"),
    )
    lowest: dict[str, list[float]] = defaultdict(list)
    for rows in options.rows:
        corpus = Corpus(options.seed, options.vectors)
        texts = _fill(corpus, rows)
        for regime, given in REGIMES.items():
            with override_settings(PRISM_MEMORY=django_settings.PRISM_MEMORY | given):
                for share in SHARES:
                    questions = [corpus.question(text) for text in texts[:TIMES]]
                    found = _measure(scope_of(share), questions)
                    report.add(rows, share, regime, *found)
                    lowest[f"rows_share_min.{regime}"].append(found[1])
                    lowest[f"neighbours_share_min.{regime}"].append(found[2])
                    lowest[f"neighbours_share_worst.{regime}"].append(found[3])
    for name, values in lowest.items():
        report.figures[name] = min(values)
    for name in ("rows_share_min", "neighbours_share_min", "neighbours_share_worst"):
        report.figures[name] = report.figures[f"{name}.chosen"]
    return report


def scope_of(share: float) -> Scope:
    """Return the scope that holds that share of the table."""
    return Scope(TENANT, owner=f"share-{share:g}")


def _fill(corpus: Corpus, rows: int) -> list[str]:
    loading.empty()
    counts = {scope_of(share): max(1, int(rows * share)) for share in SHARES}
    counts[Scope(TENANT, owner="rest")] = rows - sum(counts.values())
    places = [scope for scope, count in counts.items() for _ in range(count)]
    loaded = loading.load(corpus, corpus.shuffled(places))
    loading.build_index()
    return loaded.texts


def _measure(scope: Scope, questions: Sequence[str]) -> tuple[str, float, float, float]:
    """Return the strategy, the emptiest page, and the mean and the worst neighbours."""
    memory, stored = Memory(scope), _stored(scope)
    wanted = min(ASKED, len(stored.ids))
    memory.recall(questions[0])  # the app learns how large the scope is by asking
    rows, neighbours, strategies = [], [], set()
    for question in questions:
        found = memory.recall(question, top_k=ASKED)
        rows.append(len(found.hits) / wanted)
        near = memory.recall(question, top_k=ASKED, legs="vector")
        neighbours.append(_share(stored, question, [h.id for h in near.hits]))
        strategies |= {found.strategy, near.strategy}
    mean = sum(neighbours) / len(neighbours)
    return "+".join(sorted(strategies)), min(rows), mean, min(neighbours)


def _stored(scope: Scope) -> Stored:
    with loading.connect() as connection:
        found: list[Any] = connection.execute(
            "SELECT record_id, vector FROM prism_memory_embedding"
            " WHERE tenant = %s AND scope_id = %s",
            [scope.tenant, scope.id],
        ).fetchall()
    vectors = np.array([vector.to_numpy() for _, vector in found], np.float32)
    return Stored([record_id for record_id, _ in found], vectors)


def _share(stored: Stored, question: str, found: Sequence[uuid.UUID]) -> float:
    """Return how many of the exact neighbours were found; equal ones are one."""
    embedder = backends.get_embedder()
    asked = np.array(backends.embed(embedder, [question], role="query")[0], np.float16)
    vector = asked.astype(np.float32)
    lengths = np.linalg.norm(stored.vectors, axis=1) * np.linalg.norm(vector)
    cosines = stored.vectors @ vector / lengths
    wanted = min(ASKED, len(cosines))
    least = float(np.partition(cosines, -wanted)[-wanted]) - TIE
    near = cosines >= least
    known = {i for i, is_near in zip(stored.ids, near, strict=True) if is_near}
    true = len(known.intersection(found))
    return min(true, wanted) / wanted
