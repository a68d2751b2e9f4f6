"""What an erasure tells beforehand is what its receipt tells afterwards."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.test import override_settings
from django.utils import timezone
from pytest_django import DjangoDbBlocker

from prism_memory import lifecycle
from prism_memory.governance import erasure
from prism_memory.models import Record, ShareGrant, Source
from prism_memory.types import Erased, Foreseen, Scope, SourceRef
from tests.factories import make_edge, make_memory, make_record, remember_one
from tests.governance.erasing import ADA, CHAT, OPERATOR, erase, furnish
from tests.governance.stored import run_export, storages
from tests.kept import kept
from tests.tables import counts

pytestmark = pytest.mark.django_db

WORDS = (
    "records",
    "vectors",
    "sources",
    "scopes",
    "shares",
    "keys",
    "traces",
    "exports",
)
SIDE = Scope("acme", "ada", "other", "side")


@pytest.fixture(scope="module")
def furnished(
    django_db_setup: None,
    django_db_blocker: DjangoDbBlocker,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[list[Any], Path]]:
    folder = tmp_path_factory.mktemp("exports")
    with kept(django_db_blocker):
        with override_settings(STORAGES=storages(folder)):
            ids = furnish_all()
        yield ids, folder


@pytest.fixture(autouse=True)
def ids(furnished: tuple[list[Any], Path], settings: Any, tmp_path: Path) -> list[Any]:
    """Files of each test's own, which a rollback does not bring back."""
    ids, folder = furnished
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    settings.STORAGES = storages(tmp_path)
    return ids


def furnish_all() -> list[Any]:
    """An owner who has everything, also beside: what derives, a share, exports."""
    ids = furnish(CHAT, "words")
    for scope in (ADA, replace(CHAT, thread="chat-2"), Scope("acme", "bob")):
        furnish(scope, f"words{scope.thread}{scope.owner}")
    make_edge(make_record("far", scope=SIDE), f"record:{ids[0]}")
    for scope in (Scope("acme"), ADA, CHAT, SIDE, Scope("acme", "bob")):
        run_export(make_memory(scope))
    return ids


def foresee(scope: Scope, **given: Any) -> Foreseen:
    before = counts()
    seen = erasure.foresee(using="default", scope=scope, **given)
    assert counts() == before
    return seen


def agree(seen: Foreseen, done: Erased) -> None:
    assert seen.counts == done.counts
    assert seen.kept == done.kept
    assert [getattr(seen, w) for w in WORDS] == [getattr(done, w) for w in WORDS]


def hold(scope: Scope, **given: Any) -> None:
    lifecycle.hold(
        using="default", scope=scope, actor=OPERATOR, at=timezone.now(), **given
    )


@pytest.mark.parametrize("scope", [Scope("acme"), ADA, replace(ADA, agent="support")])
def test_of_a_furnished_scope_everything_is_foreseen(scope: Scope) -> None:
    seen = foresee(scope)
    assert all(getattr(seen, word) for word in WORDS)
    agree(seen, erase(scope))


def test_of_a_thread_with_its_shares_and_what_derives_elsewhere() -> None:
    seen = foresee(CHAT)
    assert (seen.derived, seen.shares, seen.exports) == (1, 1, 4)
    agree(seen, erase(CHAT))


def test_a_share_got_is_foreseen_too() -> None:
    child = ShareGrant.objects.get(parent_id=CHAT.id).child.value
    seen = foresee(child)
    assert seen.shares == 1
    agree(seen, erase(child))


@pytest.mark.parametrize("which", ["record", "source"])
def test_of_a_record_and_of_a_source(which: str, ids: list[Any]) -> None:
    given = {"record": {"record_id": ids[0]}, "source": {"source_key": "words-stream"}}
    seen = foresee(CHAT, **given[which])
    assert seen.exports
    agree(seen, erase(CHAT, **given[which]))


@pytest.mark.parametrize("which", ["scope", "record", "source", "derived", "other"])
@pytest.mark.parametrize("scope", [ADA, CHAT])
def test_what_holds_keep_is_foreseen_by_the_same_words(
    which: str, scope: Scope, ids: list[Any]
) -> None:
    derived = Record.objects.get(text="far").id
    if which == "scope":
        hold(CHAT)
    elif which == "record":
        hold(CHAT, record_id=ids[2])
    elif which == "derived":
        hold(SIDE, record_id=derived)
    elif which == "source":
        hold(CHAT, source=Source.objects.get(scope_id=CHAT.id).id)
    else:
        hold(replace(CHAT, thread="chat-2"))
    seen = foresee(scope)
    agree(seen, erase(scope))


def test_a_source_that_a_hold_keeps_is_foreseen_as_kept() -> None:
    remember_one("more", scope=CHAT, source=SourceRef("doc"))
    hold(CHAT)
    seen = foresee(CHAT, source_key="doc")
    assert (seen.sources, seen.kept["sources"], seen.kept["records"]) == (0, 1, 1)
    agree(seen, erase(CHAT, source_key="doc"))
