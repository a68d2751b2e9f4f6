"""Settings for one call alone: whatever happens in it, the host's are as they were."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from typing import TypeVar

import pytest
from django.db import DataError, OperationalError, connection, transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from prism_memory.db.local import local_settings, one_plan
from prism_memory.errors import Aborted, DeadlineExceeded
from tests.db.asking import ask
from tests.tries import examples

pytestmark = pytest.mark.django_db

T = TypeVar("T")

VALUES: Mapping[str, list[str]] = {
    "hnsw.ef_search": ["33", "40", "1000"],
    "hnsw.iterative_scan": ["off", "relaxed_order"],
    "plan_cache_mode": ["auto", "force_generic_plan"],
    "work_mem": ["1MB", "64MB"],
    "statement_timeout": ["0", "1min", "1h"],
}
SETTINGS = st.fixed_dictionaries(
    {}, optional={name: st.sampled_from(values) for name, values in VALUES.items()}
)
SECONDS = st.none() | st.sampled_from([30.0, 7200.0])


class Failed(Exception):
    """Of the caller."""


def now(name: str) -> str:
    return str(ask("SELECT current_setting(%s)", name)[0][0])


def all_now() -> dict[str, str]:
    return {name: now(name) for name in VALUES}


def load_pgvector() -> None:
    """Else its settings are none yet."""
    ask("SELECT '[1]'::vector")


def on_a_connection_of_its_own(work: Callable[[], T]) -> T:
    def run() -> T:
        try:
            load_pgvector()
            return work()
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(run).result()


@contextmanager
def host_transaction() -> Iterator[None]:
    with transaction.atomic():
        yield


@contextmanager
def host_without_autocommit() -> Iterator[None]:
    transaction.set_autocommit(False)
    try:
        yield
    finally:
        transaction.rollback()
        transaction.set_autocommit(True)


@contextmanager
def host_in_autocommit() -> Iterator[None]:
    yield


HOSTS = [host_in_autocommit, host_transaction, host_without_autocommit]


def nested(layers: list[tuple[dict[str, str], float | None]], *, fails: bool) -> None:
    """Hold the settings of each layer within those of the one before."""
    if not layers:
        if fails:
            raise Failed
        return
    (values, seconds), *inner = layers
    before = all_now()
    with local_settings("default", values, timeout_seconds=seconds):
        for name in values:
            if name != "statement_timeout" or seconds is None:
                assert now(name) == values[name]
        during = all_now()
        nested(inner, fails=fails)
        assert all_now() == during
    assert all_now() == before


def check_put_back(
    host: dict[str, str],
    layers: list[tuple[dict[str, str], float | None]],
    *,
    fails: bool,
) -> None:
    with transaction.atomic():
        for name, value in host.items():
            ask("SELECT set_config(%s, %s, true)", name, value)
        before = all_now()
        if fails and layers:
            with pytest.raises(Failed):
                nested(layers, fails=True)
        else:
            nested(layers, fails=False)
        assert all_now() == before
        transaction.set_rollback(True)


@settings(
    max_examples=examples(30),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    host=SETTINGS,
    layers=st.lists(st.tuples(SETTINGS, SECONDS), max_size=3),
    fails=st.booleans(),
)
def test_every_setting_is_what_it_was(
    host: dict[str, str],
    layers: list[tuple[dict[str, str], float | None]],
    *,
    fails: bool,
) -> None:
    """Nested, and when the block fails."""
    load_pgvector()
    check_put_back(host, layers, fails=fails)


@pytest.mark.parametrize("host", HOSTS, ids=lambda host: host.__name__)
@pytest.mark.parametrize("fails", [False, True])
def test_wherever_the_host_stands(
    host: Callable[[], AbstractContextManager[None]],
    *,
    fails: bool,
) -> None:
    """Also where it has switched autocommit off: its transaction goes on after us."""

    def work() -> tuple[dict[str, str], dict[str, str]]:
        with host():
            before = all_now()
            layers: list[tuple[dict[str, str], float | None]] = [
                ({"hnsw.ef_search": "1000", "work_mem": "64MB"}, 30.0)
            ]
            if fails:
                with pytest.raises(Failed):
                    nested(layers, fails=True)
            else:
                nested(layers, fails=False)
            return before, all_now()

    before, after = on_a_connection_of_its_own(work)
    assert after == before


@pytest.mark.parametrize("host", HOSTS, ids=lambda host: host.__name__)
def test_after_an_error_of_the_database_the_host_goes_on(
    host: Callable[[], AbstractContextManager[None]],
) -> None:
    def work() -> str:
        with host():
            with (
                pytest.raises(DataError),
                local_settings("default", {"work_mem": "64MB"}),
            ):
                ask("SELECT 1 / 0")
            return now("work_mem")

    assert on_a_connection_of_its_own(work) == on_a_connection_of_its_own(
        lambda: now("work_mem")
    )


def test_a_setting_that_postgresql_did_not_know_ends_with_the_call() -> None:
    """A connection that never met a vector knows none of pgvector's."""

    def work() -> str:
        connection.close()
        with transaction.atomic():
            with local_settings("default", {"hnsw.ef_search": "1000"}):
                load_pgvector()
                assert now("hnsw.ef_search") == "1000"
            return now("hnsw.ef_search")

    assert on_a_connection_of_its_own(work) == "40"


