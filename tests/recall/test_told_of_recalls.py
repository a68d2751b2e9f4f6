"""B430, B431, B129, B383: what a recall tells of itself, and to whom."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from prism_memory import backends, signals, tasks
from prism_memory.models import Reinforcement
from prism_memory.recall.trace import query_hash
from prism_memory.types import Entry, Grade, Lineage, Scoring, Trace
from tests.factories import make_memory, remember
from tests.recall.providers import CONFIGURED
from tests.recall.scored import QUESTION, TEXTS, recalled

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _configured(settings: Any) -> None:
    settings.PRISM_MEMORY = settings.PRISM_MEMORY | {"WAKE": False, **CONFIGURED}


@pytest.fixture
def wanted(monkeypatch: pytest.MonkeyPatch) -> Any:
    """What is asked of the background, without a broker."""
    monkeypatch.setattr(tasks.sender, "post", lambda _message: None)
    heard: list[dict[str, Any]] = []

    def hear(**told: Any) -> None:
        heard.append(told)

    signals.trace_wanted.connect(hear)
    yield heard
    signals.trace_wanted.disconnect(hear)


# Reinforcement


def test_a_recall_strengthens_nothing_unless_it_is_asked_to(wanted: Any) -> None:
    """B430: off by default, also in a deep recall."""
    remember(*TEXTS, wait=True)

    recalled()
    recalled(reinforce=False)
    make_memory().deep_recall(QUESTION)

    assert wanted == []


def test_what_is_reinforced_is_queued_and_not_written(wanted: Any) -> None:
    """B430, B80: the hits, and the question's hash."""
    remember(*TEXTS, wait=True)
    recalled()
    with CaptureQueriesContext(connection) as queries:
        found = recalled(3, reinforce=True)

    (told,) = wanted
    assert (told["reinforce"], told["keep"], told["sender"]) == (True, False, Trace)
    assert [hit["id"] for hit in told["trace"].hits] == [str(hit.id) for hit in found]
    sha256 = query_hash(tenant="acme", text=QUESTION)
    assert told["trace"].query_sha256 == sha256
    assert len(queries) == 1
    assert not Reinforcement.objects.exists()


def test_a_default_may_reinforce_and_a_call_may_not(wanted: Any) -> None:
    """B369."""
    remember(*TEXTS, wait=True)
    memory = make_memory(search_defaults={"reinforce": True})

    memory.recall(QUESTION)
    memory.recall(QUESTION, reinforce=False)

    assert len(wanted) == 1


@pytest.mark.usefixtures("wanted")
def test_a_failing_reinforcement_does_not_fail_a_recall(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """B431."""
    remember(*TEXTS, wait=True)

    def fail(**told: Any) -> None:
        del told
        message = "no broker"
        raise RuntimeError(message)

    signals.trace_wanted.connect(fail)
    try:
        found = recalled(reinforce=True)
    finally:
        signals.trace_wanted.disconnect(fail)

    assert found == recalled()
    assert "fail" in caplog.text


def test_only_what_is_wished_for_is_told(settings: Any, wanted: Any) -> None:
    """The settings keep traces: one of each pass of a deep recall, one of the whole."""
    settings.PRISM_MEMORY = {**settings.PRISM_MEMORY, "TRACES": "on", "GRADER": "judge"}
    remember(*TEXTS, wait=True)
    judge: Any = backends.get_grader("judge")
    judge.verdicts = [Grade(sufficient=False, reformulation="Which tea?")]

    found = make_memory().deep_recall(QUESTION, force_hard=True)

    assert [told["keep"] for told in wanted] == [True] * 3
    assert [told["reinforce"] for told in wanted] == [False] * 3
    noted = [told["trace"].options for told in wanted]
    assert [options.get("deep_pass") for options in noted] == [1, 2, None]
    assert noted[2]["deep_passes"] == 2
    assert wanted[2]["trace"].id == found.trace_id
    assert wanted[2]["trace"].record_ids == tuple(hit.id for hit in found)


# Explanations


def test_each_hit_is_explained_by_what_the_recall_measured() -> None:
    """B129, B383: in the hits' order, without a word of them."""
    remember(*TEXTS, wait=True)
    derived = Entry("Ada's green tea, they say.", lineage=Lineage(("message-7",)))
    make_memory().remember(derived, wait=True)
    weights = {"text": 2.0}

    found = recalled(
        weights=weights, decay_days=30, scoring=Scoring(0, 1), explain=True
    )

    assert len(found.explanations) == len(found) == len(TEXTS) + 1
    for rank, (hit, why) in enumerate(zip(found, found.explanations, strict=True), 1):
        assert (why.id, why.rank, why.score) == (hit.id, rank, hit.score)
        assert (why.method, why.ranks) == (hit.method, hit.ranks)
        assert why.signals == hit.signals
        assert {"vector", "fused", "decay", "trust"} <= {*why.signals}
        assert {*why.components} == {"similarity", "recency", "importance"}
        assert why.weights == {"vector": 1.0, "text": 2.0}
        assert why.strategy == found.strategy == "exact"
        assert (why.created_at, why.scope) == (hit.created_at, hit.scope)
        assert hit.text not in repr(why)
    (source,) = [why for why in found.explanations if why.source_refs]
    assert source.source_refs[0].endswith(":message-7")
    assert source.lineage_reason == "entry by user"


def test_a_reranked_hit_tells_both_opinions() -> None:
    """B383."""
    remember(*TEXTS, wait=True)

    found = recalled(reranker="opinion", explain=True)

    for why in found.explanations:
        assert {"fused", "rerank"} <= {*why.signals}


def test_without_the_wish_nothing_is_explained() -> None:
    """B129."""
    remember(*TEXTS, wait=True)

    assert recalled().explanations == ()
    assert recalled(0, explain=True).explanations == ()


def test_each_step_is_timed() -> None:
    """Milliseconds by step; no test of how many."""
    remember(*TEXTS, wait=True)
    usual = {"embed", "candidates", "rank", "choose"}
    more: Any = {"message_range": 1, "explain": True, "decay_days": 3}

    assert {*recalled().timings_ms} == usual
    every = recalled(**more).timings_ms
    assert {*every} == usual | {"adjacent", "explain", "strengths"}
    assert all(spent >= 0 for spent in every.values())


# What stands beside


def test_as_many_are_shown_beside_each_hit_as_asked(settings: Any) -> None:
    """B116, B117: none by default; the limit of the memory, else of the call."""
    remember(*[f"note {n}" for n in range(9)], wait=True)
    ask = make_memory().recall

    def around(**options: Any) -> list[str]:
        found = ask("note 4", 1, ids=None, legs="text", **options)
        assert found[0].text == "note 4"
        return [item.text for item in found.adjacent]

    assert around() == []
    assert around(message_range=1) == ["note 3", "note 5"]
    assert around(message_range=4) == [f"note {n}" for n in range(9) if n != 4]
    ask = make_memory(limits={"message_range": 2}).recall
    assert around() == ["note 2", "note 3", "note 5", "note 6"]
    assert around(message_range=0) == []
    settings.PRISM_MEMORY = {**settings.PRISM_MEMORY, "MESSAGE_RANGE": 1}
    ask = make_memory().recall
    assert around() == ["note 3", "note 5"]
