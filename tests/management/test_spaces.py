"""``prism_memory_index`` rebuild --to, switch and drop --space."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from prism_memory.models import Embedding, EmbeddingSpace, Run
from tests.factories import make_memory, make_scope, remember, remember_one
from tests.indexing.conftest import counted, space
from tests.indexing.two_spaces import configure

pytestmark = pytest.mark.django_db

COMMAND = "prism_memory_index"


@pytest.fixture(autouse=True)
def _two(settings: Any) -> None:
    configure(settings)


def states() -> list[str]:
    return list(EmbeddingSpace.objects.order_by("id").values_list("state", flat=True))


def test_it_builds_compares_and_says_what_to_do_next(run: Any) -> None:
    remember(*(f"Ada keeps {n} bees in town {n}." for n in range(12)), wait=True)
    remember("of another", scope=make_scope(tenant="globex"), wait=True)
    result = run(COMMAND, "rebuild", "--to=next", "--json")
    assert result.code == 0, result.message
    found = result.json
    assert (found["filled"], found["behind"], found["failed"]) == (13, 0, 0)
    assert found["embedder"] == "hashing/fnv1a (96)"
    agreement = found["agreement"]
    assert (agreement["questions"], agreement["top_k"]) == (12, 10)
    assert 0.5 < agreement["overlap"] <= 1
    assert states() == ["active", "building"]
    assert "Filling acme" in result.err
    again = run(COMMAND, "rebuild", "--to=next")
    assert "0 filled" in again.out
    assert "12 questions: " in again.out
    assert "the same (overlap@10 " in again.out
    assert "ranks of these correlate" in again.out
    assert "It is whole: prism_memory_index switch lets it answer." in again.out
    assert "bees" not in again.out


def test_questions_come_from_a_file(run: Any, tmp_path: Path) -> None:
    remember_one("Ada drinks tea.", wait=True)
    path = tmp_path / "questions"
    path.write_text("who drinks tea?\n\nwho keeps bees?\n")
    result = run(COMMAND, "rebuild", "--to=next", f"--queries={path}", "--json")
    assert result.json["agreement"]["questions"] == 2
    path.write_text("\n")
    result = run(COMMAND, "rebuild", "--to=next", f"--queries={path}")
    assert (result.code, "must hold 1 to 200" in result.message) == (1, True)
    result = run(COMMAND, "rebuild", "--to=next", "--queries=/nowhere")
    assert (result.code, "cannot be read" in result.message) == (1, True)


def test_it_switches_back_and_drops(run: Any, django_db_blocker: Any) -> None:
    remember_one("Ada drinks tea.", wait=True)
    done = run(COMMAND, "rebuild", "--to=next", "--switch", "--samples=0", "--json")
    assert (done.json["switched"], done.json["agreement"]) == (True, None)
    assert states() == ["retired", "active"]
    assert counted() == {make_scope().id: 1}
    remember_one("Bob drinks coffee.", wait=True)
    back = run(COMMAND, "switch", "--back")
    assert back.code == 0, back.message
    assert "1 were caught up" in back.out
    assert states() == ["active", "retired"]
    assert make_memory().recall("Bob drinks coffee.", legs="vector").hits[0].cosine
    refused = run(COMMAND, "drop", f"--space={space().id}")
    assert refused.code == 1


def test_at_once_it_queues_what_lacks_and_what_is_of_another_text(run: Any) -> None:
    remember_one("Ada drinks tea.", key="k", wait=True)
    run(COMMAND, "rebuild", "--to=next", "--switch", "--samples=0")
    remember_one("Ada drinks milk.", key="k", wait=True)
    remember_one("Bob drinks coffee.", wait=True)
    result = run(COMMAND, "switch", "--back", "--now", "--reason=It answers badly.")
    assert result.code == 0, result.message
    waiting = Embedding.objects.filter(space=space().id, vector=None)
    assert waiting.count() == 2
    assert "no vector yet" in make_memory().recall("Ada").degraded


def test_back_catches_up_behind_the_place_of_a_fill_that_was_cut(run: Any) -> None:
    """Its run goes on at its place; what changed before it is looked for again."""
    remember("one", "two", wait=True)
    first = remember_one("three", key="k", wait=True)
    run(COMMAND, "rebuild", "--to=next", "--switch", "--samples=0")
    remember_one("three, changed", key="k", wait=True)
    Run.objects.create(
        tenant="acme",
        kind="fill",
        target=f"space:{EmbeddingSpace.objects.get(state='retired').id}",
        state="cancelled",
        cursor={"after": str(first)},
        started_at="2026-01-01T00:00Z",
        heartbeat_at="2026-01-01T00:00Z",
    )
    back = run(COMMAND, "switch", "--back")
    assert (back.code, back.message) == (0, "")
    assert "1 were caught up" in back.out


def test_what_cannot_be_is_refused(run: Any) -> None:
    result = run(COMMAND, "rebuild", "--to=next")
    assert (result.code, "has no vectors yet" in result.message) == (1, True)
    remember_one("Ada drinks tea.", wait=True)
    result = run(COMMAND, "rebuild", "--to=nothing")
    assert (result.code, "'nothing'" in result.message) == (1, True)
    result = run(COMMAND, "rebuild", "--to=next", "--switch", "--tenant=acme")
    assert (result.code, "--switch is for all" in result.message) == (1, True)
    result = run(COMMAND, "switch")
    assert (result.code, "to switch to" in result.message) == (1, True)
    result = run(COMMAND, "switch", "--back")
    assert (result.code, "no retired space" in result.message) == (1, True)
