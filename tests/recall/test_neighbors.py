"""What is near a text, by cosine alone: B384."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import pytest
from django.conf import settings
from django.test import override_settings

from prism_memory import backends
from prism_memory.errors import EmbedderMismatch, NotVisible
from prism_memory.models import EmbeddingSpace, Record
from prism_memory.recall import VectorLeg
from prism_memory.recall.neighbors import neighbors
from prism_memory.types import Neighbor, Scope, Vector
from tests.capture import tenant_in_every_statement
from tests.factories import (
    NOON,
    make_memory,
    make_record,
    make_scope,
    make_tombstone,
    remember,
    remember_one,
)
from tests.recall.asked import make_reader
from tests.recall.bulk import DIMENSIONS, fill, seed, space

pytestmark = pytest.mark.django_db

TEA = "Ada drinks tea in the morning"
TEXTS = [TEA, "Ada drinks tea", "Ada drinks coffee", "The train leaves at noon"]


def vector_of(text: str, role: Any = "query") -> Vector:
    return backends.embed(backends.get_embedder(), [text], role=role)[0]


def leg_of(text: str, *, indexed: bool = False) -> VectorLeg:
    return VectorLeg(space().id, DIMENSIONS, indexed, vector_of(text))


def near(
    text: str, top_k: int = 10, *, scope: Scope | None = None, **asked: Any
) -> tuple[Neighbor, ...]:
    reader = make_reader(scope, **asked)
    return neighbors(using="default", reader=reader, leg=leg_of(text), top_k=top_k)


def test_the_nearest_come_first_with_their_raw_cosine() -> None:
    """B384: as NumPy has it, and no score of the words or of what stands around."""
    ids = remember(*TEXTS, wait=True)
    asked = np.array(vector_of(TEA))
    cosines = {
        record_id: float(np.dot(asked, np.array(vector_of(text, "passage"))))
        for record_id, text in zip(ids, TEXTS, strict=True)
    }
    found = near(TEA)
    assert [n.id for n in found] == sorted(ids, key=lambda i: -cosines[i])
    for neighbor in found:
        assert neighbor.cosine == pytest.approx(cosines[neighbor.id], abs=0.002)


@pytest.mark.parametrize("top_k", [1, 2, 3])
def test_no_more_come_than_were_asked_for(top_k: int) -> None:
    remember(*TEXTS, wait=True)
    found = near(TEA, top_k)
    assert found == near(TEA)[:top_k]
    assert len(found) == top_k


def test_what_the_gate_holds_back_is_a_neighbour() -> None:
    """B384: and stays one whatever the reader's own wish is."""
    held = make_record(TEA, wait=True, gate="quarantined")
    other = remember_one("The train leaves at noon", wait=True)
    assert [n.id for n in near(TEA)] == [held.id, other]
    assert [n.id for n in near(TEA, include_quarantined=True)] == [held.id, other]


def test_a_neighbour_that_the_gate_holds_back_can_still_not_be_read() -> None:
    """B384: its id says that there is something alike, and no more."""
    held = make_record(TEA, wait=True, gate="quarantined")
    memory = make_memory()

    assert [n.id for n in memory.neighbors(TEA)] == [held.id]
    with pytest.raises(NotVisible):
        memory.get(held.id)


@pytest.mark.parametrize(
    "columns",
    [
        {"revoked_at": NOON, "visible": False},
        {"retired_at": NOON},
        {"expires_at": NOON - dt.timedelta(days=1)},
        {"gate": "quarantined", "visible": False},
    ],
    ids=lambda columns: "-".join(columns),
)
def test_whatever_else_hides_a_record_hides_it_here(columns: dict[str, Any]) -> None:
    """B134: the nearest is hidden, and the next takes its place."""
    make_record(TEA, wait=True, **columns)
    other = remember_one("The train leaves at noon", wait=True)
    assert [n.id for n in near(TEA, 1)] == [other]


