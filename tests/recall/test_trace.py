"""What is told of a recall: enough to say why, and no text."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest
from django.test import TestCase

from example_project.embedded import CHECKOUT
from prism_memory import signals
from prism_memory.access import Reader
from prism_memory.db.filters import compile_filter
from prism_memory.models import RecallTrace
from prism_memory.recall.trace import announce, is_kept, query_hash
from prism_memory.types import Actor, Kind, ReadMode, Recalled, uuid7
from tests.factories import NOON, make_memory, make_scope, remember
from tests.test_signals import heard

pytestmark = pytest.mark.django_db

MODULE = import_module("prism_memory.recall.trace")
QUESTION = "Where does Ada live?"


@pytest.fixture
def told() -> Iterator[list[dict[str, Any]]]:
    """What a host's own tracer hears."""
    with heard(signals.recalled) as calls:
        yield calls


@pytest.fixture
def wanted() -> Iterator[list[dict[str, Any]]]:
    """What is to be written; nothing is sent."""
    receivers = signals.trace_wanted.receivers
    signals.trace_wanted.receivers = []
    with heard(signals.trace_wanted) as calls:
        yield calls
    signals.trace_wanted.receivers = receivers


@pytest.fixture
def recalled() -> Recalled:
    remember("Ada lives in Porto.", "Bob lives in Rome.", wait=True)
    return make_memory().recall(QUESTION)


def tell(recalled: Recalled, **given: Any) -> None:
    reader = given.pop("reader", Reader(scope=make_scope(), at=NOON))
    own: dict[str, Any] = {"reader": reader, "question_text": QUESTION}
    announce(using="default", recalled=recalled, **{**own, **given})


def test_a_trace_explains_each_hit_in_numbers(told: Any, recalled: Recalled) -> None:
    told.clear()
    tell(
        recalled,
        timings={"embed": 1.23456},
        options={"legs": "hybrid", "top_k": 5, "weights": {"text": 1}},
        actor=Actor("user:7"),
    )
    trace = told[0]["trace"]
    assert (trace.scope, trace.mode, trace.at) == (make_scope(), ReadMode.CHAIN, NOON)
    assert (trace.strategy, trace.actor) == (recalled.strategy, "user:7")
    assert trace.timings_ms == {"embed": 1.235}
    assert trace.options["weights"] == {"text": 1.0}
    assert [(hit["id"], hit["score"], hit["ranks"]) for hit in trace.hits] == [
        (str(hit.id), hit.score, dict(hit.ranks)) for hit in recalled
    ]
    assert trace.hits[0]["signals"]["vector"] == recalled[0].cosine


def test_no_text_is_in_it(told: Any, recalled: Recalled) -> None:
    """B388: neither of the question, nor of what narrows it, nor of the answer."""
    reader = Reader(
        scope=make_scope(),
        kinds=[Kind.ENTRY],
        namespaces=["hush-namespace"],
        partition="hush-partition",
        where=compile_filter({"hush-key": "hush-value"}, terms=4),
    )
    options = {
        "legs": "hush legs",
        "reranker": "cross",
        "filter": {"hush-key": "hush-value"},
        "tags": ["hush-tag"],
        "weights": {"hush leg": 1, "text": "hush", "vector": 0.5},
        "instructions": "hush",
        "deadline": None,
    }
    told.clear()
    tell(recalled, reader=reader, options=options, question_text="hush question")
    (trace,) = [call["trace"] for call in told]
    text = json.dumps(trace.to_json())
    for word in ("hush", "Porto", "Rome", "Ada lives"):
        assert word not in text
    assert trace.options == {
        "legs": True,
        "reranker": "cross",
        "filter": True,
        "tags": True,
        "weights": {"vector": 0.5},
        "instructions": True,
        "strict": False,
        "narrowed_by": ["kinds", "namespaces", "partition", "filter"],
    }


