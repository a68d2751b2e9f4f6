"""Long records: what a question is about decides, not how much a record says."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from prism_memory import Entry
from tests.factories import make_memory

pytestmark = pytest.mark.django_db

RECORDS = 24
WORDS = 2_000
SUBJECTS = [
    [f"subject{record}word{word}" for word in "abc"] for record in range(RECORDS)
]


def long_texts() -> Iterator[str]:
    """Yield texts of one subject each, which mention every other subject once."""
    drawn = random.Random(7)  # noqa: S311 - the same at each run
    for own in SUBJECTS:
        words = [f"filler{int(drawn.paretovariate(1)) % 900}" for _ in range(WORDS)]
        words += [word for subject in SUBJECTS for word in subject]
        words += own * 5
        drawn.shuffle(words)
        yield " ".join(words)[:16_000]


def test_a_long_record_is_found_by_what_it_is_about() -> None:
    """Each word of the question stands in every record; only one is about it."""
    memory = make_memory()
    entries = [Entry(text, key=str(place)) for place, text in enumerate(long_texts())]
    memory.remember(entries, wait=True)

    first = [memory.recall(" ".join(own), 1, legs="text")[0].key for own in SUBJECTS]

    assert first == [str(place) for place in range(RECORDS)]


@pytest.mark.parametrize("legs", ["text", "hybrid"])
def test_a_long_record_does_not_crowd_out_the_short_answer(legs: str) -> None:
    """Each long record holds every word of the question; that is no merit."""
    memory = make_memory()
    memory.remember([Entry(text, key=str(n)) for n, text in enumerate(long_texts())])
    memory.remember(Entry(" ".join(SUBJECTS[0]), key="short"), wait=True)

    found = memory.recall(" ".join(SUBJECTS[0][:2]), 2, legs=legs)

    assert {hit.key for hit in found} == {"short", "0"}
