"""Vectors of another embedder: the store fails closed, and mixes nothing."""

from __future__ import annotations

from typing import Any

import pytest

from prism_memory.errors import EmbedderMismatch
from prism_memory.models import Embedding
from tests.rag.documents import make_store, write

pytestmark = pytest.mark.django_db

HASHING = "prism_memory.backends.hashing.HashEmbedder"


@pytest.fixture(autouse=True)
def _two(settings: Any) -> None:
    """Two embedders, of two widths."""
    embedders = {
        alias: {"BACKEND": HASHING, "OPTIONS": {"dimensions": wide, "for_tests": True}}
        for alias, wide in (("default", 64), ("wide", 96))
    }
    settings.PRISM_MEMORY = settings.PRISM_MEMORY | {"EMBEDDERS": embedders}


@pytest.mark.parametrize("used", [False, True])
def test_passages_of_another_embedder_are_refused(used: bool) -> None:
    """B225, B480, case_C23: by every way that compares vectors."""
    if used:
        write("tea of May", key="x.md", scope=make_store().scope)
        make_store(embedder="wide").memory.remember("tea", wait=True)
    write("Green tea is in the tin.")
    for ask in (
        make_store(embedder="wide").retrieve,
        make_store(embedder="wide").query,
    ):
        with pytest.raises(EmbedderMismatch):
            ask("green tea")
    assert make_store(embedder="wide").lexical_query("green tea")
    assert make_store().retrieve("green tea")


def test_a_passage_without_identity_is_refused_and_one_that_waits_is_not() -> None:
    """B225, B281: what is queued is of this embedder already."""
    first, second = write("Green tea is in the tin.", "Tea is free.")
    Embedding.objects.filter(tenant="acme", record_id=first).update(vector=None)
    found = make_store().retrieve("green tea")
    assert {one.id for one in found} == {first, second}
    assert found.degraded
    Embedding.objects.filter(tenant="acme", record_id=first).delete()
    for ask in (make_store().retrieve, make_store().query):
        with pytest.raises(EmbedderMismatch):
            ask("green tea")
        with pytest.raises(EmbedderMismatch):
            ask("green tea", 2)


def test_the_width_is_pinned() -> None:
    """B224: nothing is read or written by a store of another width."""
    write("Green tea is in the tin.")
    assert make_store(dimensions=64).retrieve("green tea")
    wrong = make_store(dimensions=96)
    for call in (
        lambda: wrong.retrieve("green tea"),
        lambda: wrong.query(vector=[1.0] * 96),
        lambda: wrong.upsert("a.md", "Tea."),
        lambda: wrong.replace_source("a.md", "Tea."),
        lambda: make_store().query(vector=[1.0] * 96),
    ):
        with pytest.raises(EmbedderMismatch):
            call()
