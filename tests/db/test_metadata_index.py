"""The index on the metadata serves filters: a few rows of many are not searched for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from django.db import connection
from pytest_django import DjangoDbBlocker

from prism_memory.db.containment import must_contain
from prism_memory.types import Entry
from tests.capture import captured
from tests.db.test_filters_against_model import matches
from tests.factories import make_memory, make_scope, remember_one
from tests.kept import kept

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("filled")]

INDEX = "prism_memory_record_metadata"
ROWS = 20_000

RECORDS = """
INSERT INTO prism_memory_record
       (id, tenant, scope_id, kind, tier, namespace, partition, key, text, language,
        sha256, uses, metadata, trust, writer, consent_source, consent_scope, visible,
        gate, gate_reason, gate_markers, created_at, version)
SELECT gen_random_uuid(), tenant, scope_id, kind, '', '', '', 'bulk-' || number, text,
       language, sha256, 1,
       jsonb_build_object('n', number, 'even', number %% 2 = 0, 'name', 'n' || number,
                          'tags', jsonb_build_array('all', 't' || number)),
       trust, writer, consent_source, consent_scope, TRUE, 'open', '', '[]', created_at,
       1
  FROM prism_memory_record, generate_series(1, %s) AS number
 WHERE key = 'pattern'
"""


@pytest.fixture(scope="module")
def filled(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """A scope with 20,000 rows, known to the planner."""
    with kept(django_db_blocker):
        remember_one(key="pattern")
        with connection.cursor() as cursor:
            cursor.execute(RECORDS, [ROWS])
            cursor.execute("ANALYZE prism_memory_record")
        yield


def listed(given: Mapping[str, Any]) -> tuple[list[str], str]:
    """Return the keys that a list under the filter gives, and the statement's plan."""
    with captured() as seen:
        keys = [item.key for item in make_memory().list(filter=given, limit=50)]
    ((statement, parameters),) = seen.on_tenants()
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN {statement}", parameters)
        return keys, "\n".join(line for (line,) in cursor.fetchall())


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ({"n": 777}, ["bulk-777"]),
        ({"name": {"in": ["n5"]}}, ["bulk-5"]),
        ({"tags": {"contains": ["t9"]}}, ["bulk-9"]),
        ({"even": False, "n": {"gt": 0}, "and": [{"n": 7}]}, ["bulk-7"]),
        ({"n": 7, "even": True}, []),
        ({"n": ROWS + 1}, []),
    ],
    ids=str,
)
def test_a_list_finds_a_few_of_many_rows_by_the_index(
    given: dict[str, Any], found: list[str]
) -> None:
    """case_C08."""
    keys, plan = listed(given)
    assert keys == found
    assert INDEX in plan


VALUES: list[Any] = [
    *(0, 1, 1.0, -1, 0.1, 100, 1e2, 2**53 + 1, 1e300, 10**30),
    *(True, False, None, "", "1", "true", "null", "☂", "it's", "x') OR 1=1 --"),
    *([1], [1.0], ["a", "b"], [[1], 2], [None]),
    *({"b": 1}, {"b": {"c": [1]}}, {"b": 1, "c": None}),
]


@pytest.mark.parametrize("op", ["eq", "contains", "in"])
def test_the_index_finds_what_the_rows_themselves_say(op: str) -> None:
    """case_C08: 1 is 1.0 to both; a text, a bool and a null are themselves alone."""
    make_memory().remember(
        [Entry(f"{i}", key=f"{i}", metadata={"v": v}) for i, v in enumerate(VALUES)]
    )
    for value in VALUES:
        given = {"v": {op: [value] if op == "in" else value}}
        expected = {f"{i}" for i, v in enumerate(VALUES) if matches({"v": v}, given)}
        keys, plan = listed(given)
        assert {*keys} == expected
        assert (INDEX in plan) == (must_contain(given) is not None)


@pytest.mark.parametrize(
    "key", ["x') OR 1=1 --", 'a"b', "back\\slash", "%s", "k" * 10_240]
)
def test_the_index_takes_any_key_as_data(key: str) -> None:
    """case_C03: never more rows, whatever the key."""
    metadatas: dict[str, dict[str, Any]] = {
        "same": {key: "v"},
        "other value": {key: "w"},
        "other key": {"v": key},
    }
    make_memory().remember(
        [Entry(name, key=name, metadata=m) for name, m in metadatas.items()]
    )
    keys, plan = listed({key: "v"})
    assert keys == ["same"]
    assert INDEX in plan


def test_a_strangers_row_in_the_index_is_not_listed() -> None:
    """B18, case_C02: the index is over all tenants; the rule is not."""
    for elsewhere in ({"tenant": "globex"}, {"owner": "bob"}, {"thread": "chat-2"}):
        remember_one(scope=make_scope(**elsewhere), key="theirs", metadata={"whose": 1})
    remember_one(key="mine", metadata={"whose": 1})
    keys, plan = listed({"whose": 1})
    assert keys == ["mine"]
    assert INDEX in plan
