"""Document access through the store: inside each list, and once more at the end."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import transaction

from prism_memory import signals
from prism_memory.errors import ScopeDenied
from prism_memory.rag import DocumentStore
from prism_memory.recalling import Recalling
from prism_memory.types import AccessGrant, Authorization, Denial, Recalled
from tests.rag.documents import make_store, write

pytestmark = pytest.mark.django_db

WAYS = ("retrieve", "query", "lexical_query")
ANN = Authorization("ann", groups=["hr"])
EVE = Authorization("eve", groups=["sales"])
SECRET = "The safe's number is 4711."


def ask(way: str, who: Authorization | None, store: DocumentStore | None = None) -> Any:
    store = store or make_store()
    found = getattr(store, way)(SECRET, 8, authorization=who)
    return [one.provenance.source for one in found]


@pytest.mark.parametrize("way", WAYS)
def test_grants_are_applied_inside_each_list(way: str) -> None:
    """B212, B213, B217, B219: nearer rows that are not granted take no place."""
    for number in range(12):
        write(SECRET, key=f"{number}.md")
    write(*(f"{SECRET} And more of that kind, {n}." for n in range(8)), key="hr.md")
    store = make_store()
    assert ask(way, ANN) == []
    store.set_source_access({f"{n}.md": [] for n in range(12)})
    store.set_source_access({"hr.md": [AccessGrant(group="hr")]})
    assert ask(way, ANN) == ["hr.md"] * 8
    assert ask(way, None, make_store(authorization=ANN)) == ["hr.md"] * 8
    assert ask(way, EVE) == ask(way, None) == []
    store.set_source_access({"hr.md": [AccessGrant(principal="eve")]})
    assert ask(way, ANN) == []
    assert ask(way, EVE) == ["hr.md"] * 8


@pytest.mark.parametrize("way", WAYS)
def test_versions_filters_and_tenants_grant_nothing(way: str) -> None:
    """B214, B215, B216."""
    write(SECRET, key="a.md", metadata={"owner": "eve"})
    make_store().set_source_access({"a.md": [AccessGrant("ann", access_version=2)]})
    assert ask(way, Authorization("ann", access_version=2)) == ["a.md"]
    assert ask(way, Authorization("ann", access_version=3)) == []
    found = getattr(make_store(), way)(
        SECRET, authorization=EVE, filter={"owner": "eve"}
    )
    assert not found
    with pytest.raises(ScopeDenied):
        ask(way, Authorization("ann", tenant="globex"))


def test_what_is_closed_after_the_ranking_is_withheld_and_told_of(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """B220, B222: at the very end; once for the document, and its id nowhere else."""
    write(SECRET, f"{SECRET} Still.", key="a.md")
    write(f"{SECRET} Open.", key="b.md")
    store = make_store()
    both = {key: [AccessGrant("ann")] for key in ("a.md", "b.md")}
    store.set_source_access(both)
    told: list[Denial] = []

    def hear(denial: Denial, **_: object) -> None:
        told.append(denial)

    signals.access_denied.connect(hear)
    find = Recalling.found

    def late(self: Recalling, asked: Any) -> Recalled:
        found = find(self, asked)
        store.set_source_access({"a.md": []})
        return found

    monkeypatch.setattr(Recalling, "found", late)
    assert ask("retrieve", ANN) == ["b.md"]
    assert [(one.principal, one.reason) for one in told] == [("ann", "no_grant")]


def test_grants_go_with_their_transaction() -> None:
    """B223."""
    write(SECRET, key="a.md")
    store = make_store()
    with store.transaction():
        store.set_source_access({"a.md": [AccessGrant("ann")]})
        transaction.set_rollback(True)
    assert store.source_access("a.md") is None
    assert ask("retrieve", ANN) == []
