"""What of a filter the index on the metadata answers. No database."""

from __future__ import annotations

import json
from typing import Any

import pytest

from prism_memory.access import Reader
from prism_memory.db.containment import must_contain
from prism_memory.db.filters import compile_filter
from tests.factories import make_scope

WHOLE: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"a": 1}, {"a": 1}),
    ({"a": {"eq": True}, "b": None}, {"a": True, "b": None}),
    ({"a": {"in": ["x"]}}, {"a": "x"}),
    ({"a": {"contains": ["x"]}}, {"a": ["x"]}),
    ({"a": {"contains": {"b": {"c": 1}}}}, {"a": {"b": {"c": 1}}}),
    ({"a": [1, []]}, {"a": [1, []]}),
    ({"and": [{"a": 1}, {"and": [{"b": 2}]}]}, {"a": 1, "b": 2}),
    ({"a.b": 1, "x') OR 1=1 --": 'say "so"'}, {"a.b": 1, "x') OR 1=1 --": 'say "so"'}),
    ({"a": {"gt": 1}, "b": 2}, {"b": 2}),
    ({"a": {"eq": 5, "lt": 9}}, {"a": 5}),
    ({"a": 1, "or": [{"b": 2}], "not": {"c": 3}}, {"a": 1}),
    ({"and": [{"a": 1}, {"a": 2}]}, {"a": 1}),
]

NOTHING: list[dict[str, Any]] = [
    {},
    {"a": {"ne": 1}},
    {"a": {"gt": 1, "lte": 5}},
    {"a": {"exists": True}},
    {"a": {"in": []}},
    {"a": {"in": [1, 2]}},
    {"a": {"contains": "x"}},
    {"a": {"contains": []}},
    {"a": {"eq": {}}},
    {"a": {"eq": [[], {"b": {}}]}},
    {"or": [{"a": 1}]},
    {"not": {"a": 1}},
    {"and": []},
]


@pytest.mark.parametrize(("given", "contained"), WHOLE, ids=str)
def test_what_every_match_must_contain(
    given: dict[str, Any], contained: dict[str, Any]
) -> None:
    assert must_contain(given) == contained
    reader = Reader(make_scope(), where=compile_filter(given, terms=9))
    narrowing = reader.narrowing()
    assert narrowing is not None
    text, parameters = narrowing
    assert text.as_string(None) == "record.metadata @> %(filter_contained)s::jsonb"
    assert json.loads(parameters["filter_contained"]) == contained
    assert parameters.items() <= reader.parameters().items()


@pytest.mark.parametrize("given", NOTHING, ids=str)
def test_what_demands_no_value_has_no_use_for_the_index(given: dict[str, Any]) -> None:
    """Nor has what is empty: the index would be read from end to end."""
    assert must_contain(given) is None
    reader = Reader(make_scope(), where=compile_filter(given, terms=9))
    assert reader.narrowing() is None


def test_without_a_filter_there_is_no_narrowing() -> None:
    assert Reader(make_scope()).narrowing() is None


def test_a_value_as_deep_as_metadata_may_be_is_no_error() -> None:
    """Below its key it would be deeper than is let in: it just matches nothing."""
    deepest: Any = 1
    for _ in range(32):
        deepest = [deepest]
    assert compile_filter({"a": {"contains": deepest}}, terms=9).contained
