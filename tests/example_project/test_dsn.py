from __future__ import annotations

import os
import subprocess
import sys

import pytest

from example_project.dsn import database_settings
from example_project.embedded import CHECKOUT


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


BAD = [
    "mysql://root:hunter2@localhost/mem",
    "postgresql://ada@db/",
    "postgresql://ada@db:port/mem",
    "postgresql://[ada/mem",
    "sqlite:///x",
    "garbage",
]


@pytest.mark.parametrize("url", BAD)
def test_what_is_no_database_address_is_refused(url):
    with pytest.raises(ValueError, match="DATABASE_URL must look like") as raised:
        database_settings(url)
    assert "hunter2" not in str(raised.value)


NOWHERE = "postgresql://ada:hunter2@127.0.0.1:1/nowhere"
PROGRAMS = [
    ["manage.py", "showmigrations"],
    ["-m", "example_project.serve", "--port", "0"],
    ["-m", "example_project.demo"],
]


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("garbage", "DATABASE_URL must look like"),
        (NOWHERE, "the database cannot be reached: "),
    ],
)
@pytest.mark.parametrize("program", PROGRAMS)
def test_an_address_that_leads_nowhere_is_told_in_one_line(program, url, said):
    ended = started(program, DATABASE_URL=url, CELERY_BROKER_URL="memory://")
    assert ended.returncode == 1
    assert ended.stderr.startswith(f"error: {said}"), ended.stderr
    assert ended.stderr.count("\n") == 1
    assert "hunter2" not in ended.stderr + ended.stdout


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("url", ["redis://:hunter2@127.0.0.1:1/0", "garbage://x"])
@pytest.mark.parametrize("program", PROGRAMS[1:])
def test_a_broker_that_does_not_answer_is_named_at_once(
    child_environment, program, url
):
    ended = started(program, **child_environment | {"CELERY_BROKER_URL": url})
    assert ended.returncode == 1
    assert ended.stderr.startswith("error: the broker "), ended.stderr
    assert "does not answer; see CELERY_BROKER_URL" in ended.stderr
    assert "hunter2" not in ended.stderr + ended.stdout


def started(program, **environment):
    environment = os.environ | {"PRISM_SERVICES": "test"} | environment
    environment.pop("DJANGO_SETTINGS_MODULE", None)
    return subprocess.run(
        [sys.executable, *program],
        cwd=CHECKOUT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
