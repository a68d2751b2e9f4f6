"""A queue, and drains over it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from prism_memory import backends, indexing
from prism_memory.models import Embedding
from prism_memory.models import Scope as ScopeRow

FAULTY = "tests.embedders.FaultyEmbedder"


@pytest.fixture
def faulty(settings):
    """Use the embedder that fails for texts that name a fault."""
    settings.PRISM_MEMORY = {
        **settings.PRISM_MEMORY,
        "EMBEDDERS": {"default": {"BACKEND": FAULTY}},
    }
    return backends.get_embedder()


def space() -> indexing.Space:
    embedder = backends.get_embedder()
    return indexing.active(using="default", alias="default", identity=embedder.identity)


def drain(tenant: str = "acme", **given: Any) -> indexing.Drained:
    """Drain as the task does, unless said otherwise."""
    embed = partial(backends.embed, backends.get_embedder(), role="passage")
    usual = {"using": "default", "space": space(), "embed": embed, "batch": 8}
    return indexing.drain(tenant=tenant, **{**usual, **given})


def row_of(record_id: Any, tenant: str = "acme") -> Embedding:
    return Embedding.objects.get(tenant=tenant, record_id=record_id)


def make_due(tenant: str = "acme") -> None:
    """End every pause of the queue."""
    waiting = Embedding.objects.filter(tenant=tenant, vector=None)
    waiting.update(next_try_at="2026-01-01T00:00:00Z")


def counted(tenant: str = "acme") -> dict[Any, int]:
    """What the planner reads."""
    return dict(ScopeRow.objects.filter(tenant=tenant).values_list("id", "vectors"))


def pending(tenant: str = "acme") -> indexing.Pending:
    return indexing.pending_of_tenant(using="default", space=space(), tenant=tenant)


def embedding_while(change: Callable[[], None]) -> Callable[[Any], Any]:
    """Return an embed that first lets something else happen, once."""
    left = [change]

    def embed(texts: Any) -> Any:
        if left:
            left.pop()()
        return backends.embed(backends.get_embedder(), texts, role="passage")

    return embed
