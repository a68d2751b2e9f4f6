"""How well the gate tells injections from harmless words that share theirs."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from benchmarks.labelled import Figures, figures, labelled
from benchmarks.report import Report
from prism_memory.gate import RULES, Ruleset, scan

SHORTEST: Final = 8
"""Characters of what counts as words in a file of conversations."""


def run(options: argparse.Namespace) -> Report:  # noqa: ARG001 - as every benchmark
    """Print precision and recall of both parts, and what ordinary talk is flagged."""
    rules = Ruleset(RULES)
    report = Report("gate", ["part", "injections", "harmless", "precision", "recall"])
    for part, held_out in (("tuned", False), ("held_out", True)):
        found = figures(rules, held_out=held_out)
        _add(report, part, found)
    # Keys that stand for the benchmark as a whole: of the third nobody tuned by.
    report.figures["precision"] = report.figures["held_out.precision"]
    report.figures["recall"] = report.figures["held_out.recall"]
    later = [bool(scan(one.text, rules)) for one in labelled("unseen")]
    report.figures["unseen.recall"] = sum(later) / len(later)
    report.add("unseen", len(later), "", "", report.figures["unseen.recall"])
    _add_talk(report, rules)
    return report


def _add(report: Report, part: str, found: Figures) -> None:
    report.add(
        part,
        found.flagged + found.missed,
        found.false + found.passed,
        found.precision,
        found.recall,
    )
    report.figures[f"{part}.precision"] = found.precision
    report.figures[f"{part}.recall"] = found.recall


def _add_talk(report: Report, rules: Ruleset) -> None:
    """Count what is flagged of the real conversations of the shared folder."""
    shared = Path(os.environ.get("PRISM_SHARED", "../shared"))
    texts = {
        text for file in shared.glob("data/*.json") for text in _texts(_read(file))
    }
    if not texts:
        report.notes.append("No real conversations: PRISM_SHARED names no folder.")
        return
    flagged = sum(bool(scan(text, rules)) for text in sorted(texts))
    report.figures["ordinary_texts"] = len(texts)
    report.figures["ordinary_flagged"] = flagged
    report.notes.append(f"Of {len(texts):,} ordinary texts {flagged} are flagged.")


def _read(file: Path) -> Any:  # noqa: ANN401 - any JSON
    return json.loads(file.read_text("utf-8"))


def _texts(value: Any) -> Iterator[str]:  # noqa: ANN401 - any JSON
    if isinstance(value, str):
        if len(value) >= SHORTEST:
            yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _texts(inner)
