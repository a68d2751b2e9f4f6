"""B155: the host hears of it, after the tombstones and before the bodies."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.core.checks import run_checks

from prism_memory import signals
from prism_memory.models import Record, Tombstone
from prism_memory.types import Lineage, TombstoneReason
from tests.factories import make_memory, remember_one
from tests.tables import counts

pytestmark = pytest.mark.django_db

told: list[dict[str, Any]] = []


class Refused(Exception):
    """A host that says no."""


def hook(reason: TombstoneReason, ids: tuple[str, ...], hold: bool) -> None:
    """Note what stands at this moment."""
    stones = Tombstone.objects.filter(target_ref__in=ids, reason=reason.value)
    names = [uuid.UUID(ref.removeprefix("record:")) for ref in ids]
    bodies = Record.objects.filter(id__in=names)
    told.append(
        {
            "reason": reason,
            "ids": set(ids),
            "hold": hold,
            "marked": {*stones.values_list("target_ref", flat=True)},
            "texts": {*bodies.values_list("text", flat=True)},
            "revoked": bodies.exclude(revoked_at=None).exists(),
        }
    )


def refusing(**_: Any) -> None:
    raise Refused


def heard(sender: object, using: str, tenant: str, **given: Any) -> None:
    assert (using, tenant) == ("default", "acme")
    given.pop("signal")
    hook(**given)


@pytest.fixture(params=["setting", "signal"])
def listening(request: Any, settings: Any) -> Iterator[Callable[[Any], None]]:
    """Let a function be told, by either way."""
    told.clear()
    connected: list[Any] = []

    def listen(function: Any) -> None:
        if request.param == "setting":
            path = f"{__name__}.{function.__name__}"
            settings.PRISM_MEMORY = settings.PRISM_MEMORY | {"ON_INVALIDATE": path}
            return
        receiver = heard if function is hook else function
        signals.invalidated.connect(receiver)
        connected.append(receiver)

    yield listen
    for receiver in connected:
        signals.invalidated.disconnect(receiver)


@pytest.fixture
def source(db: None) -> uuid.UUID:
    source = remember_one("source", key="source")
    remember_one("made", lineage=Lineage(("source",)))
    return source


VERBS: dict[str, tuple[Callable[[Any, uuid.UUID], Any], str, bool]] = {
    "forget": (lambda m, i: m.forget(i), "forgotten", False),
    "hold": (lambda m, i: m.forget(i, hold=True), "legal_hold", True),
    "thread": (lambda m, _: m.forget_thread(), "forgotten", False),
    "revoke": (lambda m, i: m.set_consent(i, visible=False), "revoked", False),
    "correct": (lambda m, i: m.correct(i, "other"), "corrected", False),
}


@pytest.mark.parametrize("verb", VERBS)
def test_it_hears_between_tombstones_and_bodies(
    verb: str, listening: Any, source: uuid.UUID
) -> None:
    """B155, B146."""
    do, reason, hold = VERBS[verb]
    listening(hook)
    do(make_memory(), source)
    (once,) = told
    made = Record.objects.filter(text="made").values_list("id", flat=True)
    assert f"record:{source}" in once["ids"]
    assert {f"record:{i}" for i in made} <= once["ids"]
    assert (len(once["ids"]), once["marked"]) == (2, once["ids"])
    assert (once["reason"], once["hold"]) == (TombstoneReason(reason), hold)
    assert once["texts"] == {"source", "made"}  # also the old words of a correction
    assert not once["revoked"]


@pytest.mark.parametrize("verb", VERBS)
def test_one_that_raises_keeps_everything(
    verb: str, listening: Any, source: uuid.UUID
) -> None:
    """B146, B155."""
    listening(refusing)
    before = counts()
    with pytest.raises(Refused):
        VERBS[verb][0](make_memory(), source)
    assert counts() == before
    assert {item.text for item in make_memory().list()} == {"source", "made"}


@pytest.mark.parametrize("verb", ["forget", "hold", "thread"])
def test_nothing_is_told_of_nothing(
    verb: str, listening: Any, source: uuid.UUID
) -> None:
    listening(hook)
    make_memory().hold()
    if verb == "hold":
        make_memory().forget([], hold=True)
    else:
        VERBS[verb][0](make_memory(), source)
    make_memory().forget(uuid.uuid4())
    assert told == []


def test_a_path_that_leads_nowhere_is_reported(settings: Any) -> None:
    settings.PRISM_MEMORY = settings.PRISM_MEMORY | {"ON_INVALIDATE": "no.where"}
    found = [m for m in run_checks() if "ON_INVALIDATE" in m.msg]
    assert [message.id for message in found] == ["prism_memory.E005"]


def test_one_that_cannot_be_imported_keeps_everything(
    settings: Any, source: uuid.UUID
) -> None:
    settings.PRISM_MEMORY = settings.PRISM_MEMORY | {"ON_INVALIDATE": "no.where"}
    before = counts()
    with pytest.raises(ImportError):
        make_memory().forget(source)
    assert counts() == before
