"""The app where Celery is not installed: all works, and drains run in a command."""

from __future__ import annotations

import json
import textwrap

import pytest
from django.db import connection

from tests.tasks.conftest import run_script

SCRIPT = """
    import json, os, sys
    sys.modules["celery"] = sys.modules["kombu"] = None
    from django.conf import settings
    settings.configure(
        INSTALLED_APPS=["prism_memory"],
        USE_TZ=True,
        DATABASES={"default": json.loads(os.environ["PRISM_TEST_DATABASE"])},
        PRISM_MEMORY={"EMBEDDERS": {"default": {
            "BACKEND": "prism_memory.backends.hashing.HashEmbedder",
            "OPTIONS": {"dimensions": 64, "for_tests": True},
        }}},
    )
    import django
    django.setup()
    from django.core.checks import run_checks
    from django.core.management import call_command
    from prism_memory import Memory, Origin, Scope, Trust
    memory = Memory(Scope("acme", owner="ada"), origin=Origin(Trust.USER, "ada"))
    assert memory.remember("Ada drinks tea.").pending
    assert memory.recall("tea").hits[0].text == "Ada drinks tea."
    call_command("prism_memory_index", "drain", verbosity=0)
    assert memory.pending().pending == 0
    assert memory.remember("Bob plays chess.", wait=True).pending is False
    assert run_checks() == [], run_checks()
    assert "prism_memory.tasks" not in sys.modules
"""


@pytest.mark.django_db(transaction=True)
def test_without_celery_memory_and_commands_work(child_environment):
    at = connection.settings_dict
    names = ("ENGINE", "NAME", "USER", "PASSWORD", "HOST", "PORT")
    database = json.dumps({name: str(at[name]) for name in names})
    environment = child_environment | {"PRISM_TEST_DATABASE": database}
    environment.pop("DJANGO_SETTINGS_MODULE")
    ended = run_script(textwrap.dedent(SCRIPT), environment)
    assert (ended.returncode, ended.stderr) == (0, "")