def test_a_statement_over_the_time_is_stopped_by_the_server() -> None:
    """B112: which is an abort, too."""
    with (
        pytest.raises(DeadlineExceeded) as caught,
        local_settings("default", {}, timeout_seconds=0.05),
    ):
        ask("SELECT pg_sleep(60)")

    assert isinstance(caught.value, Aborted)
    assert ask("SELECT 1") == [(1,)]
    assert now("statement_timeout") == "0"


@pytest.mark.parametrize("seconds", [1e7, 1e300, 1.7e308])
def test_a_time_beyond_what_postgresql_can_count_is_its_longest(seconds: float) -> None:
    with local_settings("default", {}, timeout_seconds=seconds):
        assert ask("SELECT 1") == [(1,)]


@pytest.mark.parametrize("seconds", [0.0001, 0.0011, 0.0019, 0.00999, -1.0])
def test_a_part_of_a_millisecond_is_no_other_error(seconds: float) -> None:
    """PostgreSQL counts whole ones; a shorter time is not the host's fault."""
    for _ in range(5):
        with (
            pytest.raises(DeadlineExceeded),
            local_settings("default", {}, timeout_seconds=seconds),
        ):
            ask("SELECT pg_sleep(60)")


def test_a_shorter_time_of_the_host_stays_and_is_its_own_error() -> None:
    """B112."""
    ask("SET LOCAL statement_timeout = '50ms'")

    with (
        pytest.raises(OperationalError, match="statement timeout"),
        local_settings("default", {}, timeout_seconds=60),
    ):
        ask("SELECT pg_sleep(60)")

    assert now("statement_timeout") == "50ms"


def test_a_longer_time_of_the_host_gives_way_and_comes_back() -> None:
    ask("SET LOCAL statement_timeout = '1h'")

    with local_settings("default", {}, timeout_seconds=60):
        assert now("statement_timeout") == "1min"

    assert now("statement_timeout") == "1h"


def test_a_time_within_a_time_is_the_shorter() -> None:
    with local_settings("default", {}, timeout_seconds=60):
        with local_settings("default", {}, timeout_seconds=600):
            assert now("statement_timeout") == "1min"
        with local_settings("default", {}, timeout_seconds=6):
            assert now("statement_timeout") == "6s"
        assert now("statement_timeout") == "1min"


def test_another_error_after_the_time_is_itself() -> None:
    """Not all that fails late fails for being late."""
    with (
        pytest.raises(DataError),
        local_settings("default", {}, timeout_seconds=60),
    ):
        ask("SELECT 1 / 0")


def test_a_connection_that_prepares_nothing_needs_no_setting() -> None:
    """As Django has it: no statement more for each recall."""
    assert one_plan("default") == {}


@pytest.mark.parametrize(
    ("options", "needed"),
    [
        ({"server_side_binding": True, "prepare_threshold": 1}, True),
        ({"server_side_binding": True, "prepare_threshold": 5}, True),
        ({"server_side_binding": True, "prepare_threshold": None}, False),
        ({"prepare_threshold": 1}, False),
    ],
    ids=str,
)
def test_a_connection_that_prepares_has_one_plan(
    options: dict[str, object], *, needed: bool
) -> None:
    def work() -> dict[str, str]:
        connection.close()
        own = connection.settings_dict
        kept = own["OPTIONS"]
        connection.settings_dict = {**own, "OPTIONS": {**kept, **options}}
        return one_plan("default")

    expected = {"plan_cache_mode": "force_generic_plan"} if needed else {}
    assert on_a_connection_of_its_own(work) == expected
