"""What COPY writes is what the app would have written."""

from __future__ import annotations

from functools import partial

import pytest
from django.test import override_settings

from benchmarks import loading
from benchmarks.corpus import DIMENSIONS, Corpus
from benchmarks.latency import scope_sizes
from prism_memory import Memory, backends, indexing
from prism_memory.models import Embedding, Record
from prism_memory.models import Scope as ScopeRow
from prism_memory.types import Scope

EMBEDDERS = {"default": {"BACKEND": "benchmarks.embedders.SyntheticEmbedder"}}
OWN = {"id", "tenant", "scope", "search", "sequence", "created_at", "granted_at"}
"""Columns that differ between two records of the same words."""


@pytest.mark.django_db(transaction=True)
@override_settings(PRISM_MEMORY={"EMBEDDERS": EMBEDDERS})
def test_loaded_rows_are_those_that_the_app_writes(child_environment, monkeypatch):
    monkeypatch.setenv("DATABASE_URL", child_environment["DATABASE_URL"])
    copied, written = Scope("acme", owner="copied"), Scope("acme", owner="written")
    texts = loading.load(Corpus(), [copied] * 5).texts
    Memory(written, origin=loading.ORIGIN).remember(texts)
    embed = partial(backends.embed, backends.get_embedder(), role="passage")
    space = loading.space()
    indexing.drain(using="default", tenant="acme", space=space, embed=embed, batch=8)
    assert _rows(copied) == _rows(written)
    assert _queue(copied) == _queue(written)
    counts = ScopeRow.objects.filter(tenant="acme").values_list("vectors", flat=True)
    assert list(counts) == [5, 5]


def _rows(scope: Scope) -> list[dict[str, object]]:
    names = [f.name for f in Record._meta.concrete_fields if f.name not in OWN]
    found = Record.objects.filter(tenant=scope.tenant, scope_id=scope.id)
    return [
        {name: _plain(value) for name, value in row.items()}
        for row in found.order_by("key").values(*names)
    ]


def _queue(scope: Scope) -> list[tuple[object, ...]]:
    names = ("space_id", "sha256", "attempts", "claimed_until", "failed_at", "error")
    found = Embedding.objects.filter(tenant=scope.tenant, scope_id=scope.id)
    rows = [
        (*map(_plain, row[:-1]), len(row[-1]))
        for row in found.values_list(*names, "vector")
    ]
    assert all(row[-1] == DIMENSIONS for row in rows)
    return sorted(rows, key=repr)


def _plain(value: object) -> object:
    return bytes(value) if isinstance(value, memoryview) else value


@pytest.mark.parametrize(
    ("rows", "wanted"),
    [(20_000, {500, 5_000}), (200_000, {500, 5_000, 20_000, 50_000})],
)
def test_scope_sizes_add_up_and_hold_those_that_are_reported(rows, wanted):
    sizes = scope_sizes(rows, 40)
    assert (len(sizes), sum(sizes)) == (40, rows)
    assert wanted <= set(sizes)
    assert min(sizes) == 50


def test_too_few_rows_for_so_many_scopes_are_refused():
    with pytest.raises(ValueError, match="scopes need at least"):
        scope_sizes(1_000, 40)
