"""The external index of vectors: what it holds, what it lacks, what it was."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from django.core.management.base import CommandError, CommandParser

from prism_memory import backends, indexing
from prism_memory.conf import settings
from prism_memory.management.command import FAILED, MemoryCommand
from prism_memory.management.options import (
    add_actions,
    add_common,
    add_tenant,
    database,
    known_tenant,
)

ACTIONS = {
    "status": "Say what each external index holds and is still to be told.",
    "compare": "Compare the index of the settings with all vectors, and tell it what it"
    " lacks; for every night.",
    "forget": "Forget what an index held that was thrown away.",
}


class Command(MemoryCommand):
    """Look after an external index of vectors."""

    help = "Look after an external index of vectors, which holds copies."
    examples = """\
examples:
  manage.py prism_memory_copies status
  manage.py prism_memory_copies compare --tenant acme
  manage.py prism_memory_copies forget "qdrant:old-collection"
"""

    def add_arguments(self, parser: CommandParser) -> None:
        for name, action in add_actions(parser, ACTIONS).items():
            if name == "forget":
                action.add_argument("index", help="Its name, as status shows it.")
            add_tenant(action, "Only this tenant; all of them when not given.")
            add_common(action)

    def handle(self, *args: Any, **options: Any) -> None:
        del args
        with self.refusals():
            getattr(self, options["action"])(options)

    def status(self, options: dict[str, Any]) -> None:
        """Say how things are."""
        using = database(options)
        found: dict[str, Counter[str]] = {}
        for tenant in _tenants(options):
            copies = indexing.count_copies(using=using, tenant=tenant)
            for index, states in copies.items():
                found.setdefault(index, Counter()).update(states)
        lines = [
            f"{index}: {states['held']:,} held, {states['wanted']:,} to be copied,"
            f" {states['gone']:,} to be deleted"
            for index, states in sorted(found.items())
        ]
        self.answer(found, options, *(lines or ["No external index holds anything."]))

    def compare(self, options: dict[str, Any]) -> None:
        """Compare, and tell."""
        using = database(options)
        if backends.get_vector_index() is None:
            message = "PRISM_MEMORY['VECTOR_INDEX'] names no external index."
            raise CommandError(message, returncode=FAILED)
        done: Counter[str] = Counter()
        spaces = _spaces(using)
        for tenant in _tenants(options):
            for space in spaces:
                given: dict[str, Any] = {"using": using, "tenant": tenant}
                done["off"] += indexing.reconcile(**given, space=space)
                told = indexing.copy(**given, space=space)
                done.update(copied=told.copied, removed=told.removed)
                if told.outage:
                    message = f"The index was not told all: {told.outage}"
                    raise CommandError(message, returncode=FAILED)
        found = {name: done[name] for name in ("off", "copied", "removed")}
        line = "{off:,} vectors were off; {copied:,} copied, {removed:,} deleted."
        self.answer(found, options, line.format(**found))

    def forget(self, options: dict[str, Any]) -> None:
        """Forget an index."""
        using, index = database(options), options["index"]
        count = sum(
            indexing.forget_index(using=using, tenant=tenant, index=index)
            for tenant in _tenants(options)
        )
        self.answer({"forgotten": count}, options, f"{count:,} copies forgotten.")


def _spaces(using: str) -> list[indexing.Space]:
    return [
        space
        for alias in settings.EMBEDDERS
        for space in indexing.find_live(using=using, alias=alias)
    ]


def _tenants(options: dict[str, Any]) -> Iterator[str]:
    if tenant := known_tenant(options):
        return iter([tenant])
    return indexing.tenants(using=database(options))
