"""Vectors made anew, page by page."""

from __future__ import annotations

import io
import json
from functools import partial
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection, transaction
from django.utils import timezone

from prism_memory import backends, indexing, runs, tasks
from prism_memory.errors import (
    Aborted,
    EmbedderMismatch,
    Invalid,
    LimitExceeded,
    ProviderUnavailable,
    Unsupported,
)
from prism_memory.models import Embedding, Record, Run
from prism_memory.types import Actor
from tests.factories import make_memory, make_scope, remember, remember_one
from tests.indexing.conftest import row_of, space

pytestmark = pytest.mark.django_db


def spoil(tenant: str = "acme") -> None:
    """Turn every vector of a tenant round."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE prism_memory_embedding"
            " SET vector = (SELECT ('[' || string_agg((-x)::text, ',') || ']')::halfvec"
            " FROM unnest(vector::real[]) AS x) WHERE tenant = %s",
            [tenant],
        )


def vectors(tenant: str = "acme") -> dict[Any, Any]:
    rows = Embedding.objects.filter(tenant=tenant)
    return {row.record_id: list(row.vector) for row in rows}


def pages(memory: Any, **given: Any) -> list[int]:
    found, cursor = [], None
    while True:
        page = memory.rebuild_index(cursor, **given)
        found.append(page.rebuilt)
        if page.next_cursor is None:
            return found
        cursor = page.next_cursor


def test_each_vector_of_the_scope_is_made_anew_once() -> None:
    """B196."""
    remember(*(f"text {i}" for i in range(7)), wait=True)
    before = vectors()
    spoil()
    assert vectors() != before
    assert pages(make_memory(), batch_size=3) == [3, 3, 1]
    assert vectors() == before


def test_everything_else_stays_as_it_was() -> None:
    """B197."""
    remember("a", "b", wait=True)
    before = list(Record.objects.order_by("id").values())
    assert pages(make_memory()) == [2]
    assert list(Record.objects.order_by("id").values()) == before


def test_it_goes_on_from_a_saved_cursor() -> None:
    """B198."""
    remember(*(f"text {i}" for i in range(5)), wait=True)
    cursor = make_memory().rebuild_index(batch_size=2).next_cursor
    again = make_memory().rebuild_index(cursor, batch_size=2)
    assert again.rebuilt == 2
    assert make_memory().rebuild_index(again.next_cursor).rebuilt == 1


def test_another_scopes_vectors_are_not_touched() -> None:
    remember("a", wait=True)
    other = make_scope(thread="chat-2")
    remember("b", scope=other, wait=True)
    remember("c", scope=make_scope(tenant="globex"), wait=True)
    spoil()
    spoil("globex")
    before = vectors() | vectors("globex")
    assert pages(make_memory()) == [1]
    after = vectors() | vectors("globex")
    assert sum(before[i] != after[i] for i in before) == 1


def test_a_cursor_of_another_scope_is_refused() -> None:
    remember("a", "b", wait=True)
    cursor = make_memory().rebuild_index(batch_size=1).next_cursor
    assert cursor is not None
    stranger = make_memory(make_scope(owner="bob"))
    with pytest.raises(Invalid, match="another scope"):
        stranger.rebuild_index(cursor)
    for wrong in ("", "x", cursor[:-4], "a" * 5_000):
        with pytest.raises(Invalid):
            make_memory().rebuild_index(wrong)


@pytest.mark.parametrize(
    "wrong",
    [{"batch_size": 0}, {"batch_size": 129}, {"max_ms": 0}, {"max_ms": 60_001}],
)
def test_bounds_are_told(wrong: dict[str, Any]) -> None:
    """B196: 32 or up to 128 rows, 10 or up to 60 seconds."""
    with pytest.raises(LimitExceeded, match=next(iter(wrong))):
        make_memory().rebuild_index(**wrong)


def test_a_late_page_writes_nothing(settings: Any) -> None:
    remember("a", wait=True)
    spoil()
    before = vectors()
    settings.PRISM_MEMORY = {
        **settings.PRISM_MEMORY,
        "EMBEDDERS": {
            "default": {
                "BACKEND": "tests.embedders.SlowEmbedder",
                "OPTIONS": {"pause_seconds": 0.05},
            }
        },
    }
    with pytest.raises(LimitExceeded, match="max_ms"):
        make_memory().rebuild_index(max_ms=1)
    assert vectors() == before


def test_who_stops_it_finds_what_was_there() -> None:
    remember("a", wait=True)
    spoil()
    before = vectors()
    with pytest.raises(Aborted):
        make_memory().rebuild_index(cancelled=lambda: True)
    assert vectors() == before


def test_another_width_is_refused(settings: Any) -> None:
    """A rebuild cannot change the dimensions."""
    remember("a", wait=True)
    settings.PRISM_MEMORY = {
        **settings.PRISM_MEMORY,
        "EMBEDDERS": {
            "default": {
                "BACKEND": "prism_memory.backends.hashing.HashEmbedder",
                "OPTIONS": {"dimensions": 8},
            }
        },
    }
    with pytest.raises(EmbedderMismatch):
        make_memory().rebuild_index()


@pytest.mark.django_db(transaction=True)
def test_no_embedder_is_asked_inside_a_transaction() -> None:
    with transaction.atomic(), pytest.raises(Unsupported):
        make_memory().rebuild_index()


def test_what_waits_is_left_to_the_drain() -> None:
    remember("done", wait=True)
    waiting = remember_one("waits")
    assert pages(make_memory()) == [1]
    assert row_of(waiting).vector is None


def test_a_text_that_changes_meanwhile_keeps_its_own_vector() -> None:
    record_id = remember_one("before", key="k", wait=True)

    def embed(texts: Any) -> Any:
        remember_one("after", key="k", wait=True)
        return backends.embed(backends.get_embedder(), texts, role="passage")

    queue = indexing.Queue("default", "acme", space())
    page = indexing.rebuild_page(queue=queue, embed=embed, rows=8)
    assert page.rebuilt == 0
    (wanted,) = backends.embed(backends.get_embedder(), ["after"], role="passage")
    cosine = sum(a * b for a, b in zip(row_of(record_id).vector, wanted, strict=True))
    assert cosine == pytest.approx(1, abs=0.01)


def rebuild(embed: Any = None, **given: Any) -> indexing.Rebuilt:
    usual = partial(backends.embed, backends.get_embedder(), role="passage")
    return indexing.rebuild(
        using="default",
        tenant="acme",
        space=space(),
        embed=embed or usual,
        rows=2,
        actor=Actor(),
        **given,
    )


def test_a_run_goes_on_where_it_failed() -> None:
    """B198: each page's vectors and its place are saved together."""
    remember(*(f"text {i}" for i in range(5)), wait=True)
    calls = iter([False, True])

    def embed(texts: Any) -> Any:
        if next(calls):
            message = "It is down."
            raise ProviderUnavailable(message)
        return backends.embed(backends.get_embedder(), texts, role="passage")

    with pytest.raises(ProviderUnavailable):
        rebuild(embed)
    run = Run.objects.get(tenant="acme", kind="rebuild")
    assert (run.state, run.counts) == ("failed", {"rebuilt": 2})
    assert run.error == "provider_unavailable: It is down."
    assert rebuild() == indexing.Rebuilt(5, done=True)
    run.refresh_from_db()
    assert (run.state, run.counts) == ("done", {"rebuilt": 5})


