"""A space gets the vectors that it lacks, each once."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import Any

import pytest
from django.utils import timezone

from prism_memory import backends, indexing
from prism_memory.errors import ProviderUnavailable
from prism_memory.models import Embedding, Record, Run
from prism_memory.types import Actor
from tests.factories import make_memory, make_scope, remember, remember_one
from tests.indexing.conftest import counted, drain, space
from tests.indexing.two_spaces import building, configure

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _two(settings: Any) -> None:
    configure(settings)


class Noting:
    """An embed that counts what it is asked for."""

    def __init__(self, entry: str = "next", fails_at: int = 0) -> None:
        self.entry, self.fails_at = entry, fails_at
        self.texts: Counter[str] = Counter()
        self.calls = 0

    def __call__(self, texts: Any) -> Any:
        self.calls += 1
        if self.calls == self.fails_at:
            message = "It is down."
            raise ProviderUnavailable(message)
        self.texts.update(texts)
        return backends.embed(backends.get_embedder(self.entry), texts, role="passage")


def fill(target: indexing.Space, embed: Any, **given: Any) -> indexing.Filled:
    usual = {"using": "default", "tenant": "acme", "rows": 2, "actor": Actor("t")}
    return indexing.fill(space=target, embed=embed, **{**usual, **given})


def vectors(target: indexing.Space, tenant: str = "acme") -> int:
    rows = Embedding.objects.filter(tenant=tenant, space=target.id)
    return rows.filter(vector__isnull=False).count()


def test_each_text_is_embedded_once_and_counted_where_it_answers() -> None:
    texts = [f"text {n}" for n in range(7)]
    remember(*texts, wait=True)
    remember("a stranger's", scope=make_scope(tenant="globex"), wait=True)
    new, embed = building(), Noting()
    assert fill(new, embed) == indexing.Filled(7, 0, 7, done=True)
    assert embed.texts == Counter(texts)
    assert (vectors(new), vectors(new, "globex")) == (7, 0)
    assert counted() == {make_scope().id: 7}
    assert fill(new, embed).filled == 0


def test_a_run_goes_on_after_the_last_whole_page() -> None:
    """B198, B485: the place is saved with the vectors of its page."""
    texts = [f"text {n}" for n in range(7)]
    remember(*texts, wait=True)
    new, embed = building(), Noting(fails_at=3)
    with pytest.raises(ProviderUnavailable):
        fill(new, embed)
    run = Run.objects.get(tenant="acme", kind="fill", target=f"space:{new.id}")
    assert (run.state, run.counts["filled"], run.error) == (
        "failed",
        4,
        "provider_unavailable: It is down.",
    )
    assert fill(new, embed, max_seconds=0) == indexing.Filled(4, 0, 7, done=False)
    assert fill(new, embed).filled == 7
    assert embed.texts == Counter(texts)
    run.refresh_from_db()
    assert run.state == "done"


def test_what_is_written_meanwhile_is_the_drains() -> None:
    remember("one", "two", wait=True)
    new, embed = building(), Noting()

    def writing(texts: Any) -> Any:
        if embed.calls == 0:
            remember_one("three")
            remember_one("one, corrected", key="late")
        return embed(texts)

    fill(new, writing)
    assert vectors(new) == 2
    drain(space=new, embed=embed)
    assert vectors(new) == 4
    assert set(embed.texts.values()) == {1}


def test_a_text_that_changes_meanwhile_keeps_no_old_vector() -> None:
    record_id = remember_one("before", key="k", wait=True)
    new, embed = building(), Noting()

    def writing(texts: Any) -> Any:
        remember_one("after", key="k")
        return embed(texts)

    assert fill(new, writing).filled == 0
    row = Embedding.objects.get(record_id=record_id, space=new.id)
    assert row.vector is None
    drain(space=new, embed=embed)
    assert embed.texts == Counter(["before", "after"])


def test_a_vector_of_another_text_is_made_anew() -> None:
    first, record_id = space(), remember_one("words", wait=True)
    stale = Embedding.objects.filter(record_id=record_id)
    stale.update(sha256=b"x" * 32)
    embed = Noting("default")
    assert fill(first, embed).filled == 1
    assert embed.texts == Counter(["words"])
    assert counted() == {make_scope().id: 1}
    assert fill(first, embed).filled == 0


def test_retired_records_get_none() -> None:
    """B488."""
    gone = remember_one("old")
    Embedding.objects.all().delete()
    Record.objects.filter(id=gone).update(retired_at=timezone.now())
    assert fill(building_beside(), Noting()).filled == 0


def building_beside() -> indexing.Space:
    space()
    return building()


def test_a_refused_text_is_queued_and_spoils_no_other(faulty: Any) -> None:
    remember("good", "REJECTED", "fine", "last")
    Embedding.objects.all().delete()
    embed = partial(backends.embed, faulty, role="passage")
    done = fill(space(), embed, rows=4)
    assert (done.filled, done.queued) == (3, 1)
    assert make_memory().pending().pending == 1


def test_a_page_is_bounded() -> None:
    remember("one", "two", "three", wait=True)
    new, embed = building(), Noting()
    page = indexing.fill_page(
        queue=indexing.Queue("default", "acme", new), embed=embed, rows=2
    )
    assert (page.filled, sum(embed.texts.values())) == (2, 2)
    assert page.last is not None
