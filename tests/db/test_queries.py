from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest
from psycopg import sql

import prism_memory
from prism_memory.db import queries
from prism_memory.db.queries import composed, named

FOLDER: Final = Path(prism_memory.__file__).parent / "db" / "sql"
FILES: Final = sorted(path.stem for path in FOLDER.glob("*.sql"))
SOURCES: Final = "\n".join(
    path.read_text("utf-8") for path in FOLDER.parents[1].rglob("*.py")
)


@pytest.mark.parametrize("file", FILES)
def test_every_statement_is_found_and_free_of_comments(file: str) -> None:
    headers = re.findall(
        r"^-- name: (\w+)$", (FOLDER / f"{file}.sql").read_text(), re.M
    )
    assert [*named(file)] == headers
    for text in named(file).values():
        assert text
        assert "--" not in text
        assert not text.endswith(";")


@pytest.mark.parametrize("file", FILES)
def test_every_statement_has_a_user(file: str) -> None:
    """SQL that nobody runs is not tested either."""
    for name in named(file):
        family = re.sub("record|source|scope", "{target.family}", name, count=1)
        twin = re.sub("^source_.*", "source_{name}", name)  # the same of a source
        users = (f'"{name}"', f'f"{family}"', f'f"{twin}"')
        assert any(user in SOURCES for user in users), name


@pytest.mark.parametrize("file", FILES)
def test_every_value_is_a_parameter_of_a_stated_type(file: str) -> None:
    """B490: the driver never has to guess, nor the server.

    In parentheses or a CAST where a number may be the smallest of all: ``-`` binds
    later than ``::``.
    """
    for name, text in named(file).items():
        bare = re.findall(r"%\(\w+\)s(?!::|\)::| AS \w)", text)
        numbers = re.findall(r"%\(\w+\)s \* interval", text)
        assert len(bare) == len(numbers), (name, bare)


def test_only_integers_and_our_own_sql_are_composed_in() -> None:
    """B490."""
    text = composed("indexing", "drop_index", name=sql.Identifier('x"; DROP TABLE y'))
    assert text == 'DROP INDEX CONCURRENTLY IF EXISTS "x""; DROP TABLE y"'
    assert "{" not in composed(
        "indexing",
        "create_index",
        name=sql.Identifier("i"),
        dimensions=384,
        space_id=7,
        m=16,
        ef_construction=64,
    )


def test_a_file_that_is_missing_is_an_error() -> None:
    with pytest.raises(FileNotFoundError):
        named("nothing")


@pytest.mark.django_db
def test_rows_come_as_dicts_and_changes_as_a_count() -> None:
    given = {"least": 2}
    statement = "SELECT n, n * n AS square FROM generate_series(%(least)s::int, 3) AS n"
    assert queries.fetch("default", statement, given) == [
        {"n": 2, "square": 4},
        {"n": 3, "square": 9},
    ]
    insert = "INSERT INTO prism_memory_tenant SELECT %(name)s, now()"
    assert queries.execute("default", insert, {"name": "acme"}) == 1
