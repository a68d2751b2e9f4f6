"""Names of entities compared in the background: woken, swept, and off by default."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import transaction

from prism_memory import tasks
from prism_memory.facts import resolving
from prism_memory.models import Entity
from prism_memory.tasks import sending
from tests.factories import make_scope
from tests.facts.rows import make_fact

pytestmark = pytest.mark.django_db


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What would go to the broker, of these tasks."""
    messages: list[Any] = []

    def note(message: Any, *args: Any) -> None:
        if message.task is tasks.resolve_entities:
            messages.append(message)

    monkeypatch.setattr(sending.sender, "post", note)
    monkeypatch.setattr(sending.Message, "send", note)
    return messages


@pytest.fixture
def vectors(settings: Any) -> None:
    wish = {"ENTITY_RESOLVER": "vectors"}
    settings.PRISM_MEMORY = settings.PRISM_MEMORY | wish


def waiting() -> int:
    return Entity.objects.filter(vector=None).count()


@pytest.mark.usefixtures("vectors")
def test_a_new_name_wakes_a_worker_after_the_commit(
    sent: list[Any], django_capture_on_commit_callbacks: Any
) -> None:
    with django_capture_on_commit_callbacks(execute=True), transaction.atomic():
        make_fact("Ada", "tea")
        assert sent == []
    assert {*sent[0].kwargs} == {"tenant", "using"}
    assert len({message.key for message in sent}) == 1
    assert waiting() == 2
    tasks.resolve_entities(**sent[0].kwargs)
    assert waiting() == 0
    sent.clear()
    with django_capture_on_commit_callbacks(execute=True):
        make_fact("ADA", "TEA")
    assert sent == []


@pytest.mark.usefixtures("vectors")
def test_the_sweep_starts_it_for_tenants_with_names_to_compare(
    sent: list[Any],
) -> None:
    make_fact("Ada", "tea")
    make_fact("Ada", "tea", scope=make_scope(tenant="globex"))
    tasks.resolve_entities(tenant="globex", using="default")
    tasks.sweep(work="entities")
    assert [message.kwargs["tenant"] for message in sent] == ["acme"]


def test_by_default_nothing_is_compared(
    sent: list[Any], django_capture_on_commit_callbacks: Any
) -> None:
    """B390: no embedder is called."""
    with django_capture_on_commit_callbacks(execute=True):
        make_fact("Ada", "tea")
    tasks.sweep(work="entities")
    tasks.resolve_entities(tenant="acme", using="default")
    assert sent == []
    assert waiting() == 2


@pytest.mark.usefixtures("vectors")
def test_what_is_left_is_gone_on_with(
    sent: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    make_fact("Ada", "tea")
    monkeypatch.setitem(resolving.resolve.__wrapped__.__kwdefaults__, "most", 1)  # type: ignore[attr-defined]
    tasks.resolve_entities(tenant="acme", using="default")
    assert [message.kwargs["tenant"] for message in sent] == ["acme"]


@pytest.mark.usefixtures("vectors")
def test_a_judge_of_the_settings_is_asked(settings: Any) -> None:
    """B391: five words, of which four are the same, are rather near."""
    names = ("red green blue brown", "red green blue brown black")
    make_fact(*names)
    tasks.resolve_entities(tenant="acme", using="default")
    assert Entity.objects.filter(merged_into=None).count() == 2
    Entity.objects.update(vector=None, space_id=None)
    judge = {"ENTITY_JUDGE": f"{__name__}.certain"}
    settings.PRISM_MEMORY = settings.PRISM_MEMORY | judge
    tasks.resolve_entities(tenant="acme", using="default")
    assert Entity.objects.filter(merged_into=None).count() == 1


def certain(name: str, other: str) -> bool:
    return True


def test_beat_sweeps() -> None:
    entry = tasks.beat_schedule()["prism-memory-sweep-entities"]
    assert entry["kwargs"] == {"work": "entities"}
