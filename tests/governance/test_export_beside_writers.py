"""Exports beside writers, with real commits."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from prism_memory.governance import export, exports
from prism_memory.models import Record
from prism_memory.runs import TakenOver
from prism_memory.types import Entry, Scope
from tests.factories import make_memory
from tests.governance.stored import lines, storages
from tests.together import together

pytestmark = pytest.mark.django_db(transaction=True)

ADAS = Scope("acme", "ada")
ROWS = 60
WRITERS = 4


def writer(number: int, stop: threading.Event) -> Callable[[], None]:
    """Add rows, change others, and move them about, until the reader is done."""

    def write() -> None:
        memory, turn = make_memory(ADAS), 0
        while not stop.is_set() and turn < 20:
            turn += 1
            key = f"k{(number * 17 + turn * 7) % ROWS}"
            place = (turn * 13 * (number + 1)) % (2 * ROWS)
            memory.remember(
                Entry(f"{key} by {number}, {turn}", key=key, sequence=place)
            )
            memory.remember(f"New by {number}, {turn}.")

    return write


def test_pages_beside_writers_meet_each_record_once() -> None:
    """B194: rows that come, change and move while another connection reads."""
    memory = make_memory(ADAS)
    memory.remember([Entry(f"k{n}", key=f"k{n}", sequence=n) for n in range(ROWS)])
    stop = threading.Event()

    def read() -> list[str]:
        met, cursor = [], None
        try:
            while True:
                page = memory.export_memory(ADAS, cursor=cursor, limit=3)
                met += [record["key"] for record in page.records]
                cursor = page.next_cursor
                if cursor is None:
                    return met
        finally:
            stop.set()

    met, *_ = together([read, *(writer(n, stop) for n in range(WRITERS))])
    assert len(met) == len({*met})
    assert {*met} >= {f"k{n}" for n in range(ROWS)}
    assert Record.objects.filter(first_sequence__isnull=False).exists()


def test_a_row_that_moves_between_the_two_reads_is_met_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """B194: the very moment that the order of the two reads is for."""
    memory = make_memory(ADAS)
    memory.remember([Entry(f"k{n}", key=f"k{n}", sequence=n) for n in range(4)])
    real: Any = export._after
    asked: list[str] = []

    def after(rows: Any, column: str, place: Any) -> Any:
        found = real(rows, column, place)
        asked.append(column)
        if column == "sequence":
            found = list(found[:100])  # read now, then it moves
            memory.remember(Entry("k1", key="k1", sequence=50))
        return found

    monkeypatch.setattr(export, "_after", after)
    page = memory.export_memory(ADAS)
    assert asked == ["sequence", "first_sequence"]
    assert [record["key"] for record in page.records] == ["k0", "k1", "k2", "k3"]


def test_many_workers_on_one_export_write_it_once(
    tmp_path: Path, settings: Any
) -> None:
    """Of all that take it up at one moment one goes on; the others stop."""
    settings.STORAGES = storages(tmp_path)
    memory = make_memory(ADAS)
    memory.remember([Entry(f"k{n}", key=f"k{n}") for n in range(ROWS)])
    state = memory.start_export()

    def work() -> str:
        try:
            exports.carry_on(using="default", tenant="acme", run_id=state.id)
        except TakenOver:
            return "stopped"
        return "done"

    ended = together([work] * 4)
    if memory.export_state(state.id).state == "running":
        ended.append(work())
    assert memory.export_state(state.id).state == "done"
    keys = [line["key"] for line in lines(tmp_path)]
    assert sorted(keys) == sorted(f"k{n}" for n in range(ROWS))
    assert ended.count("done") >= 1
    parts = list(tmp_path.rglob("part-*"))
    assert len(parts) == len(memory.export_state(state.id).parts)
