"""Documents over time, against a naive model of what should be there."""

from __future__ import annotations

from collections import Counter

import pytest
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from prism_memory.ingest.chunking import MarkdownChunker
from prism_memory.models import Embedding, Record
from tests.factories import make_scope
from tests.ingest.documents import chunks, ingest, librarian

pytestmark = pytest.mark.django_db

THEN = st.sampled_from(["", "", "forget", "retire"])
SECTIONS = st.lists(st.sampled_from("abcd"), min_size=1, max_size=6)


def text_of(sections: list[str]) -> str:
    return "\n\n".join(f"# {name}\n\nWords of {name}." for name in sections)


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(SECTIONS, st.sampled_from(["", "", "forget", "retire"])), max_size=5
    )
)
def test_a_document_is_always_what_was_last_ingested(
    steps: list[tuple[list[str], str]],
) -> None:
    """B276, B277, B292, B488: of the chunks in force, and of those that are not."""
    known: dict[tuple[str, int], object] = {}
    forgotten: set[str] = set()
    with transaction.atomic():
        for sections, then in steps:
            text = text_of(sections)
            done = ingest(text)
            wanted = list[tuple[str, int]]()
            seen: Counter[str] = Counter()
            for chunk in MarkdownChunker().chunks(text):
                wanted.append((chunk.text, seen[chunk.text]))
                seen[chunk.text] += 1
            shown = [name for name in wanted if name[0] not in forgotten]
            rows = chunks()
            assert [row.text for row in rows] == [text for text, _ in shown]
            assert done.withheld == len(wanted) - len(shown)
            for row, name in zip(rows, shown, strict=True):
                assert known.setdefault(name, row.id) == row.id
                assert text[row.offset_start : row.offset_end] == row.text
            assert ingest(text).unchanged
            queued = set(Embedding.objects.values_list("record_id", flat=True))
            assert queued == {row.id for row in rows}
            if then == "forget" and rows:
                librarian().forget(rows[0].id)
                forgotten.add(rows[0].text)
            elif then == "retire":
                librarian().sources.retire("guide")
                assert not Embedding.objects.exists()
                assert not chunks()
                librarian().sources.restore("guide")
                assert chunks() == rows
        assert (
            Record.objects.filter(
                scope_id=make_scope().id,
                retired_at__isnull=False,
                ordinal__isnull=False,
            ).count()
            == 0
        )
        transaction.set_rollback(True)
