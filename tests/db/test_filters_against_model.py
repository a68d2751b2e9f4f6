"""Metadata filters against a plain evaluator of the same words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from psycopg import sql

from prism_memory.db import queries
from prism_memory.db.filters import compile_filter
from prism_memory.types import to_json
from tests.tries import examples

KEYS: Final = ["a", "b.c", "it's", "%s"]
# Strings are ordered as the database's collation has it; of one letter case and no
# marks, all collations agree.
texts = st.text("abz", max_size=2)
numbers = st.integers(-12, 12) | st.sampled_from([0.5, -1.5, 10.0, 1e16, 2**53 + 1])
scalars = st.none() | st.booleans() | numbers | texts
values = scalars | st.lists(scalars, max_size=3) | st.dictionaries(texts, scalars)
metadatas = st.dictionaries(st.sampled_from(KEYS), values)

comparisons = (
    st.fixed_dictionaries({}, optional={"eq": values, "ne": values})
    | st.dictionaries(
        st.sampled_from(["gt", "gte", "lt", "lte"]), numbers | texts, min_size=1
    )
    | st.builds(lambda v: {"in": v}, st.lists(values, max_size=3))
    | st.builds(lambda v: {"contains": v}, values)
    | st.builds(lambda v: {"exists": v}, st.booleans())
).filter(bool)
plain = values.filter(lambda value: not isinstance(value, dict))
leaves = st.dictionaries(st.sampled_from(KEYS), comparisons | plain, max_size=2)
filters = st.recursive(
    leaves,
    lambda inner: (
        st.builds(lambda v: {"and": v}, st.lists(inner, max_size=3))
        | st.builds(lambda v: {"or": v}, st.lists(inner, max_size=3))
        | st.builds(lambda v: {"not": v}, inner)
    ),
    max_leaves=6,
)


def kind(value: Any) -> str:
    for types, name in (
        (bool, "boolean"),
        ((int, float), "number"),
        (str, "string"),
        (list, "array"),
        (dict, "object"),
    ):
        if isinstance(value, types):
            return name
    return "null"


def exact(value: Any) -> Any:
    """Return a value whose ``==`` is JSON's: numbers exact, and no bool a number."""
    if kind(value) == "number":
        return ("number", Decimal(repr(value)))
    if isinstance(value, list):
        return ("array", [exact(item) for item in value])
    if isinstance(value, dict):
        return ("object", {key: exact(item) for key, item in value.items()})
    return (kind(value), value)


def contains(whole: Any, part: Any) -> bool:
    """As PostgreSQL documents ``@>``; a list also contains a bare scalar at the top."""
    if isinstance(whole, list) and kind(part) not in {"array", "object"}:
        return exact(part) in map(exact, whole)
    return includes(whole, part)


def includes(whole: Any, part: Any) -> bool:
    if isinstance(whole, dict) and isinstance(part, dict):
        return all(k in whole and includes(whole[k], v) for k, v in part.items())
    if isinstance(whole, list) and isinstance(part, list):
        return all(any(includes(item, wanted) for item in whole) for wanted in part)
    return bool(exact(whole) == exact(part))


def same_kind(test: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    return lambda mine, given: (
        kind(mine) == kind(given) and test(exact(mine)[1], exact(given)[1])
    )


TESTS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "eq": same_kind(lambda mine, given: mine == given),
    "ne": same_kind(lambda mine, given: mine != given),
    "gt": same_kind(lambda mine, given: mine > given),
    "gte": same_kind(lambda mine, given: mine >= given),
    "lt": same_kind(lambda mine, given: mine < given),
    "lte": same_kind(lambda mine, given: mine <= given),
    "in": lambda mine, given: exact(mine) in map(exact, given),
    "contains": contains,
}


def matches(metadata: Mapping[str, Any], given: Mapping[str, Any]) -> bool:
    return all(one(metadata, key, value) for key, value in given.items())


def one(metadata: Mapping[str, Any], key: str, value: Any) -> bool:
    if key == "and":
        return all(matches(metadata, item) for item in value)
    if key == "or":
        return any(matches(metadata, item) for item in value)
    if key == "not":
        return not matches(metadata, value)
    conditions = value if isinstance(value, dict) else {"eq": value}
    return all(
        (key in metadata) == operand
        if op == "exists"
        else key in metadata and TESTS[op](metadata[key], operand)
        for op, operand in conditions.items()
    )


@pytest.mark.django_db
@settings(
    max_examples=examples(150),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.lists(metadatas, min_size=1, max_size=12), filters)
@example([{"a": 10}, {"a": 9}, {}], {"a": {"gt": 9}})
@example([{"a": None}, {}], {"not": {"a": {"ne": None}}})
@example([{"a": []}, {"a": {}}, {"a": ""}], {"a": {"contains": []}})
@example([{"a": 1}, {"a": 1.0}, {"a": True}, {"a": "1"}], {"a": {"in": [1.0]}})
@example([{"a": ["x"]}, {"a": "x"}, {"a": [["x"]]}], {"a": {"contains": ["x"]}})
@example([{"a": 1, "%s": 2}, {"a": 1}], {"and": [{"a": 1}, {"%s": {"eq": 2}}]})
def test_the_database_and_a_plain_evaluator_agree(
    rows: list[dict[str, Any]], wanted: dict[str, Any]
) -> None:
    """case_C08."""
    compiled = compile_filter(wanted, terms=128)
    statement = sql.SQL(
        "SELECT record.place FROM unnest(%(rows)s::jsonb[]) WITH ORDINALITY"
        " AS record(metadata, place) WHERE {}"
    ).format(compiled.text)
    found = queries.fetch(
        "default",
        statement.as_string(None),
        {"rows": [to_json(row, "row") for row in rows], **compiled.parameters},
    )
    assert {row["place"] - 1 for row in found} == {
        place for place, row in enumerate(rows) if matches(row, wanted)
    }
