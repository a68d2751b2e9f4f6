"""A reader of scopes by name sees exactly these, and of one tenant alone."""

from __future__ import annotations

from typing import Any

import pytest

from prism_memory.access import Reader
from prism_memory.errors import ScopeDenied
from prism_memory.types import Scope
from tests.factories import make_record, make_scope
from tests.sight import HERE, seen

OWNER = Scope("acme", owner="ada")
BOOKS = [OWNER.with_thread(name) for name in ("handbook", "policies")]


@pytest.mark.django_db
def test_exactly_the_named_scopes_are_seen() -> None:
    """B228: no level above, none beside, no stranger's of the same names."""
    shown = [make_record("tea", scope=scope) for scope in BOOKS]
    others = [
        make_record("tea", scope=scope)
        for scope in (
            OWNER,
            Scope("acme"),
            HERE,
            OWNER.with_thread("diary"),
            make_scope(owner="bob", agent="", thread="handbook"),
            Scope("globex", owner="ada", thread="handbook"),
        )
    ]
    asked: dict[str, Any] = {"scope": OWNER, "scopes": BOOKS}
    assert all(seen(one, **asked) for one in shown)
    assert not any(seen(one, **asked) for one in others)
    assert not any(seen(one, scope=OWNER, scopes=[]) for one in (*shown, *others))


def test_scopes_of_another_tenant_are_refused() -> None:
    """B216, B228."""
    with pytest.raises(ScopeDenied):
        Reader(OWNER, scopes=[Scope("globex", owner="ada")])
    wrong: Any = ["handbook"]
    with pytest.raises(ScopeDenied):
        Reader(OWNER, scopes=wrong)
