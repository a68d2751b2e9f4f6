"""What of an answer fits its bounds: whole hits, the best first."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prism_memory.recall.packing import fitting
from prism_memory.types import Hit, Kind, Tier, Trust
from tests.factories import NOON, make_memory, make_scope, remember


def hit(text: str, metadata: dict[str, Any] | None = None) -> Hit:
    columns = dict.fromkeys(("importance", "happened_at", "valid_from", "valid_to"))
    given: dict[str, Any] = {
        **columns,
        **dict.fromkeys(("key", "namespace", "partition", "source", "writer"), "x"),
        **dict.fromkeys(("ordinal", "sequence", "version"), 1),
        "kind": Kind.CHUNK,
        "tier": Tier.NONE,
        "trust": Trust.DOCUMENT,
    }
    return Hit(
        id=uuid.uuid4(),
        text=text,
        scope=make_scope(),
        metadata=metadata or {},
        created_at=NOON,
        **given,
    )


def naive(hits: list[Hit], max_bytes: int | None, max_tokens: int | None) -> list[Hit]:
    """The longest beginning that is within both."""
    best: list[Hit] = []
    for end in range(len(hits) + 1):
        part = hits[:end]
        octets = sum(len(one.text.encode()) for one in part)
        tokens = sum((len(one.text) + 3) // 4 for one in part)
        if octets <= (max_bytes or octets) and tokens <= (max_tokens or tokens):
            best = part
    return best


@given(
    texts=st.lists(st.text("aé😀", max_size=12), max_size=8),
    max_bytes=st.none() | st.integers(1, 60),
    max_tokens=st.none() | st.integers(1, 12),
)
def test_the_best_that_fit_are_kept(
    texts: list[str], max_bytes: int | None, max_tokens: int | None
) -> None:
    """B229."""
    hits = [*map(hit, texts)]
    kept = fitting(hits, max_bytes=max_bytes, max_tokens=max_tokens)
    assert [*kept] == naive(hits, max_bytes, max_tokens)


def test_metadata_counts_as_bytes_and_what_is_masked_as_it_is_shown() -> None:
    """B229."""
    hits = [hit("abc", {"k": "é"})]
    assert fitting(hits, max_bytes=3 + len('{"k":"é"}'.encode()), max_tokens=1)
    assert not fitting(hits, max_bytes=12, max_tokens=None)
    masked = fitting(hits, max_bytes=20, max_tokens=None, mask=lambda text: text * 2)
    assert not masked


@pytest.mark.django_db
def test_an_answer_says_that_more_was_found() -> None:
    """B229: over the cap is refused, see test_options.py."""
    remember("tea " * 10, "tea of May " * 4, "tea with milk " * 3)
    memory = make_memory()
    whole = memory.recall("tea")
    assert (len(whole), whole.truncated) == (3, False)
    cut = memory.recall("tea", max_tokens=25, explain=True)
    assert (len(cut), cut.truncated, len(cut.explanations)) == (2, True, 2)
    assert memory.recall("tea", max_bytes=10).truncated
    assert not memory.recall("tea", max_bytes=10, max_tokens=1).hits
    assert not memory.recall("nothing there", max_bytes=1, legs="text").truncated
