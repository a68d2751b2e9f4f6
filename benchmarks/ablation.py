"""What each part of recall is worth: one changed at a time, the same questions asked.

A variation is a name and what changes while it runs. One that changes what is written
has an import of its own; the others ask what was written as shipped.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any, Final
from unittest.mock import patch

from django.conf import settings
from django.test import override_settings

from benchmarks.locomo import (
    LEGS,
    METRICS,
    TENANT,
    import_conversations,
    load_evaluation,
    score,
)
from benchmarks.report import Report
from prism_memory.db.queries import named
from prism_memory.lifecycle.situating import BOTH, SEEN_BY
from prism_memory.recall.candidates import statement

Changed = Callable[[], AbstractContextManager[object]]

SHOWN: Final = ("recall@5", "recall@10", "recall@20", "ndcg@10", "mrr")


@dataclass(frozen=True)
class Variation:
    """One thing done another way.

    Args:
        name: In the table and in the figures.
        changed: Gives the block in which it is done so.
        written: What is written differs, so that it needs an import of its own.
        legs: Those that it can change; asked by each.
    """

    name: str
    changed: Changed
    written: bool = False
    legs: tuple[str, ...] = LEGS


def constant(path: str, value: object) -> Changed:
    """Return what sets a constant of a module, by its dotted path."""
    return partial(patch, path, value)


def constants(**values: object) -> Changed:
    """Return what sets constants of ``recall``; ``module__NAME`` names one."""

    def changed() -> AbstractContextManager[object]:
        stack = ExitStack()
        for name, value in values.items():
            path = f"prism_memory.recall.{name.replace('__', '.')}"
            stack.enter_context(patch(path, value))
        return stack

    return changed


@contextmanager
def ts_rank() -> Iterator[None]:
    """Rank words by PostgreSQL's own rank, each word alike, however rare."""
    with patch.dict(named("recall"), scored=TS_RANK):
        statement.forget_texts()
        yield
    statement.forget_texts()


def stacked(*changes: Changed) -> Changed:
    """Return what makes several changes."""

    def changed() -> AbstractContextManager[object]:
        stack = ExitStack()
        for change in changes:
            stack.enter_context(change())
        return stack

    return changed


def asking(**options: object) -> Changed:
    """Return what asks with these options of a recall."""
    return setting(SEARCH_DEFAULTS=options)


def setting(**values: object) -> Changed:
    """Return what sets some of ``PRISM_MEMORY``."""

    def changed() -> AbstractContextManager[object]:
        return override_settings(PRISM_MEMORY={**settings.PRISM_MEMORY, **values})

    return changed


def seen(**by: frozenset[str]) -> Changed:
    """Return what shows fields to other index texts than it is shipped."""
    nobody: Mapping[str, frozenset[str]] = dict.fromkeys(SEEN_BY, frozenset())
    return constant("prism_memory.lifecycle.situating.SEEN_BY", {**nobody, **by})


TS_RANK: Final = """
scored AS MATERIALIZED (
  SELECT record_id, sum(frequency)::float8 AS score FROM matches GROUP BY record_id)
"""

FUSED: Final = ("hybrid",)
TOLD: Final = ("text", "hybrid")
"""What is said of words or of what stands around leaves the vector leg alone."""

VARIATIONS: Final[list[Variation]] = [
    Variation("as-shipped", nullcontext),
    Variation("ts-rank", ts_rank, legs=TOLD),
    Variation("ts-rank-alone", stacked(ts_rank, asking(context=False)), legs=TOLD),
    Variation("no-context", asking(context=False), legs=TOLD),
    Variation("no-neighbours", constants(context__GIVERS=()), legs=TOLD),
    Variation(
        "neighbours-found-only",
        constants(candidates__statement__ANCHORS=0),
        legs=TOLD,
    ),
    Variation("no-source", constants(context__SOURCE_SHARE=0.0), legs=TOLD),
    Variation("no-writer", constants(context__WRITER_SHARE=0.0), legs=TOLD),
    Variation(
        "questions-as-others",
        constants(context__ASKING_GIVES=1.0, context__ASKING_COUNTS=1.0),
        legs=TOLD,
    ),
    Variation(
        "plain-shares",
        constants(fusion__SHARPNESS=dict.fromkeys(("vector", "text"), 1.0)),
        legs=TOLD,
    ),
    Variation("equal-weights", asking(weights={"vector": 1, "text": 1}), legs=FUSED),
    Variation("rrf-60", asking(fusion="rrf", rrf_k=60), legs=FUSED),
    Variation("rrf-10", asking(fusion="rrf", rrf_k=10), legs=FUSED),
    Variation("blend", asking(fusion="blend"), legs=FUSED),
    Variation("depth-32", constants(question__CANDIDATES_AT_MOST=32), legs=TOLD),
    Variation("depth-64", constants(question__CANDIDATES_AT_MOST=64), legs=TOLD),
    Variation("words-alone", setting(SITUATE="off"), written=True),
    Variation("speaker", seen(speaker=BOTH), written=True),
    Variation("speaker-caption", seen(speaker=BOTH, caption=BOTH), written=True),
    Variation(
        "date-in-both",
        seen(speaker=BOTH, caption=BOTH, date=BOTH),
        written=True,
    ),
]


def run(options: argparse.Namespace) -> Report:
    """Import once for each kind of index text, then ask by each leg."""
    evaluation = load_evaluation()
    conversations = evaluation.load(options.data)[: options.conversations]
    import_conversations(options, tenant=TENANT)
    report = Report("ablation", ("changed", "leg", *SHOWN))
    for variation in VARIATIONS:
        if options.only and variation.name not in options.only:
            continue
        with variation.changed():
            tenant = TENANT
            if variation.written:
                tenant = f"{TENANT}-{variation.name}"
                import_conversations(options, tenant=tenant)
            for leg in variation.legs:
                found = score(evaluation, conversations, leg=leg, tenant=tenant)
                _add(report, variation.name, leg, found)
    report.notes.append(f"{report.figures['questions']:g} questions")
    return report


def _add(report: Report, name: str, leg: str, found: Mapping[str, Any]) -> None:
    report.add(name, leg, *(found[metric] for metric in SHOWN))
    # What people get has the short key; a leg alone names itself.
    prefix = f"ablation.{name}" if leg == "hybrid" else f"ablation.{name}.{leg}"
    for metric in METRICS:
        report.figures[f"{prefix}.{metric}"] = found[metric]
    report.figures["questions"] = found["n"]
