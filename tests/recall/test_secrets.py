"""B133: a configured secret is in nothing that a recall shows or sends."""

from __future__ import annotations

from typing import Any, Final

import pytest

from prism_memory import backends, signals
from prism_memory.memory import Memory
from prism_memory.models import Record
from prism_memory.types import Entry, Grade, Lineage, Origin, SourceRef, Trust
from tests.factories import make_memory
from tests.recall.providers import CONFIGURED

pytestmark = pytest.mark.django_db

SECRET: Final = "hunter2"
QUESTION: Final = "Who knows the word hunter2?"

HELPED: Final[dict[str, Any]] = {
    "multi_query": 3,
    "hyde": True,
    "transformer": "words",
    "reranker": "opinion",
    "include_quarantined": True,
}
"""Everybody is asked, and what is held back is shown."""

SHOWN: Final[dict[str, Any]] = {**HELPED, "message_range": 4, "explain": True}


@pytest.fixture(autouse=True)
def _configured(settings: Any) -> None:
    settings.PRISM_MEMORY = settings.PRISM_MEMORY | {"WAKE": False, **CONFIGURED}


@pytest.fixture(autouse=True)
def _stored(_configured: None) -> None:
    """Rows with the secret in every field, stored before it was known as one."""
    memory = make_memory(origin=Origin(Trust.USER, SECRET))
    entries = [
        Entry(
            f"The word is {SECRET}, part {n}.",
            key=f"{SECRET}-{n}",
            namespace=SECRET,
            partition=SECRET,
            metadata={SECRET: [{"n": SECRET}]},
            source=SourceRef(SECRET, n),
            lineage=Lineage((f"{SECRET}-message",)),
        )
        for n in range(4)
    ]
    memory.remember(entries, wait=True)
    reason = {"gate": "quarantined", "gate_reason": f"like {SECRET}"}
    Record.objects.filter(tenant="acme", ordinal=3).update(**reason)


def knowing() -> Memory:
    return make_memory(secrets=[SECRET])


def test_no_secret_is_shown() -> None:
    """In hits, beside them, in explanations."""
    bare = repr(make_memory().recall(QUESTION, 2, **SHOWN))
    assert SECRET in bare

    for top_k in (1, 2, 32):
        found = knowing().recall(QUESTION, top_k, **SHOWN)
        assert len(found.hits) + len(found.adjacent) == 4
        assert len(found.explanations) == len(found)
        assert SECRET not in repr(found)


def test_no_secret_is_shown_by_deep_recall_or_by_lists() -> None:
    judge: Any = backends.get_grader("judge")
    judge.verdicts = [Grade(sufficient=False, reformulation=f"Is it {SECRET}?")]
    memory = knowing()

    found = memory.deep_recall(QUESTION, 2, force_hard=True, grader="judge", **HELPED)

    assert found.iterations == 2
    assert SECRET not in repr(found)
    assert SECRET not in repr(memory.list())
    for item in memory.list():
        assert SECRET not in repr(memory.get(item.id))


def test_no_secret_leaves_for_a_provider() -> None:
    """Nor in the question, nor in what the backends themselves said before."""
    words: Any = backends.get_transformer("words")
    judge: Any = backends.get_grader("judge")
    opinion: Any = backends.get_reranker("opinion")
    embedder: Any = backends.get_embedder()
    judge.verdicts = [Grade(sufficient=False, reformulation="Is it known?")]
    words.said, embedder.asked = ["Which word?"], []

    knowing().deep_recall(QUESTION, 2, force_hard=True, grader="judge", **HELPED)

    for backend in (words, judge, opinion, embedder):
        assert backend.asked
        assert SECRET not in repr(backend.asked)


def test_no_secret_is_in_a_trace(settings: Any) -> None:
    """No text is."""
    settings.PRISM_MEMORY = {**settings.PRISM_MEMORY, "TRACES": "on"}
    heard: list[Any] = []

    def hear(**told: Any) -> None:
        heard.append(told["trace"])

    signals.recalled.connect(hear)
    try:
        make_memory().recall(QUESTION, filter={"n": SECRET}, **SHOWN)
    finally:
        signals.recalled.disconnect(hear)

    assert len(heard) == 1
    assert SECRET not in repr(heard)