def test_a_forgotten_record_is_no_neighbour() -> None:
    make_tombstone(make_record(TEA, wait=True))
    assert near(TEA) == ()


@pytest.mark.parametrize(
    "elsewhere",
    [{"tenant": "globex"}, {"owner": "bob"}, {"agent": "sales"}, {"thread": "chat-2"}],
    ids=lambda levels: next(iter(levels)),
)
def test_a_strangers_record_is_no_neighbour(elsewhere: dict[str, str]) -> None:
    """B24: nor is one that a stranger's gate holds back."""
    stranger = make_scope(**elsewhere)
    make_record(TEA, scope=stranger, wait=True)
    make_record(f"{TEA}!", scope=stranger, wait=True, gate="quarantined")
    assert near(TEA) == ()
    assert len(near(TEA, scope=stranger)) == 2


def test_what_narrows_the_reader_narrows_the_neighbours() -> None:
    remember(*TEXTS, wait=True)
    (noted,) = remember("Ada drinks tea", namespace="n", wait=True)
    assert [n.id for n in near(TEA, namespaces=["n"])] == [noted]
    assert near(TEA, namespaces=[]) == ()


def test_nothing_is_near_without_a_vector_or_a_space(
    django_assert_num_queries: Any,
) -> None:
    """B384: no embedder, no space; and nothing is asked."""
    remember(*TEXTS, wait=True)
    blind = [
        VectorLeg(),
        VectorLeg(space().id, DIMENSIONS),
        VectorLeg(0, DIMENSIONS, indexed=False, vector=vector_of(TEA)),
    ]
    with django_assert_num_queries(0):
        for leg in blind:
            found = neighbors(using="default", reader=make_reader(), leg=leg, top_k=5)
            assert found == ()
        assert near_of_none() == ()


def near_of_none() -> tuple[Neighbor, ...]:
    leg = VectorLeg(1, DIMENSIONS, indexed=False, vector=vector_of(TEA))
    return neighbors(using="default", reader=make_reader(), leg=leg, top_k=0)


def test_what_has_no_vector_yet_is_no_neighbour() -> None:
    known = remember_one("The train leaves at noon", wait=True)
    remember_one(TEA)
    assert [n.id for n in near(TEA)] == [known]


def test_a_space_that_was_left_is_no_place_to_look() -> None:
    remember(*TEXTS, wait=True)
    leg = leg_of(TEA)
    EmbeddingSpace.objects.filter(id=leg.space_id).update(state="retired")
    with pytest.raises(EmbedderMismatch):
        neighbors(using="default", reader=make_reader(), leg=leg, top_k=5)


def test_one_statement_that_names_the_tenant() -> None:
    """B22, B128."""
    remember(*TEXTS, wait=True)
    leg = leg_of(TEA)
    with tenant_in_every_statement("acme") as seen:
        neighbors(using="default", reader=make_reader(), leg=leg, top_k=5)
    assert len(seen.statements) == 1
    assert len(seen.on_tenants()) == 1


def test_the_statement_for_the_index_gives_what_the_exact_scan_gives() -> None:
    """B384: with what the gate holds back. There is no index to walk, so it sorts."""
    scope = make_scope()
    seed(scope)
    fill(scope, 500)
    Record.objects.filter(tenant="acme", writer="bulk", key__regex="[13579]$").update(
        gate="quarantined"
    )
    exact = near(TEA, 20)
    with override_settings(
        PRISM_MEMORY={**settings.PRISM_MEMORY, "EXACT_SCAN_ROWS": 0}
    ):
        by_index = neighbors(
            using="default",
            reader=make_reader(),
            leg=leg_of(TEA, indexed=True),
            top_k=20,
        )
    held = set(
        Record.objects.filter(tenant="acme", gate="quarantined").values_list(
            "id", flat=True
        )
    )
    assert by_index == exact
    assert held & {n.id for n in exact}
