"""A recall that takes too long, or that nobody wants any more, is given up."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar

import pytest
from django.conf import settings
from django.db import OperationalError, connection, connections, transaction
from django.test import override_settings
from psycopg import sql

from prism_memory import backends
from prism_memory.access import Reader
from prism_memory.db.local import local_settings
from prism_memory.errors import (
    Aborted,
    DeadlineExceeded,
    Invalid,
    ProviderUnavailable,
)
from tests.capture import captured
from tests.db.asking import ask
from tests.embedders import SlowEmbedder
from tests.factories import make_memory, make_scope, remember
from tests.recall.worded import common_beyond, count_of, recall_statements, say, texts

pytestmark = pytest.mark.django_db

T = TypeVar("T")


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever looks at a record sleeps a minute over it."""
    rule = Reader.condition

    def sleepy(reader: Reader, **given: bool) -> sql.Composed:
        sleep = sql.SQL(" AND (SELECT pg_sleep(60 + length(record.key))) IS NOT NULL")
        return sql.Composed([rule(reader, **given), sleep])

    monkeypatch.setattr(Reader, "condition", sleepy)


def timeout() -> str:
    return str(ask("SHOW statement_timeout")[0][0])


@contextmanager
def a_host_without_a_transaction() -> Iterator[None]:
    yield


@contextmanager
def a_host_in_a_transaction() -> Iterator[None]:
    with transaction.atomic():
        yield


@contextmanager
def a_host_in_a_savepoint() -> Iterator[None]:
    with transaction.atomic(), transaction.atomic():
        yield


HOSTS = [a_host_without_a_transaction, a_host_in_a_transaction, a_host_in_a_savepoint]


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("slow")
@pytest.mark.parametrize("host", HOSTS, ids=lambda host: host.__name__)
@pytest.mark.parametrize("legs", ["text", "vector", "recency"])
def test_a_statement_that_takes_too_long_is_stopped_by_the_server(
    legs: str, host: Callable[[], Any]
) -> None:
    """B112, B132: it is an abort; settings and a host's transaction are as before."""
    remember("tea", wait=True)
    with host():
        ask("CREATE TEMPORARY TABLE written_before (n integer)")
        before = timeout()

        with pytest.raises(DeadlineExceeded) as caught:
            make_memory().recall("tea", legs=legs, deadline_seconds=0.1)

        assert isinstance(caught.value, Aborted)
        assert timeout() == before
        assert ask("SELECT count(*) FROM written_before") == [(0,)]
        ask("DROP TABLE written_before")


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("host", HOSTS, ids=lambda host: host.__name__)
def test_a_recall_in_time_is_answered_and_leaves_nothing(
    host: Callable[[], Any],
) -> None:
    remember("tea", wait=True)
    with host():
        ask("SET statement_timeout = '1h'")
        try:
            found = make_memory().recall("tea", deadline_seconds=60)
            assert texts(found) == ["tea"]
            assert timeout() == "1h"
        finally:
            ask("SET statement_timeout = 0")


@pytest.mark.usefixtures("slow")
def test_a_shorter_timeout_of_the_host_stays_and_its_error_is_not_called_ours() -> None:
    """B112: nobody's deadline has passed."""
    remember("tea")
    ask("SET LOCAL statement_timeout = '80ms'")

    with (
        pytest.raises(OperationalError, match="statement timeout") as caught,
        transaction.atomic(),
    ):
        make_memory().recall("tea", legs="text", deadline_seconds=60)

    assert not isinstance(caught.value, Aborted)
    assert timeout() == "80ms"


def test_without_a_deadline_the_hosts_timeout_is_left_alone() -> None:
    """B128: and nothing is asked but the question."""
    remember("tea", wait=True)
    make_memory().recall("tea")

    with captured() as seen:
        make_memory().recall("tea")

    assert len(seen.statements) == len(recall_statements(seen.statements)) == 1


@pytest.mark.parametrize("seconds", [1.0, 1e6, 1e12, 1e300])
def test_any_long_deadline_is_one(seconds: float) -> None:
    remember("tea", wait=True)

    assert texts(make_memory().recall("tea", deadline_seconds=seconds)) == ["tea"]


@pytest.mark.parametrize("seconds", [0, -1, math.nan, math.inf, "1", True])
def test_what_is_no_time_is_refused(seconds: Any) -> None:
    with pytest.raises(Invalid) as caught:
        make_memory().recall("tea", deadline_seconds=seconds)
    assert caught.value.field == "deadline_seconds"


@pytest.mark.parametrize("seconds", [1e-9, 1e-5, 1e-4])
def test_a_deadline_that_is_over_at_once_asks_nothing_or_little(seconds: float) -> None:
    remember("tea", wait=True)

    with pytest.raises(DeadlineExceeded):
        make_memory().recall("tea", deadline_seconds=seconds)

    assert texts(make_memory().recall("tea")) == ["tea"]


