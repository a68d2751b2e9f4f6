"""B136, B137: strict mode, set for a deployment, a memory or one call."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

import pytest

from prism_memory.errors import NotVisible
from prism_memory.memory import Memory
from prism_memory.types import Kind, SourceRef
from tests.factories import make_memory, remember_one

pytestmark = pytest.mark.django_db

TEXT = "Ada drinks tea."
Ask = Callable[[Memory, uuid.UUID], bool]


def gets(memory: Memory, record_id: uuid.UUID) -> bool:
    try:
        memory.get(record_id)
    except NotVisible:
        return False
    return True


def lists(memory: Memory, record_id: uuid.UUID) -> bool:
    return record_id in {item.id for item in memory.list()}


def recalls(memory: Memory, record_id: uuid.UUID, **options: Any) -> bool:
    return record_id in {hit.id for hit in memory.recall("tea", 32, **options)}


def recalls_in_depth(memory: Memory, record_id: uuid.UUID, **options: Any) -> bool:
    found = memory.deep_recall("tea", 32, force_hard=True, **options)
    return record_id in {hit.id for hit in found.hits}


def stands_beside(memory: Memory, record_id: uuid.UUID, **options: Any) -> bool:
    beside = memory.recall("something else", 1, message_range=4, **options).adjacent
    return record_id in {item.id for item in beside}


def is_near(memory: Memory, record_id: uuid.UUID) -> bool:
    return record_id in {near.id for near in memory.neighbors("tea")}


ASKED: dict[str, Ask] = {
    "get": gets,
    "list": lists,
    "recall": recalls,
    "recall by vectors": lambda m, i: recalls(m, i, legs="vector"),
    "recall by words": lambda m, i: recalls(m, i, legs="text"),
    "recall by age": lambda m, i: recalls(m, i, legs="recency"),
    "recall by id": lambda m, i: recalls(m, i, ids=[i]),
    "deep recall": recalls_in_depth,
    "neighbors": is_near,
}
PER_CALL: dict[str, Any] = {
    "recall": recalls,
    "deep recall": recalls_in_depth,
}


@pytest.fixture
def chunk() -> uuid.UUID:
    """A record that came without any consent."""
    record_id = remember_one(TEXT, kind=Kind.CHUNK, source=SourceRef("doc"), wait=True)
    remember_one("Something else.", wait=True)
    return record_id


@pytest.fixture
def by_setting(settings: Any) -> Callable[[bool], None]:
    def choose(strict: bool) -> None:
        chosen = {"REQUIRE_CONSENT": strict}
        settings.PRISM_MEMORY = settings.PRISM_MEMORY | chosen

    return choose


@pytest.mark.parametrize("asked", ASKED)
def test_without_strict_mode_it_is_seen(asked: str, chunk: uuid.UUID):
    """B137."""
    assert ASKED[asked](make_memory(), chunk)


@pytest.mark.parametrize("asked", ASKED)
def test_a_strict_memory_sees_it_nowhere_until_it_is_granted(
    asked: str, chunk: uuid.UUID
):
    """B136."""
    memory = make_memory(require_consent=True)
    assert not ASKED[asked](memory, chunk)
    memory.set_consent(chunk, label="user")  # type: ignore[arg-type]
    assert not ASKED[asked](memory, chunk)
    memory.set_consent(chunk, visible=True)
    assert ASKED[asked](memory, chunk)


@pytest.mark.parametrize("asked", ASKED)
def test_a_strict_deployment_sees_it_nowhere(
    asked: str, chunk: uuid.UUID, by_setting: Callable[[bool], None]
):
    """B136."""
    by_setting(True)  # noqa: FBT003
    assert not ASKED[asked](make_memory(), chunk)
    assert ASKED[asked](make_memory(require_consent=False), chunk)


@pytest.mark.parametrize("asked", PER_CALL)
def test_a_strict_call_does_not_see_it(asked: str, chunk: uuid.UUID):
    """B136."""
    assert not PER_CALL[asked](make_memory(), chunk, require_consent=True)


@pytest.mark.parametrize("asked", PER_CALL)
@pytest.mark.parametrize("setting", [True, False])
@pytest.mark.parametrize("memory", [True, False, None])
@pytest.mark.parametrize("call", [True, False, None])
def test_the_narrowest_that_says_anything_decides(
    asked: str,
    setting: bool,
    memory: bool | None,
    call: bool | None,
    chunk: uuid.UUID,
    by_setting: Callable[[bool], None],
):
    """B136, B137."""
    by_setting(setting)
    strict = next(wish for wish in (call, memory, setting) if wish is not None)
    told = {} if call is None else {"require_consent": call}
    door = make_memory(require_consent=memory)
    assert PER_CALL[asked](door, chunk, **told) is not strict


def test_what_stands_beside_a_hit_needs_it_too():
    """B136."""
    source = SourceRef("doc", 0)
    hidden = remember_one("Without.", kind=Kind.CHUNK, source=source)
    remember_one("something else", source=SourceRef("doc", 1))
    assert stands_beside(make_memory(), hidden)
    assert not stands_beside(make_memory(require_consent=True), hidden)
    assert not stands_beside(make_memory(), hidden, require_consent=True)
