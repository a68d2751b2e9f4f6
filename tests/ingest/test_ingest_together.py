"""Ingests beside each other, and beside who forgets."""

from __future__ import annotations

from functools import partial

import pytest
from django.db import connection

from prism_memory.models import Record, Source
from tests.ingest.documents import GUIDE, chunks, ids, ingest, librarian
from tests.together import together

REFUNDS = "Refunds take thirty days."


@pytest.mark.django_db(transaction=True)
def test_together_they_do_what_they_do_one_after_another() -> None:
    """case_C16, case_C12: one document, each chunk once, and what is forgotten gone."""
    others = [GUIDE.replace("Monday", day) for day in ("Tuesday", "Friday")]
    done = together([partial(ingest, text) for text in (GUIDE, *others, GUIDE)])
    assert len({one.source_id for one in done}) == 1
    assert Source.objects.filter(tenant="acme").count() == 1
    assert [row.ordinal for row in chunks()] == [0, 1, 2]
    stored = ids()[REFUNDS]
    together(
        [
            partial(librarian().forget, stored),
            *(partial(ingest, "New.\n\n" + text) for text in others),
            partial(librarian().recall, "refunds"),
        ]
    )
    assert not Record.objects.filter(tenant="acme", id=stored).exists()
    assert ingest().withheld == 1
    assert REFUNDS not in ids()
    connection.close()
