"""Spaces are filled, and switched to where that is wished, by workers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from celery import current_app
from django.utils import timezone

from prism_memory import indexing, tasks
from prism_memory.models import Embedding, EmbeddingSpace, Run
from prism_memory.types import Actor
from tests.factories import make_memory, make_scope, remember, remember_one
from tests.indexing.conftest import space
from tests.indexing.entries import ENTRIES
from tests.indexing.two_spaces import configure

pytestmark = pytest.mark.django_db

WHO: Any = {"using": "default", "actor": Actor("olga")}


@pytest.fixture
def celery_does_it() -> Iterator[None]:
    current_app.conf.task_always_eager = True
    yield
    current_app.conf.task_always_eager = False


@pytest.fixture(autouse=True)
def _two(settings: Any) -> None:
    configure(settings)


def states() -> dict[str, str]:
    rows = EmbeddingSpace.objects.order_by("id")
    return {str(row.dimensions): row.state for row in rows}


def sweep() -> None:
    tasks.sweep.apply(kwargs={"work": "fills"}, throw=True)


@pytest.mark.usefixtures("celery_does_it")
class TestFills:
    def test_the_sweep_fills_what_is_being_built_tenant_by_tenant(self) -> None:
        space()
        remember("one", "two", wait=True)
        remember("three", scope=make_scope(tenant="globex"), wait=True)
        sweep()
        assert not Run.objects.filter(kind="fill").exists()
        new = indexing.build_space(
            alias="default", backend="next", at=timezone.now(), **WHO
        )
        sweep()
        filled = Embedding.objects.filter(space=new.id, vector__isnull=False)
        assert filled.count() == 3
        runs = Run.objects.filter(kind="fill").values_list("tenant", "state")
        assert sorted(runs) == [("acme", "done"), ("globex", "done")]
        sweep()  # nothing is left, so none is begun
        assert Run.objects.filter(kind="fill").count() == 2
        indexing.switch_space(alias="default", at=timezone.now(), **WHO)

    def test_a_space_that_is_built_again_gets_what_changed(self) -> None:
        old = space()
        remember_one("one", key="k", wait=True)
        moment = timezone.now
        indexing.build_space(alias="default", backend="next", at=moment(), **WHO)
        sweep()
        indexing.switch_space(alias="default", at=moment(), **WHO)
        record_id = remember_one("one, changed", key="k", wait=True)
        Embedding.objects.filter(space=old.id).update(counted=True)
        indexing.reopen_space(alias="default", at=moment(), **WHO)
        sweep()
        tasks.drain.apply(
            kwargs={"tenant": "acme", "using": "default", "alias": "default"},
            throw=True,
        )
        assert indexing.switch_space(alias="default", at=moment(), **WHO).id == old.id
        found = make_memory().recall("one, changed", legs="vector").hits[0]
        assert (found.id, round(found.cosine or 0, 2)) == (record_id, 1.0)

    def test_after_a_switch_each_tenant_is_looked_over_once_more(self) -> None:
        """Who read as of long ago may have written to the old space alone."""
        old = space()
        one = remember_one("one", wait=True)
        given: dict[str, Any] = {"alias": "default", **WHO}
        indexing.build_space(backend="next", at=timezone.now(), **given)
        sweep()
        new = indexing.switch_space(
            at=timezone.now() - indexing.AFTERMATH, **given, anyway=True
        )
        Embedding.objects.filter(space=new.id, record=one).delete()
        row = EmbeddingSpace.objects.get(id=new.id)
        row.created_at = row.state_since - indexing.AFTERMATH
        row.save()
        sweep()
        rows = Embedding.objects.filter(record=one, vector__isnull=False)
        assert {each.space_id for each in rows} == {old.id, new.id}
        begun = Run.objects.filter(kind="fill").count()
        sweep()
        assert Run.objects.filter(kind="fill").count() == begun == 2


@pytest.mark.usefixtures("celery_does_it")
class TestFollowing:
    """B485: auto, with words alone meanwhile."""

    def test_another_embedder_is_built_and_switched_to(self, settings: Any) -> None:
        old = remember_one("Ada drinks tea.", wait=True)
        changed = {"default": ENTRIES["next"]}
        configure(settings, EMBEDDERS=changed, EMBEDDER_CHANGED="rebuild")
        tasks.follow_embedders.apply(throw=True)
        assert states() == {"64": "active", "96": "building"}
        waiting = remember_one("Bob drinks coffee.")
        assert make_memory().recall("tea").degraded
        tasks.drain.apply(
            kwargs={"tenant": "acme", "using": "default", "alias": "default"},
            throw=True,
        )
        tasks.follow_embedders.apply(throw=True)
        assert states() == {"64": "active", "96": "building"}
        sweep()
        tasks.follow_embedders.apply(throw=True)
        assert states() == {"64": "retired", "96": "active"}
        for record_id, text in ((old, "Ada drinks tea."), (waiting, "Bob coffee")):
            found = make_memory().recall(text, legs="vector")
            assert (found.hits[0].id, found.degraded) == (record_id, "")

    def test_nothing_follows_unless_asked(self, settings: Any) -> None:
        remember_one("Ada drinks tea.", wait=True)
        configure(settings, EMBEDDERS={"default": ENTRIES["next"]})
        tasks.follow_embedders.apply(throw=True)
        assert states() == {"64": "active"}

    def test_an_embedder_that_is_the_same_is_left_alone(self, settings: Any) -> None:
        remember_one("Ada drinks tea.", wait=True)
        configure(settings, EMBEDDER_CHANGED="rebuild")
        tasks.follow_embedders.apply(throw=True)
        assert states() == {"64": "active"}
