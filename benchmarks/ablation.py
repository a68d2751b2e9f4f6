"""What each part of recall is worth: one changed at a time, the same questions asked.

A variation is a name and what changes while it runs. One that changes what is written
has an import of its own; the others ask what was written as shipped.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
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
from prism_memory.lifecycle.situating import BOTH, SEEN_BY

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


def setting(**values: object) -> Changed:
    """Return what sets some of ``PRISM_MEMORY``."""

    def changed() -> AbstractContextManager[object]:
        return override_settings(PRISM_MEMORY={**settings.PRISM_MEMORY, **values})

    return changed


def seen(**by: frozenset[str]) -> Changed:
    """Return what shows fields to other index texts than it is shipped."""
    nobody: Mapping[str, frozenset[str]] = dict.fromkeys(SEEN_BY, frozenset())
    return constant("prism_memory.lifecycle.situating.SEEN_BY", {**nobody, **by})


VARIATIONS: Final[list[Variation]] = [
    Variation("as-shipped", nullcontext),
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
