"""An answer over HTTP names the trace that is kept of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from prism_memory import signals, tasks
from prism_memory.types import Trace
from tests.api.conftest import Caller
from tests.api.test_openapi import validator

pytestmark = pytest.mark.django_db

PATHS = [("recall", "RecalledOutput"), ("recall/deep", "DeepRecalledOutput")]


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Trace]]:
    """The traces that a worker is told to write, without a broker."""
    monkeypatch.setattr(tasks.sender, "post", lambda _message: None)
    told: list[Trace] = []

    def hear(*, trace: Trace, keep: bool, **_: Any) -> None:
        if keep:
            told.append(trace)

    signals.trace_wanted.connect(hear)
    yield told
    signals.trace_wanted.disconnect(hear)


@pytest.mark.parametrize(("path", "form"), PATHS)
def test_an_answer_names_the_trace_that_is_kept_of_it(
    alice: Caller, settings: Any, kept: list[Trace], path: str, form: str
) -> None:
    settings.PRISM_MEMORY = {**settings.PRISM_MEMORY, "TRACES": "on"}
    memory_id = alice.remember("tea")

    answer = alice.post(path, {"query": "tea"}).json()

    validator(form).validate(answer)
    (trace,) = [one for one in kept if str(one.id) == answer["trace_id"]]
    assert [str(one) for one in trace.record_ids] == [memory_id]
    again = alice.post(path, {"query": "tea"}).json()
    assert again["trace_id"] not in {None, answer["trace_id"]}


@pytest.mark.parametrize(("path", "form"), PATHS)
def test_an_answer_of_which_no_trace_is_kept_names_none(
    alice: Caller, kept: list[Trace], path: str, form: str
) -> None:
    """Strengthening is told to the same worker, which writes no trace for it."""
    alice.remember("tea")

    answer = alice.post(path, {"query": "tea", "reinforce": True}).json()

    validator(form).validate(answer)
    assert answer["trace_id"] is None
    assert kept == []
