"""B214 to B218: what may be said of access to documents. Pure."""

from __future__ import annotations

from typing import Any

import pytest

from prism_memory.errors import (
    Invalid,
    LimitExceeded,
    PrismMemoryError,
    ScopeDenied,
)
from prism_memory.types import (
    AccessGrant,
    Actor,
    Authorization,
    Grant,
    Open,
    Permission,
    check_authorization,
)
from tests.factories import ADA, make_scope

LONG = "x" * 257


def test_an_authorization_denies_what_no_grant_speaks_of() -> None:
    """B213."""
    who = Authorization("ada", ["hr", "hr", "sales"])
    assert who.open is Open.DENY
    assert who.groups == ("hr", "sales")
    assert Authorization("ada", open="allow").open is Open.ALLOW  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given", "error", "field"),
    [
        ({"principal": ""}, Invalid, "principal"),
        ({"principal": "  "}, Invalid, "principal"),
        ({"principal": None}, Invalid, "principal"),
        ({"principal": "nul \0"}, Invalid, "principal"),
        ({"principal": LONG}, LimitExceeded, "principal"),
        ({"groups": "hr"}, Invalid, "groups"),
        ({"groups": None}, Invalid, "groups"),
        ({"groups": [""]}, Invalid, "groups"),
        ({"groups": [1]}, Invalid, "groups"),
        ({"groups": [LONG]}, LimitExceeded, "groups"),
        ({"groups": map(str, range(33))}, Invalid, "groups"),
        ({"groups": [*map(str, range(33))]}, LimitExceeded, "groups"),
        ({"access_version": 0}, LimitExceeded, "access_version"),
        ({"access_version": 2**31}, LimitExceeded, "access_version"),
        ({"tenant": ""}, Invalid, "tenant"),
        ({"open": "all"}, Invalid, "open"),
        ({"open": True}, Invalid, "open"),
    ],
)
def test_an_authorization_that_is_none_is_refused(
    given: dict[str, Any], error: type[PrismMemoryError], field: str
) -> None:
    """B218."""
    with pytest.raises(error) as raised:
        Authorization(**{"principal": "ada", **given})
    assert raised.value.field == field


@pytest.mark.parametrize("version", [True, "1", 1.0, -1])
def test_a_version_is_an_integer_from_1(version: Any) -> None:
    """B214."""
    for made in (Authorization, AccessGrant):
        with pytest.raises((Invalid, LimitExceeded)) as raised:
            made("ada", access_version=version)
        assert raised.value.field == "access_version"


def test_32_groups_are_not_too_many() -> None:
    """B218."""
    assert len(Authorization("ada", [*map(str, range(32))]).groups) == 32


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"principal": "ada", "group": "hr"},
        {"principal": " "},
        {"group": " "},
        {"principal": 1},
        {"principal": "ada", "access_version": None},
    ],
)
def test_a_grant_names_one_of_both(given: dict[str, Any]) -> None:
    with pytest.raises(Invalid):
        AccessGrant(**given)


def test_credentials_read_in_their_own_tenant() -> None:
    """B216."""
    foreign = Authorization("ada", tenant="globex")
    allowed = frozenset(Permission)
    with pytest.raises(ScopeDenied):
        Grant(make_scope(), allowed, ADA, Actor(), foreign)
    with pytest.raises(Invalid):
        check_authorization("ada", make_scope())
    mine = Authorization("ada", tenant="acme")
    assert Grant(make_scope(), allowed, ADA, Actor(), mine).authorization == mine