def test_a_run_ends_for_a_while_and_goes_on() -> None:
    remember("a", "b", "c", wait=True)
    assert rebuild(max_seconds=0) == indexing.Rebuilt(0, done=False)
    assert rebuild() == indexing.Rebuilt(3, done=True)
    assert rebuild() == indexing.Rebuilt(3, done=True)  # a new one, from the beginning


def test_the_task_rebuilds_to_the_end() -> None:
    """B200."""
    remember(*(f"text {i}" for i in range(5)), wait=True)
    before = vectors()
    spoil()
    run = indexing.start_rebuild(
        using="default",
        tenant="acme",
        space=indexing.active(using="default", alias="default"),
        actor=Actor("user:1"),
        at=timezone.now(),
    )
    given = {"using": "default", "tenant": "acme", "run_id": str(run.id)}
    tasks.rebuild.apply(kwargs=given, throw=True)
    run.refresh_from_db()
    assert (run.state, run.actor) == ("done", "user:1")
    assert runs.done_and_total(run) == (5, 5)
    assert vectors() == before


def test_the_command_says_how_many() -> None:
    remember("a", "b", wait=True)
    text = io.StringIO()
    call_command("prism_memory_index", "rebuild", tenant="acme", json=True, stdout=text)
    assert json.loads(text.getvalue()) == {"rebuilt": 2}


def test_anew_it_begins_at_the_first_record_wherever_one_stopped(
    monkeypatch: Any,
) -> None:
    """One that failed long ago was of another change."""
    remember("one", "two", "three", wait=True)
    space_id = space().id
    Run.objects.create(
        tenant="acme",
        kind="rebuild",
        target=f"space:{space_id}",
        state="failed",
        cursor={"after": str(Record.objects.order_by("id")[1].id)},
        counts={"rebuilt": 2},
        started_at="2026-01-01T00:00Z",
        heartbeat_at="2026-01-01T00:00Z",
    )
    out = io.StringIO()
    call_command("prism_memory_index", "rebuild", "--anew", "--json", stdout=out)
    assert json.loads(out.getvalue()) == {"rebuilt": 3}
    ended = Run.objects.filter(kind="rebuild").order_by("started_at")
    assert [each.state for each in ended] == ["cancelled", "done"]
