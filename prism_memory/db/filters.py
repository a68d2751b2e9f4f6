"""Metadata filters: a small language of conditions, compiled to SQL.

    {"status": "open", "n": {"gt": 9}}                        every key must match
    {"or": [{"n": {"lt": 3}}, {"not": {"tag": {"in": ["a"]}}}]}

Keys are top-level keys of the metadata, taken literally: a dot is a dot. A comparison
matches only a value of the same JSON type, so numbers compare as numbers, and a record
without the key matches no comparison, ``ne`` included; ``{"not": {…}}`` is the plain
complement and ``exists`` asks for presence. Keys and values are always parameters.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from psycopg import sql

from prism_memory.db.containment import must_contain
from prism_memory.errors import Invalid, LimitExceeded
from prism_memory.types import check_text, to_json

COMPARISONS: Final = {
    "eq": sql.SQL("="),
    "ne": sql.SQL("<>"),
    "gt": sql.SQL(">"),
    "gte": sql.SQL(">="),
    "lt": sql.SQL("<"),
    "lte": sql.SQL("<="),
}
ORDERED: Final = frozenset({"gt", "gte", "lt", "lte"})
OPERATORS: Final = (*COMPARISONS, "in", "contains", "exists")
COMBINATIONS: Final = {"and": sql.SQL(" AND "), "or": sql.SQL(" OR ")}
DEPTH: Final = 8
"""Deepest nesting of and, or and not."""
IN_VALUES: Final = 1_000
"""Most values of one ``in``."""
OPERAND_VALUES: Final = 100
"""Most values inside one operand, whatever they are nested in: what contains what is
compared each with each."""


@dataclass
class Compiled:
    """SQL over the row called ``record``, and its parameters.

    Args:
        contained: What the metadata of every row that matches must contain: the part
            of the filter that the index on the metadata answers. None without such.
    """

    text: sql.Composable = field(default_factory=lambda: sql.SQL("TRUE"))
    parameters: dict[str, Any] = field(default_factory=dict)
    contained: dict[str, Any] | None = None
    comparisons: int = 0
    terms: int = 0

    def count(self) -> None:
        """Count one comparison, before it costs anything.

        What is empty counts as one too, so nothing grows without being counted: a
        filter has at most ``terms`` leaves, each at most ``DEPTH`` objects deep.
        """
        self.comparisons += 1
        if self.comparisons > self.terms:
            message = f"The filter has more than {self.terms} comparisons."
            raise LimitExceeded(message, field="filter")

    def bind(self, value: Any) -> sql.SQL:  # noqa: ANN401 - any parameter
        name = f"filter_{len(self.parameters)}"
        self.parameters[name] = value
        return sql.SQL(f"%({name})s")

    def containment(self) -> sql.SQL | None:
        """Return ``contained`` as SQL; its parameter is one of ``parameters``."""
        if self.contained is None:
            return None
        return sql.SQL("record.metadata @> %(filter_contained)s::jsonb")

    def lead_by_index(self, given: Mapping[str, Any]) -> None:
        """Ask first what the index answers; the comparisons decide as before."""
        self.contained = must_contain(given)
        contained = self.containment()
        if contained is not None:
            # Checked value by value when the comparisons were compiled.
            self.parameters["filter_contained"] = json.dumps(
                self.contained, ensure_ascii=False, default=dict
            )
            self.text = sql.SQL("({} AND {})").format(contained, self.text)


def compile_filter(given: Mapping[str, Any] | None, *, terms: int) -> Compiled:
    """Return the SQL of a filter; ``None`` matches all.

    Args:
        given: As the module's text says.
        terms: Most comparisons; an empty object or list counts as one.

    Raises:
        Invalid: Not of that form; the error names the operator or the key's place.
        LimitExceeded: Too many comparisons, nested too deep, or more than 1,000
            values in one ``in``. Nothing is compiled beyond the limit.
    """
    compiled = Compiled(terms=terms)
    if given is not None:
        compiled.text = _all_of(given, compiled, DEPTH)
        compiled.lead_by_index(given)
    return compiled


def _all_of(given: object, into: Compiled, depth: int) -> sql.Composable:
    if depth == 0:
        message = f"The filter is nested deeper than {DEPTH} levels."
        raise LimitExceeded(message, field="filter")
    if not isinstance(given, Mapping):
        message = "A filter must be a JSON object."
        raise Invalid(message, field="filter")
    if not given:
        into.count()
    parts = [_one(key, value, into, depth) for key, value in given.items()]
    return _joined(parts, "and")


def _one(key: object, value: Any, into: Compiled, depth: int) -> sql.Composable:  # noqa: ANN401
    name = check_text(key, "a key of the filter")
    if name in COMBINATIONS:
        if not isinstance(value, list | tuple):
            message = f"The filter's {name!r} takes a list of filters."
            raise Invalid(message, field="filter")
        if not value:
            into.count()
        return _joined([_all_of(item, into, depth - 1) for item in value], name)
    if name == "not":
        inner = _all_of(value, into, depth - 1)
        return sql.SQL("NOT coalesce({}, FALSE)").format(inner)
    conditions = value if isinstance(value, Mapping) else {"eq": value}
    if not conditions:
        message = "The filter has a key without a comparison."
        raise Invalid(message, field="filter")
    parts = [_condition(name, op, operand, into) for op, operand in conditions.items()]
    return _joined(parts, "and")


def _joined(parts: list[sql.Composable], how: str) -> sql.Composable:
    if not parts:
        return sql.SQL("TRUE") if how == "and" else sql.SQL("FALSE")
    return sql.SQL("({})").format(COMBINATIONS[how].join(parts))


def _condition(key: str, op: object, operand: Any, into: Compiled) -> sql.Composable:  # noqa: ANN401
    if op not in OPERATORS:
        message = f"The filter has an unknown operator; there are {OPERATORS}."
        raise Invalid(message, field="filter")
    into.count()
    name = into.bind(key)
    if op == "exists":
        return _exists(name, operand)
    if op == "in":
        return _in(name, operand, into)
    check_size(operand, OPERAND_VALUES)
    value = into.bind(to_json(operand, "filter"))
    if op == "contains":
        return sql.SQL("(record.metadata -> {}::text) @> {}::jsonb").format(name, value)
    if op in ORDERED and (
        isinstance(operand, bool) or not isinstance(operand, int | float | str)
    ):
        message = f"The filter's {op!r} takes a number or a string."
        raise Invalid(message, field="filter")
    return sql.SQL(
        "(jsonb_typeof(record.metadata -> {name}::text) = jsonb_typeof({value}::jsonb)"
        " AND (record.metadata -> {name}::text) {sign} {value}::jsonb)"
    ).format(name=name, value=value, sign=COMPARISONS[str(op)])


def check_size(operand: object, most: int) -> None:
    """Check that an operand holds few values.

    Raises:
        LimitExceeded: It holds more.
    """
    left = [operand]
    for _ in range(most + 1):
        if not left:
            return
        value = left.pop()
        if isinstance(value, Mapping):
            left.extend(value.values())
        elif isinstance(value, list | tuple):
            left.extend(value)
    if left:
        message = f"An operand of the filter holds more than {most:,} values."
        raise LimitExceeded(message, field="filter")


def _exists(name: sql.Composable, operand: object) -> sql.Composable:
    if not isinstance(operand, bool):
        message = "The filter's 'exists' takes true or false."
        raise Invalid(message, field="filter")
    negation = sql.SQL("") if operand else sql.SQL("NOT ")
    return sql.SQL("({}jsonb_exists(record.metadata, {}::text))").format(negation, name)


def _in(name: sql.Composable, operand: object, into: Compiled) -> sql.Composable:
    if not isinstance(operand, list | tuple):
        message = "The filter's 'in' takes a list."
        raise Invalid(message, field="filter")
    if len(operand) > IN_VALUES:
        message = f"The filter's 'in' takes at most {IN_VALUES:,} values."
        raise LimitExceeded(message, field="filter")
    check_size(operand, IN_VALUES)
    values = into.bind([to_json(item, "filter") for item in operand])
    return sql.SQL("((record.metadata -> {}::text) = ANY({}::jsonb[]))").format(
        name, values
    )
