"""The pages say what the code does."""

from __future__ import annotations

import ast
import inspect
import re

import pytest

from example_project.embedded import CHECKOUT
from prism_memory import errors
from prism_memory.db.filters import compile_filter
from prism_memory.memory import Memory
from prism_memory.types import Origin, Scope, Trust

PYTHON = (CHECKOUT / "docs" / "python.md").read_text()
FILTERS = re.findall(r"^\| `(\{.*?\})` \|", PYTHON, re.MULTILINE)


def test_the_table_of_errors_is_the_module() -> None:
    rows = re.findall(r"^\| `(\w+)` \| `(\w+)` \| (.*) \|$", PYTHON, re.MULTILINE)

    assert rows == [
        (name, item.code, item.__doc__)
        for name, item in vars(errors).items()
        if inspect.isclass(item)
        and issubclass(item, errors.PrismMemoryError)
        and item is not errors.PrismMemoryError
    ]


@pytest.mark.parametrize("given", FILTERS)
def test_every_filter_shown_is_one(given: str) -> None:
    compile_filter(ast.literal_eval(given), terms=32)


def test_every_argument_of_memory_is_told_of() -> None:
    table = PYTHON.partition("| argument |")[2].partition("\n\n")[0]
    told = re.findall(r"`(\w+)`", "\n".join(re.findall(r"^\| (.*?) \|", table, re.M)))

    assert set(told) >= set(inspect.signature(Memory).parameters)


@pytest.mark.django_db
def test_the_filters_match_what_the_page_says() -> None:
    memory = Memory(Scope("acme", owner="ada"), origin=Origin(Trust.USER, "ada"))
    metadata = {
        "food": {"topic": "food", "n": 2},
        "home": {"topic": "home", "n": 9, "tags": ["a", "b"]},
        "text": {"n": "2"},
        "number": {"topic": 5, "n": 1},
    }
    memory.remember([{"text": k, "metadata": v} for k, v in metadata.items()])

    found = [
        {item.text for item in memory.list(filter=ast.literal_eval(given))}
        for given in FILTERS
    ]

    assert found == [
        {"food"},
        {"food", "number"},
        {"food", "home"},
        {"home"},
        {"text"},
        {"home"},
        {"home", "text", "number"},
        {"food", "number"},
    ]
