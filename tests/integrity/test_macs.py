"""What is signed, and that no two things give the same bytes. No database."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prism_memory.errors import Misconfigured
from prism_memory.integrity import Keyring, State, canonical
from prism_memory.integrity.macs import FIELDS, record_message
from prism_memory.models import Record

PARTS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False),
    st.text(st.characters(codec="utf-8"), max_size=8),
    st.binary(max_size=8),
    st.uuids(),
)
KEYRING = Keyring({"a": b"1" * 32, "b": b"2" * 32}, "a")
UNSIGNED = {"tenant", "uses", "mac", "mac_key", "search"}
"""The tenant is signed beside the columns; ``search`` is made of them by the database;
``uses`` counts, and says nothing of what is stored."""


def typed(parts: list[Any]) -> list[tuple[type, str]]:
    return [(type(part), repr(part)) for part in parts]


@given(st.lists(PARTS, max_size=4), st.lists(PARTS, max_size=4))
def test_two_lists_give_the_same_only_if_they_are(
    one: list[Any], other: list[Any]
) -> None:
    same = canonical(*one) == canonical(*other)
    assert same is (typed(one) == typed(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("ab", "c"), ("a", "bc")),
        (("", None), (None, "")),
        ((1,), ("1",)),
        ((1,), (True,)),
        ((1,), (1.0,)),
        (("a",), (b"a",)),
        ((canonical("a"),), ("a",)),
    ],
)
def test_what_looks_alike_differs(one: Any, other: Any) -> None:
    assert canonical(*one) != canonical(*other)


def test_every_column_is_signed_or_named_here() -> None:
    """A new column must be decided on."""
    columns = {field.attname for field in Record._meta.concrete_fields}
    assert columns - set(FIELDS) == UNSIGNED
    assert len(set(FIELDS)) == len(FIELDS)


def row(**given: Any) -> dict[str, Any]:
    return {**dict.fromkeys(FIELDS), "id": uuid.UUID(int=1), "text": "tea", **given}


@pytest.mark.parametrize("name", FIELDS)
def test_no_column_can_be_edited(name: str) -> None:
    mac = KEYRING.sign_record("acme", row())
    edited = row(**{name: "another"}, mac=mac, mac_key="a")
    assert KEYRING.state_of_record("acme", edited) is State.CHANGED


def test_a_signature_is_of_one_tenant_and_one_key() -> None:
    mac = KEYRING.sign_record("acme", row())
    states = [
        KEYRING.state_of_record("acme", row(mac=mac, mac_key="a")),
        KEYRING.state_of_record("beta", row(mac=mac, mac_key="a")),
        KEYRING.state_of_record("acme", row(mac=mac, mac_key="b")),
        KEYRING.state_of_record("acme", row(mac=mac, mac_key="c")),
        KEYRING.state_of_record("acme", row(mac=mac, mac_key=None)),
        KEYRING.state_of_record("acme", row(mac=None, mac_key="a")),
        KEYRING.state_of_record("acme", row(mac=mac[:-1], mac_key="a")),
    ]
    assert states == [
        State.INTACT,
        State.CHANGED,
        State.CHANGED,
        State.UNKNOWN_KEY,
        State.UNSIGNED,
        State.UNSIGNED,
        State.CHANGED,
    ]


def test_what_is_signed_is_signed_as_a_record() -> None:
    """A signature of something else cannot stand for a record's."""
    message = record_message("acme", row())
    assert KEYRING.sign(message) == KEYRING.sign_record("acme", row())
    assert KEYRING.sign(b"") != KEYRING.sign(message)


def test_a_keyring_shows_no_key() -> None:
    assert "1111" not in repr(KEYRING)


@pytest.mark.parametrize(("keys", "current"), [({"a": b"1" * 31}, "a"), ({}, "a")])
def test_a_keyring_that_cannot_sign_is_refused(keys: Any, current: str) -> None:
    with pytest.raises(Misconfigured):
        Keyring(keys, current)
