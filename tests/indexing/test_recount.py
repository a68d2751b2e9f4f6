"""The counts of vectors that the planner of recall reads are those that there are."""

from __future__ import annotations

from typing import Any

import pytest

from prism_memory import indexing
from prism_memory.models import Embedding
from prism_memory.models import Scope as ScopeRow
from tests.factories import make_memory, make_scope, remember
from tests.indexes import WATCHED, chosen
from tests.indexing import two_spaces
from tests.indexing.conftest import counted, drain, space

pytestmark = pytest.mark.django_db

TEXT = "# Title\n\nTea is warm.\n\n# Two\n\nCoffee is strong.\n"
SHORTER = "# Title\n\nTea is warm.\n"


def there() -> int:
    return Embedding.objects.exclude(vector=None).count()


def check(verb: str) -> None:
    drain()
    assert sum(counted().values()) == there(), verb


def recount(place: Any) -> int:
    return indexing.recount(using="default", tenant="acme", space=place)


def test_what_leaves_a_document_leaves_the_count() -> None:
    """Each verb beneath the one before, on one document."""
    sources = make_memory(make_scope(agent="", thread="")).sources
    sources.ingest("doc", uri="file:doc", text=TEXT, wait=True)
    check("ingest")
    sources.ingest("doc", uri="file:doc", text=SHORTER, wait=True)
    check("less")
    sources.ingest("doc", uri="file:doc", text=TEXT, wait=True)
    check("back")
    sources.retire("doc")
    check("retire")
    assert there() == 0
    sources.restore("doc")
    check("restore")
    assert there() > 0
    sources.replace("doc", text="# A\n\nOther words.\n", uri="file:doc")
    check("replace")
    sources.delete("doc")
    check("delete")


def test_what_is_forgotten_leaves_the_count_and_the_external_index_is_enough() -> None:
    with chosen(WATCHED):
        one, other, *_ = remember(*[f"Tea {n}" for n in range(6)], wait=True)
        memory = make_memory()
        memory.forget([one])
        memory.correct(other, "Another tea")
        check("forget")
        assert memory.recall("Tea", 32, legs="vector").strategy == "external"


def test_a_recount_is_of_the_space_that_answers(settings: Any) -> None:
    two_spaces.configure(settings)
    remember("Tea", wait=True)
    ScopeRow.objects.update(vectors=7)

    assert recount(two_spaces.building()) == 0
    assert (recount(space()), list(counted().values())) == (1, [1])
    assert recount(space()) == 0
