"""What all commands share: Django's options, the database, names."""

from __future__ import annotations

import os

import pytest
from django.core.management import call_command, load_command_class
from django.core.management.base import CommandError
from django.db import OperationalError, connections
from django.db.utils import ConnectionHandler

from prism_memory.management import options as command_options
from prism_memory.models import EmbeddingSpace
from tests.factories import remember_one

KEY = ("prism_memory_key", "list")
UNMIGRATED = "The tables do not exist, or are of an older version: run migrate."
INDEX = ("prism_memory_index", "status")


@pytest.fixture
def commands(tmp_path):
    path = tmp_path / "chats.jsonl"
    path.write_text('{"owner": "ada", "text": "x", "writer": "a", "trust": "user"}\n')
    load = ("prism_memory_import", path, "--format=jsonl", "--tenant=acme")
    actions = ("create", "drop", "drain", "enqueue", "retry", "recount", "status")
    return [
        load,
        *(("prism_memory_index", action) for action in actions),
        KEY,
        ("prism_memory_key", "revoke", "0192f0c1-0000-7000-8000-000000000000"),
        (
            "prism_memory_key",
            *("create", "--tenant=acme", "--label=bot", "--permission=read"),
        ),
    ]


class TestDjangosOptions:
    @pytest.mark.django_db
    @pytest.mark.parametrize(
        "words",
        [
            ["--verbosity", "0"],
            ["-v", "0"],
            ["--traceback"],
            ["--no-color"],
            ["--skip-checks"],
            ["--settings", "tests.settings"],
            ["--pythonpath", os.curdir],
        ],
    )
    @pytest.mark.parametrize("command", [KEY, INDEX])
    def test_they_may_stand_on_either_side_of_the_action(self, run, command, words):
        name, action = command
        for placed in ([name, action, *words], [name, *words, action]):
            assert (run(*placed).code, run(*placed).message) == (0, "")

    def test_what_is_not_said_after_the_action_keeps_what_was_said_before(self):
        parser = _parser("prism_memory_index")
        before = parser.parse_args(["--verbosity=0", "--traceback", "status"])
        assert (before.verbosity, before.traceback) == (0, True)
        after = parser.parse_args(["status", "-v", "2", "--settings=a.b"])
        assert (after.verbosity, after.settings, after.json) == (2, "a.b", False)
        assert parser.parse_args(["status"]).verbosity == 1

    @pytest.mark.django_db
    def test_verbosity_0_shows_no_progress(self, run):
        """As docs/commands.md has it."""
        for words, shown in ((["--verbosity", "0"], False), ([], True)):
            remember_one(f"Embed this, {shown}.")
            result = run("prism_memory_index", "drain", *words)
            assert (result.code, "Embedding" in result.err) == (0, shown)

    def test_call_command_still_takes_them_as_keywords(self, db):
        del db
        call_command(*INDEX, verbosity=0, json=True)


def _parser(name):
    return load_command_class("prism_memory", name).create_parser("manage.py", name)


class TestTheDatabase:
    def test_one_that_is_not_there_is_told_by_every_command(self, run, commands):
        for words in commands:
            result = run(*words, "--database=nope")
            message = "--database: 'nope' is not in DATABASES; there are 'default'."
            assert (result.code, result.message) == (2, message), words

    def test_a_wrong_setting_is_told_as_such(self, run, commands, settings):
        settings.PRISM_MEMORY = {**settings.PRISM_MEMORY, "DATABASE": "nope"}
        for words in commands:
            result = run(*words)
            assert result.code == 2, words
            assert result.message.startswith("PRISM_MEMORY['DATABASE']: 'nope'"), words

    def test_another_than_postgresql_is_told(self, run, monkeypatch):
        sqlite = {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}
        databases = {"default": connections.settings["default"], "other": sqlite}
        handler = ConnectionHandler(databases)
        monkeypatch.setattr(command_options, "connections", handler)
        result = run(*KEY, "--database=other")
        assert (result.code, "is sqlite, not PostgreSQL" in result.message) == (2, True)

    @pytest.mark.django_db
    def test_one_that_is_down_is_told_without_its_words(
        self, run, commands, monkeypatch
    ):
        def refuse(*args, **kwargs):
            message = "password 'hunter2' is wrong"
            raise OperationalError(message)

        monkeypatch.setattr("django.db.backends.utils.CursorWrapper.execute", refuse)
        for words in commands:
            result = run(*words)
            message = "The database cannot be asked (OperationalError); is it up?"
            assert (result.code, result.message) == (1, message), words

    @pytest.mark.django_db
    def test_before_migrate_every_command_says_so(self, run, commands):
        with connections["default"].cursor() as cursor:
            cursor.execute("CREATE SCHEMA empty")
            cursor.execute("SET LOCAL search_path = empty")
        for words in commands:
            with connections["default"].cursor() as cursor:
                cursor.execute("SAVEPOINT before")
            result = run(*words)
            with connections["default"].cursor() as cursor:
                cursor.execute("ROLLBACK TO SAVEPOINT before")
            message = (
                "The tables do not exist, or are of an older version: run migrate."
            )
            assert (result.code, result.message) == (1, message), words


class TestNames:
    @pytest.mark.parametrize("given", ["", " "])
    def test_an_empty_tenant_is_refused_by_its_option(self, run, commands, given):
        """Least of all does it mean all tenants."""
        takes = [words for words in commands if words[1] not in {"create", "drop"}]
        takes = [words for words in takes if words[1] != "revoke"]
        for words in takes:
            result = run(*words, f"--tenant={given}")
            said = "argument --tenant: the name must not be blank."
            assert result.message.endswith(said), words
            assert result.code == CommandError("").returncode

    @pytest.mark.django_db
    @pytest.mark.parametrize(
        "action", ["drain", "enqueue", "retry", "recount", "status"]
    )
    def test_an_unknown_tenant_is_told(self, run, action):
        remember_one()
        result = run("prism_memory_index", action, "--tenant=nosuch")
        assert result.code == 1
        assert result.message == "--tenant: nothing was ever remembered as 'nosuch'."

    @pytest.mark.django_db
    @pytest.mark.parametrize("action", ["create", "drop", "drain", "retry", "status"])
    def test_an_unknown_alias_is_told(self, run, action):
        result = run("prism_memory_index", action, "--alias=nope")
        assert result.code == 1
        assert result.message == "--alias: 'nope' is not among EMBEDDERS."

    @pytest.mark.django_db
    def test_an_alias_taken_out_of_the_settings_can_still_be_dropped(self, run):
        EmbeddingSpace.objects.create(
            alias="old", provider="hashing", model="fnv1a", dimensions=64
        )
        assert run("prism_memory_index", "status", "--alias=old").code == 0
