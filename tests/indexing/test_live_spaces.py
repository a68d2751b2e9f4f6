"""What is written goes to the space that answers and to the one being built."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import IntegrityError, transaction

from prism_memory import indexing, tasks
from prism_memory.errors import EmbedderMismatch, Misconfigured
from prism_memory.models import Embedding, EmbeddingSpace
from tests.factories import make_memory, make_scope, remember, remember_one
from tests.indexing.conftest import counted, space
from tests.indexing.entries import ENTRIES
from tests.indexing.two_spaces import Turned, building, configure

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _two(settings: Any) -> None:
    configure(settings)


def widths(record_id: Any) -> dict[int, int | None]:
    """The width of each of its vectors; None while it waits."""
    rows = Embedding.objects.filter(tenant="acme", record_id=record_id)
    return {r.space_id: None if r.vector is None else len(list(r.vector)) for r in rows}


def test_a_write_is_queued_in_both_and_one_drain_embeds_both() -> None:
    first, second = space(), building()
    record_id = remember_one("Ada drinks tea.")
    assert widths(record_id) == {first.id: None, second.id: None}
    tasks.drain.apply(
        kwargs={"tenant": "acme", "using": "default", "alias": "default"}, throw=True
    )
    assert widths(record_id) == {first.id: 64, second.id: 96}


def test_who_waits_waits_for_both() -> None:
    first, second = space(), building()
    record_id = remember_one("Ada drinks tea.", wait=True)
    assert widths(record_id) == {first.id: 64, second.id: 96}


def test_a_broken_embedder_of_what_is_built_fails_no_write(settings: Any) -> None:
    first, second = space(), building()
    configure(settings, EMBEDDERS={"default": ENTRIES["default"]})
    done = make_memory().remember("Ada drinks tea.", wait=True)
    assert not done.degraded
    assert widths(done.accepted[0]) == {first.id: 64, second.id: None}


def test_what_is_built_is_not_counted_yet() -> None:
    """The planner reads how many vectors a scan would compare."""
    space(), building()
    remember("One.", "Two.", wait=True)
    assert counted() == {make_scope().id: 2}


def test_one_is_built_at_a_time() -> None:
    space(), building()
    assert building("turned").entry == "next"
    row = EmbeddingSpace.objects.get(state="building")
    row.id = None
    with pytest.raises(IntegrityError), transaction.atomic():
        row.save(force_insert=True)


def test_the_space_says_what_embeds_for_it(settings: Any) -> None:
    space()
    built = building("turned")
    assert isinstance(indexing.embedder_of(built), Turned)
    # Once the alias's own entry is the same embedder, the other may go.
    configure(settings, EMBEDDERS={"default": ENTRIES["turned"]})
    assert isinstance(indexing.embedder_of(built), Turned)
    configure(settings, EMBEDDERS={"default": ENTRIES["next"]})
    with pytest.raises(EmbedderMismatch):
        indexing.embedder_of(built)
    configure(settings, EMBEDDERS={})
    with pytest.raises(Misconfigured):
        indexing.embedder_of(built)
