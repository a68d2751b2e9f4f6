"""Ours beside other memory systems: the same rows, questions, vectors, PostgreSQL."""

from __future__ import annotations

import argparse
import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from importlib.metadata import PackageNotFoundError
from typing import Any, Final

from benchmarks.corpus import Corpus
from benchmarks.locomo import load_evaluation
from benchmarks.report import Report
from benchmarks.systems.base import Known, System, Turn
from benchmarks.systems.langgraph import LangGraph
from benchmarks.systems.mem0 import Mem0
from benchmarks.systems.memnos import Memnos
from benchmarks.systems.ours import Ours
from benchmarks.timing import interleaved, p50, p95
from prism_memory.ingest.locomo import session_time

SYSTEMS: Final[Sequence[type[System]]] = (Ours, LangGraph, Mem0, Memnos)
TIMED: Final = {"small": 0.0125, "middle": 0.125, "large": 0.5}
"""Scopes that are timed, as shares of the table: 500, 5,000 and 20,000 of 40,000."""

FILTERED: Final = (0.0025, 0.02, 0.05, 0.2)
"""Scopes whose pages are counted."""

ASKED: Final = 32
TIMES: Final = 12
WANTED: Final = 10
"""What a timed question asks for."""

Systems = Mapping[str, System]


def run(options: argparse.Namespace) -> Report:
    """Open what is installed; ask real questions, then count pages, then take times."""
    logging.getLogger("mem0").setLevel(logging.ERROR)
    report = Report("peers", ("system", "measure", "value"))
    known = Known()
    with opened(report, known, options.only or [s.name for s in SYSTEMS]) as systems:
        if options.data:
            known.alias = "minilm"
            _locomo(report, systems, options)
            known.alias = "default"
        corpus = Corpus(options.seed, options.vectors)
        texts = _fill(corpus, options.rows, systems)
        _count_pages(report, systems, corpus, texts)
        _take_times(report, systems, corpus, texts, options.calls)
    return report


@contextmanager
def opened(report: Report, known: Known, names: Sequence[str]) -> Iterator[Systems]:
    """Have the named systems for a block; note which are not installed.

    Raises:
        ValueError: A name is none of a system.
    """
    unknown = set(names) - {system.name for system in SYSTEMS}
    if unknown:
        message = f"No system is called {', '.join(sorted(unknown))}."
        raise ValueError(message)
    with ExitStack() as stack:
        found: dict[str, System] = {}
        for system in SYSTEMS:
            if system.name not in names:
                continue
            try:
                version = system.version()
            except PackageNotFoundError:
                report.notes.append(f"{system.name}: skipped, no {system.package}")
                continue
            report.notes.append(f"{system.name}: {system.package} {version}")
            found[system.name] = system(os.environ["DATABASE_URL"], known)
            stack.callback(found[system.name].close)
        yield found


def tell(report: Report, system: str, measure: str, value: float) -> None:
    """Add one figure to table and figures."""
    report.add(system, measure, value)
    report.figures[f"{system}.{measure}"] = value


def _locomo(report: Report, systems: Systems, options: argparse.Namespace) -> None:
    evaluation = load_evaluation()
    conversations = evaluation.load(options.data)[: options.conversations]
    turns = turns_of(conversations)
    known = next(iter(systems.values())).known
    known.learn([turn.text for turn in turns])
    for name, system in systems.items():
        system.fill(turns)
        found = evaluation.evaluate(
            partial(_search, system), conversations, depth=ASKED
        )
        tell(report, name, "recall@10", found["overall"]["recall@10"])
        system.empty()


def _search(system: System, conversation_id: str, query: str, k: int) -> list[str]:
    return system.ask(conversation_id, query, min(k, ASKED))


def turns_of(conversations: Sequence[Any]) -> list[Turn]:
    """Return what the evaluation calls memories, each as "speaker: text"."""
    turns = []
    for conversation in conversations:
        ordinals: dict[int, int] = {}
        for memory in conversation.memories:
            ordinal = ordinals.get(memory.session, 0)
            ordinals[memory.session] = ordinal + 1
            turns.append(
                Turn(
                    conversation.id,
                    memory.dia_id,
                    f"{memory.speaker}: {memory.text}",
                    session=f"session_{memory.session}",
                    ordinal=ordinal,
                    speaker=memory.speaker,
                    said_at=session_time(memory.date, memory.dia_id),
                )
            )
    return turns


def owners_of(rows: int) -> dict[str, int]:
    """Return how many rows of the table each owner has; the rest has nobody's name."""
    shares = TIMED | {filtered_owner(share): share for share in FILTERED}
    counts = {owner: max(1, int(rows * share)) for owner, share in shares.items()}
    return counts | {"rest": rows - sum(counts.values())}


def filtered_owner(share: float) -> str:
    """Return the owner of that share; LangGraph takes no period in a name."""
    return f"share-{share * 10_000:.0f}"


def _fill(corpus: Corpus, rows: int, systems: Systems) -> dict[str, list[str]]:
    """Write the same rows, scattered, into each system; return each owner's texts."""
    counts = owners_of(rows)
    owners = corpus.shuffled([o for o, count in counts.items() for _ in range(count)])
    texts = corpus.texts(rows)
    turns = [
        Turn(owner, f"row-{number}", text, ordinal=number)
        for number, (owner, text) in enumerate(zip(owners, texts, strict=True))
    ]
    for system in systems.values():
        system.known.learn(texts)
        system.fill(turns)
    found: dict[str, list[str]] = {owner: [] for owner in counts}
    for turn in turns:
        found[turn.owner].append(turn.text)
    return found


def _questions(corpus: Corpus, texts: Sequence[str], count: int) -> list[str]:
    """Ask for some of the texts.

    Not with "was": memnos takes that for a question about the past, to which it gives
    five turns at most.
    """
    found = [corpus.question(texts[i]) for i in corpus.choose(count, len(texts))]
    return [question.replace("what was", "what about") for question in found]


def _count_pages(
    report: Report, systems: Systems, corpus: Corpus, texts: Mapping[str, list[str]]
) -> None:
    least = dict.fromkeys(systems, float(ASKED))
    for share in FILTERED:
        owner = filtered_owner(share)
        wanted = min(ASKED, len(texts[owner]))
        for question in _questions(corpus, texts[owner], TIMES):
            for name, system in systems.items():
                page = len(system.ask(owner, question, ASKED)) / wanted * ASKED
                least[name] = min(least[name], page)
    for name, rows in least.items():
        tell(report, name, "rows_of_32_min", rows)


def _take_times(
    report: Report,
    systems: Systems,
    corpus: Corpus,
    texts: Mapping[str, list[str]],
    calls: int,
) -> None:
    for size in TIMED:
        questions = _questions(corpus, texts[size], calls)
        asked = {name: partial(_ask, system, size) for name, system in systems.items()}
        for name, times in interleaved(asked, questions).items():
            tell(report, name, f"p50_ms.{size}", p50(times))
            tell(report, name, f"p95_ms.{size}", p95(times))
            # No figure to compare, but what the time was spent on.
            pages = [len(asked[name](question)) for question in questions]
            report.add(name, f"rows of {WANTED}, {size}", sum(pages) / len(pages))


def _ask(system: System, owner: str, question: str) -> list[str]:
    return system.ask(owner, question, WANTED)
