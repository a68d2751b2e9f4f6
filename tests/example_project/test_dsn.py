from __future__ import annotations

import pytest

from example_project.dsn import database_settings


def test_a_network_address_is_read_part_by_part():
    found = database_settings(
        "postgresql://ada:p%40ss@db.test:5433/mem?sslmode=require"
    )
    assert found == {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": "mem",
        "USER": "ada",
        "PASSWORD": "p@ss",
        "HOST": "db.test",
        "PORT": "5433",
        "OPTIONS": {"sslmode": "require"},
    }


def test_a_socket_folder_comes_from_the_query():
    found = database_settings("postgresql://postgres@/mem?host=/run/my%20pg&port=5434")
    assert (found["HOST"], found["PORT"]) == ("/run/my pg", "5434")
    assert found["OPTIONS"] == {}


@pytest.mark.parametrize("url", ["mysql://root@localhost/mem", "postgresql://ada@db/"])
def test_what_is_no_database_address_is_refused(url):
    with pytest.raises(ValueError, match="DATABASE_URL must look like"):
        database_settings(url)
