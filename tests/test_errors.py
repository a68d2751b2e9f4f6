from __future__ import annotations

import inspect

import pytest

from prism_memory import errors
from prism_memory.errors import Invalid, PrismMemoryError

CLASSES = [
    item
    for _, item in inspect.getmembers(errors, inspect.isclass)
    if issubclass(item, PrismMemoryError)
]


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_an_error_says_by_itself_what_it_means(kind: type[PrismMemoryError]) -> None:
    message = str(kind())
    assert message == kind.__doc__
    assert message.endswith(".")
    assert "\n" not in message


def test_each_error_has_a_code_of_its_own() -> None:
    """Clients tell them apart by it."""
    codes = [kind.code for kind in CLASSES]
    assert len(set(codes)) == len(codes)


def test_an_error_names_the_field_it_is_about() -> None:
    error = Invalid("key must not be blank.", field="key")
    assert (str(error), error.field) == ("key must not be blank.", "key")
    assert Invalid().field == ""
