"""What of a metadata filter an index on the metadata can answer.

The index (GIN, ``jsonb_path_ops``) knows one question: does the metadata contain this
object? The object found here is a necessary condition of the filter, no more: the
comparisons themselves still decide.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def must_contain(given: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the object that the metadata of every matching record contains.

    Args:
        given: A filter that compiles.

    Returns:
        None where the filter demands no value: ranges, ``or``, ``not`` …
    """
    found: dict[str, Any] = {}
    for key, value in _demanded(given):
        found.setdefault(key, value)  # of several demands on a key, one is enough
    return found or None


def _demanded(given: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, value in given.items():
        if key == "and":
            for item in value:
                yield from _demanded(item)
        elif key not in {"or", "not"}:
            conditions = value if isinstance(value, Mapping) else {"eq": value}
            for op, operand in conditions.items():
                if _demands(op, operand):
                    yield key, operand[0] if op == "in" else operand


def _demands(op: str, operand: Any) -> bool:  # noqa: ANN401 - any JSON value
    if op == "in":
        return len(operand) == 1 and _holds_a_value(operand[0])
    if op == "contains" and not isinstance(operand, Mapping | list | tuple):
        return False  # a list contains a bare value at its top, but not below a key
    return op in {"eq", "contains"} and _holds_a_value(operand)


def _holds_a_value(value: Any) -> bool:  # noqa: ANN401 - any JSON value
    """The index has no entry for what is empty, and would read all of itself."""
    if isinstance(value, Mapping):
        return any(map(_holds_a_value, value.values()))
    if isinstance(value, list | tuple):
        return any(map(_holds_a_value, value))
    return True