def test_the_hash_of_a_question_needs_the_key_and_is_each_tenants_own(
    settings: Any,
) -> None:
    """Case and white space make no difference."""
    own = query_hash(tenant="acme", text=QUESTION)
    assert len(own) == 32
    assert query_hash(tenant="acme", text="  WHERE does\tada live?\n") == own
    assert query_hash(tenant="acme", text="Where does Bob live?") != own
    assert query_hash(tenant="globex", text=QUESTION) != own
    settings.SECRET_KEY = "another"
    assert query_hash(tenant="acme", text=QUESTION) != own


@pytest.mark.parametrize(("wish", "kept"), [("off", 0), ("on", 400)])
def test_all_or_none_are_kept(settings: Any, wish: str, kept: int) -> None:
    settings.PRISM_MEMORY = settings.PRISM_MEMORY | {"TRACES": wish}
    assert sum(is_kept(uuid7()) for _ in range(400)) == kept


@pytest.mark.parametrize(
    ("share", "low", "high"), [(0, 0, 0), (0.5, 1, 399), (1, 400, 400)]
)
def test_a_sample_is_drawn_by_the_id(
    settings: Any, share: float, low: int, high: int
) -> None:
    """A share that no draw of 400 misses altogether."""
    settings.PRISM_MEMORY = settings.PRISM_MEMORY | {
        "TRACES": "sampled",
        "TRACE_SHARE": share,
    }
    ids = [uuid7() for _ in range(400)]
    kept = [is_kept(i) for i in ids]
    assert low <= sum(kept) <= high
    assert kept == [is_kept(i) for i in ids]


@pytest.mark.parametrize("traces", ["off", "on"])
@pytest.mark.parametrize("reinforce", [False, True])
def test_only_what_is_wished_for_is_to_be_written(
    wanted: Any, recalled: Recalled, settings: Any, traces: str, reinforce: bool
) -> None:
    """B430: strengthening is off unless it is asked for."""
    settings.PRISM_MEMORY = settings.PRISM_MEMORY | {"TRACES": traces}
    tell(recalled, reinforce=reinforce)
    wishes = [(call["keep"], call["reinforce"]) for call in wanted]
    keep = traces == "on"
    assert wishes == ([(keep, reinforce)] if keep or reinforce else [])


def test_where_nobody_listens_nothing_is_made(
    recalled: Recalled, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(MODULE, "trace_of", None)
    tell(recalled)  # does not fail
    with pytest.raises(TypeError):
        tell(recalled, reinforce=True)


def test_a_receiver_that_fails_does_not_fail_the_recall(
    wanted: Any, recalled: Recalled, caplog: pytest.LogCaptureFixture
) -> None:
    """B431."""

    def fail(**kwargs: Any) -> None:
        raise RuntimeError

    signals.recalled.connect(fail)
    signals.trace_wanted.connect(fail)
    try:
        with caplog.at_level(logging.ERROR):
            tell(recalled, reinforce=True)
    finally:
        signals.recalled.disconnect(fail)
        signals.trace_wanted.disconnect(fail)
    assert len(caplog.records) == 2


def test_telling_asks_the_database_nothing(
    recalled: Recalled, django_assert_num_queries: Any
) -> None:
    """B80."""
    with django_assert_num_queries(0):
        tell(recalled)


def test_the_receivers_that_the_page_shows_work(
    recalled: Recalled, wanted: Any, settings: Any, capsys: Any
) -> None:
    """What a host without Celery writes: after its commit, and only then."""
    settings.PRISM_MEMORY = settings.PRISM_MEMORY | {"TRACES": "on"}
    page = (CHECKOUT / "docs" / "traces.md").read_text("utf-8")
    names: dict[str, Any] = {}
    for code in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
        exec(code, names)  # noqa: S102 - our own page
    with TestCase.captureOnCommitCallbacks(execute=True):
        tell(recalled, timings={"embed": 2.0})
        assert not RecallTrace.objects.exists()
    signals.recalled.disconnect(names["to_span"])
    assert RecallTrace.objects.get().timings_ms == {"embed": 2.0}
    assert f"{make_scope().id} 2 exact {{'embed': 2.0}}" in capsys.readouterr().out
