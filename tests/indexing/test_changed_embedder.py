"""B485, B487: the settings name another embedder than that of the stored vectors."""

from __future__ import annotations

from typing import Any

import pytest

from prism_memory.errors import EmbedderMismatch
from prism_memory.models import Embedding
from tests.factories import make_memory, remember_one
from tests.indexing.entries import ENTRIES
from tests.indexing.two_spaces import configure

pytestmark = pytest.mark.django_db

CHANGED = "the stored vectors are another embedder's"


@pytest.fixture
def tea(settings: Any) -> Any:
    """A record whose vector is of the embedder before."""
    record_id = remember_one("Ada drinks tea.", wait=True)
    configure(settings, EMBEDDERS={"default": ENTRIES["next"]})
    return record_id


def test_it_is_refused_unless_said_otherwise(tea: Any) -> None:
    """The lock: nobody swaps a model silently."""
    with pytest.raises(EmbedderMismatch):
        make_memory().recall("tea")
    with pytest.raises(EmbedderMismatch):
        make_memory().remember("Bob drinks coffee.")


@pytest.mark.parametrize("mode", ["text", "rebuild"])
def test_words_alone_answer_and_the_answer_says_so(
    tea: Any, settings: Any, mode: str
) -> None:
    configure(settings, EMBEDDERS=settings.PRISM_MEMORY["EMBEDDERS"])
    settings.PRISM_MEMORY = {**settings.PRISM_MEMORY, "EMBEDDER_CHANGED": mode}
    memory = make_memory()
    found = memory.recall("tea")
    assert [hit.id for hit in found.hits] == [tea]
    assert (found.degraded, found.strategy) == (CHANGED, "none")
    assert found.hits[0].cosine is None
    nothing = memory.recall("tea", legs="vector")
    assert (nothing.hits, nothing.degraded) == ((), CHANGED)
    assert memory.neighbors("tea") == ()
    done = memory.remember("Bob drinks coffee.", wait=True)
    assert (done.pending, done.degraded) == (True, CHANGED)
    assert Embedding.objects.filter(vector=None).count() == 1
    assert memory.recall("coffee").hits[0].id == done.accepted[0]