def test_an_embedder_is_given_no_more_than_what_is_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    remember("tea", wait=True)
    embedder = SlowEmbedder()
    monkeypatch.setattr(backends, "get_embedder", lambda _: embedder)

    make_memory().recall("tea", deadline_seconds=5)
    make_memory().recall("tea", deadline_seconds=1e6)
    make_memory().recall("tea")

    short, long, usual = embedder.given
    assert short <= 5
    assert long == usual


@pytest.mark.parametrize("legs", ["hybrid", "vector"])
def test_the_time_of_a_slow_embedder_counts(
    monkeypatch: pytest.MonkeyPatch, legs: str
) -> None:
    """B112: nothing is asked of the database after it."""
    remember("tea", wait=True)
    embedder = SlowEmbedder(pause_seconds=0.3)
    monkeypatch.setattr(backends, "get_embedder", lambda _: embedder)

    def late() -> None:
        with pytest.raises(DeadlineExceeded):
            make_memory().recall("tea", deadline_seconds=0.2, legs=legs)

    assert count_of(late) == 0


def test_a_question_whose_vector_comes_too_late_is_asked_by_its_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The embedder's own time was over; there is no deadline."""
    remember("tea", wait=True)
    embedder = SlowEmbedder(pause_seconds=0.15)
    monkeypatch.setattr(backends, "get_embedder", lambda _: embedder)
    own = {**settings.PRISM_MEMORY, "EMBED_TIMEOUT_SECONDS": 0.1}

    with override_settings(PRISM_MEMORY=own):
        found = make_memory().recall("tea")
        with pytest.raises(ProviderUnavailable, match="too late"):
            make_memory().recall("tea", legs="vector")

    assert texts(found) == ["tea"]
    assert found.degraded == "the embedder is unavailable"
    assert [*found[0].ranks] == ["text"]


def timeouts(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Return the list to which each statement's time will be added."""
    given: list[float] = []
    finding = sys.modules["prism_memory.recall.candidates.find"]
    real = local_settings

    def noting(
        using: str,
        values: Mapping[str, str],
        *,
        timeout_seconds: float | None = None,
    ) -> Any:
        assert timeout_seconds is not None
        given.append(timeout_seconds)
        return real(using, values, timeout_seconds=timeout_seconds)

    monkeypatch.setattr(finding, "local_settings", noting)
    return given


def test_asking_once_more_has_what_the_first_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each statement's own time would add up to more than was given."""
    say({"delta": 60})
    given = timeouts(monkeypatch)

    with common_beyond(20):
        make_memory().recall("delta", legs="text", deadline_seconds=60)

    first, second = given
    assert second < first < 60


EXTRAS: Mapping[str, dict[str, Any]] = {
    "adjacent": {"message_range": 2},
    "explain": {"explain": True},
    "strengths": {"decay_days": 30},
}


@pytest.mark.parametrize(("step", "asked"), EXTRAS.items(), ids=EXTRAS.keys())
def test_the_steps_that_only_some_ask_for_are_steps(
    step: str, asked: dict[str, Any]
) -> None:
    remember("tea", wait=True)

    assert step in make_memory().recall("tea", **asked).timings_ms
    assert step not in make_memory().recall("tea").timings_ms


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("table", "asked"),
    [
        ("record", EXTRAS["adjacent"]),
        ("lineageedge", EXTRAS["explain"]),
        ("reinforcement", EXTRAS["strengths"]),
    ],
)
def test_a_step_that_waits_for_a_lock_is_stopped_too(
    table: str, asked: dict[str, Any]
) -> None:
    """B112: whichever statement of the recall it is."""
    remember("tea", wait=True)
    memory = make_memory()
    memory.recall("tea")
    with a_lock_holder() as lock:

        def lock_it_first(execute: Any, text: str, *rest: Any) -> Any:
            # Not before the step: the legs read the same tables.
            if table in text and "ranked AS MATERIALIZED" not in text:
                lock(table)
            return execute(text, *rest)

        with (
            connection.execute_wrapper(lock_it_first),
            pytest.raises(DeadlineExceeded),
        ):
            memory.recall("tea", legs="text", deadline_seconds=0.5, **asked)


@contextmanager
def a_lock_holder() -> Iterator[Callable[[str], None]]:
    """Yield what locks a table, by a connection of its own, until the block ends."""
    with ThreadPoolExecutor(1) as pool:

        def take(table: str) -> None:
            transaction.set_autocommit(False)
            # A test that is not stopped fails then, and does not hang.
            ask("SET idle_in_transaction_session_timeout = '20s'")
            ask(f"LOCK TABLE prism_memory_{table} IN ACCESS EXCLUSIVE MODE")

        try:
            yield lambda table: pool.submit(take, table).result()
        finally:
            pool.submit(connections.close_all).result()


def test_two_recalls_of_other_deadlines_do_not_share_them() -> None:
    """The second has none."""
    remember("tea", wait=True)
    memory = make_memory(make_scope())
    memory.recall("tea", deadline_seconds=30)

    with captured() as seen:
        memory.recall("tea")

    assert not any("statement_timeout" in str(one) for one in seen.statements)
