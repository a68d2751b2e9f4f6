"""The conversations of the demo, the questions about them, and how well they go."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from example_project.embedded import CHECKOUT

OURS = CHECKOUT / "example_project" / "data" / "conversations.json"
EVIDENCE = re.compile(r"D:?\s*(\d+):(\d+)")
ASKED = (1, 2, 3, 4)
"""Categories that have an answer; 5 asks what was never said."""

Search = Callable[[str, str, int], list[str]]
"""``(conversation, question, k)`` to the keys of the hits, best first."""


@dataclass(frozen=True)
class Question:
    """A question, and the turns that answer it."""

    text: str
    answer: str
    category: int
    evidence: frozenset[str]


@dataclass(frozen=True)
class Conversation:
    """One owner's memory."""

    name: str
    turns: int
    questions: tuple[Question, ...]


@dataclass(frozen=True)
class Quality:
    """How recall did on the questions."""

    questions: int
    recall_at_10: float
    p50_ms: float
    p95_ms: float
    measured_by: str


def shared_folder() -> Path:
    """Return the folder of reference data; it need not exist."""
    return Path(os.environ.get("PRISM_SHARED", CHECKOUT.parent / "shared"))


def data_file() -> Path:
    """Return the published conversations where they are at hand, else our own."""
    published = shared_folder() / "data" / "locomo-dev.json"
    return published if published.is_file() else OURS


def read(path: Path, limit: int) -> list[Conversation]:
    """Return the first conversations of a file."""
    found: list[dict[str, Any]] = json.loads(path.read_bytes())
    return [_conversation(item) for item in found[:limit]]


def _conversation(item: dict[str, Any]) -> Conversation:
    turns = [
        turn["dia_id"]
        for name, session in item["conversation"].items()
        if re.fullmatch(r"session_\d+", name)
        for turn in session
    ]
    known = frozenset(turns)
    questions = tuple(_question(asked, known) for asked in item["qa"])
    return Conversation(item["sample_id"], len(turns), questions)


def _question(asked: dict[str, Any], known: frozenset[str]) -> Question:
    ids = frozenset(
        f"D{int(session)}:{int(turn)}"
        for written in asked.get("evidence", [])
        for session, turn in EVIDENCE.findall(written)
    )
    answer = str(asked.get("answer", ""))
    return Question(asked["question"], answer, asked["category"], ids & known)


def labelled(conversation: Conversation) -> list[Question]:
    """Return the questions that have an answer and name the turns that hold it."""
    asked = conversation.questions
    return [q for q in asked if q.category in ASKED and q.evidence]


def examples(conversation: Conversation) -> list[Question]:
    """Return the first question of each kind that the demo shows; not the best ones."""
    questions = labelled(conversation)
    found = (next((q for q in questions if q.category == c), None) for c in (4, 2, 1))
    return [question for question in found if question]


def measure(search: Search, path: Path, chosen: Sequence[Conversation]) -> Quality:
    """Ask every labelled question and return how well and how quickly it went."""
    milliseconds: list[float] = []

    def timed(name: str, question: str, k: int) -> list[str]:
        started = time.perf_counter()
        keys = search(name, question, k)
        milliseconds.append((time.perf_counter() - started) * 1_000)
        return keys

    script = shared_folder() / "eval" / "locomo_eval.py"
    if script.is_file():
        share = _evaluated(script, timed, path, {item.name for item in chosen})
    else:
        share = _plain_share(timed, chosen)
    cuts = statistics.quantiles(milliseconds, n=20)
    by = "locomo_eval.py" if script.is_file() else "the demo itself"
    return Quality(len(milliseconds), share, cuts[9], cuts[18], by)


def _evaluated(script: Path, search: Search, path: Path, names: set[str]) -> float:
    spec = importlib.util.spec_from_file_location("locomo_eval", script)
    if spec is None or spec.loader is None:
        raise ImportError(script)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    loaded = [item for item in module.load(path) if item.id in names]
    for item in loaded:
        item.questions = [q for q in item.questions if q["category"] in ASKED]
    report = module.evaluate(search, loaded, ks=(10,), depth=10)
    return float(report["overall"]["recall@10"])


def _plain_share(search: Search, chosen: Sequence[Conversation]) -> float:
    shares = [
        len(question.evidence.intersection(search(item.name, question.text, 10)))
        / len(question.evidence)
        for item in chosen
        for question in labelled(item)
    ]
    return statistics.fmean(shares)
