"""Cutting a stream into batches."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from prism_memory.ingest.batches import batches, by_scope
from prism_memory.ingest.entries import Incoming
from prism_memory.types import Entry, Scope

ITEMS = st.lists(
    st.builds(
        lambda owner, key, text: Incoming(Scope("acme", owner), Entry(text, key), "x"),
        st.sampled_from("ab"),
        st.none() | st.sampled_from("kl"),
        st.sampled_from(["one", "two"]),
    )
)


@given(ITEMS, st.integers(1, 4))
def test_batches_keep_the_order_and_never_hold_a_record_twice(items, rows):
    cut = list(batches(items, rows))
    assert [item for batch in cut for item in batch] == items
    for batch in cut:
        assert 1 <= len(batch) <= rows
        assert len({item.identity for item in batch}) == len(batch)


@given(ITEMS)
def test_a_batch_is_cut_only_where_it_must_be(items):
    cut = list(batches(items, 3))
    for batch, following in pairwise(cut):
        seen = {item.identity for item in batch}
        assert len(batch) == 3 or following[0].identity in seen


@given(ITEMS)
def test_a_batch_is_grouped_by_scope_in_one_order(items):
    groups = by_scope(items)
    assert list(groups) == sorted(groups, key=lambda scope: scope.id)
    for scope, entries in groups.items():
        assert entries == [item.entry for item in items if item.scope == scope]


def test_parsing_needs_no_django():
    words = "import sys, prism_memory.ingest; sys.exit('django' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", words], check=False).returncode == 0
