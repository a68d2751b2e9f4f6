"""A recalled fact says whether it may be relied on."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest
from pytest_django import DjangoAssertNumQueries

from prism_memory.types import Kind, Trust
from tests.capture import tenant_in_every_statement
from tests.factories import make_memory
from tests.facts.asserted import assert_one, said, versions

pytestmark = pytest.mark.django_db


def labels(**given: Any) -> dict[str, str]:
    hits = make_memory().recall("Ada lives", 9, legs="text", **given).hits
    return {hit.text: str(hit.acceptance) for hit in hits}


def test_facts_beliefs_proposals_and_what_is_no_fact_are_told_apart(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    """B297: one query more for all of them, which names the tenant."""
    words = said("Ada lives somewhere.")
    assert_one("Porto", evidence=[words])
    for value, trust in (("Faro", Trust.AGENT), ("Lisbon", Trust.TOOL)):
        assert_one(value, evidence=[said(f"{value}.", trust)])
    labels()  # the active space is known from here on
    with tenant_in_every_statement("acme") as seen, django_assert_num_queries(2):
        found = labels()
    assert found == {
        "Ada lives somewhere.": "",
        "Ada lives in Porto": "accepted",
        "Ada lives in Faro": "belief",
        "Ada lives in Lisbon": "proposal",
    }
    assert seen.on_tenants()
    with django_assert_num_queries(1):
        assert labels(kinds=[Kind.ENTRY]) == {"Ada lives somewhere.": ""}


def test_it_says_what_was_held_at_the_moment_that_is_asked_for() -> None:
    """B301."""
    fact = assert_one("Lisbon", trust=Trust.TOOL)
    make_memory().facts.accept(fact.id)
    accepted = versions(fact.id)[-1].recorded_from
    moment = dt.timedelta(microseconds=1)
    kinds = [Kind.FACT]
    assert labels(kinds=kinds) == {"Ada lives in Lisbon": "accepted"}
    then = labels(kinds=kinds, known_at=accepted - moment)
    assert then == {"Ada lives in Lisbon": "proposal"}
    then = labels(kinds=kinds, known_at=accepted)
    assert then == {"Ada lives in Lisbon": "accepted"}
