"""``prism_memory_index``: the vectors, the queue of those to be made, the index."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils import timezone

from prism_memory import backends, indexing, runs
from prism_memory.conf import settings
from prism_memory.errors import Invalid, PrismMemoryError
from prism_memory.management.command import (
    FAILED,
    USAGE,
    MemoryCommand,
    add_common,
    between,
    database,
    os_actor,
)
from prism_memory.management.draining import drain_tenants
from prism_memory.management.status import status
from prism_memory.models import Run
from prism_memory.models.choices import RunState

ACTIONS = {
    "create": "make the HNSW index of the vectors, without blocking writers",
    "drop": "drop that index; recall stays right and scans exactly",
    "drain": "embed what waits, in this process",
    "enqueue": "queue what has no vector in the active space, after a new alias",
    "retry": "give texts that were given up all their tries again",
    "recount": "count the vectors of every scope anew, as the planner reads them",
    "status": "say what waits, what failed, and how the index is",
}
PER_TENANT = ("drain", "enqueue", "retry", "recount", "status")


class Command(MemoryCommand):
    """Look after the vectors."""

    help = "Look after the vectors: the queue of texts to embed, and the index."
    examples = """\
examples:
  manage.py prism_memory_index status
  manage.py prism_memory_index drain --tenant acme
  manage.py prism_memory_index create --m 16 --ef-construction 64 --memory 1024
  manage.py prism_memory_index status --json

exit codes:
  0    done
  1    it failed; drain: the embedder is down; status: an index that recall counts on
       is missing or invalid
  2    wrong usage
  130  stopped by Ctrl-C; nothing is lost, drain goes on from there
"""

    def add_arguments(self, parser: CommandParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
        for name, meaning in ACTIONS.items():
            action = actions.add_parser(name, help=meaning, description=meaning)
            add_common(action, alias=True)
            if name in PER_TENANT:
                action.add_argument(
                    "--tenant", help="Only this tenant; all if not given."
                )
            if name == "create":
                _add_index_options(action)

    def handle(self, *args: Any, **options: Any) -> None:
        options["alias"] = options["alias"] or settings.EMBEDDER
        with self.refusals():
            getattr(self, options["action"])(options)

    def create(self, options: dict[str, Any]) -> None:
        """Make the index, as a run that the admin shows."""
        if options["ef_construction"] < 2 * options["m"]:
            message = "--ef-construction must be at least twice --m."
            raise CommandError(message, returncode=USAGE)
        using = database(options)
        space = _space(options)
        run = runs.begin(
            using=using,
            tenant="",
            kind="index",
            target=indexing.index_name(space),
            actor=os_actor(),
            at=timezone.now(),
        )
        self.aside(f"Building {run.target}; this can take long …")
        try:
            state = indexing.create_index(
                using=using,
                space=space,
                m=options["m"],
                ef_construction=options["ef_construction"],
                memory_megabytes=options["memory"],
            )
        except PrismMemoryError as error:
            _finish(run, using, RunState.FAILED, error.code)
            raise
        except KeyboardInterrupt:
            _finish(run, using, RunState.CANCELLED)
            raise
        _finish(run, using, RunState.DONE)
        found = {"index": state.name, "valid": state.valid, "bytes": state.bytes}
        self.answer(found, options, f"{state.name} is valid: {state.bytes:,} bytes.")

    def drop(self, options: dict[str, Any]) -> None:
        """Drop the index."""
        space = _space(options)
        indexing.drop_index(using=database(options), space=space)
        name = indexing.index_name(space)
        self.answer({"index": name}, options, f"{name} is dropped.")

    def drain(self, options: dict[str, Any]) -> None:
        """Work off the queue."""
        done = drain_tenants(
            using=database(options),
            alias=options["alias"],
            tenants=[options["tenant"]] if options["tenant"] else None,
            stream=self.progress_stream(),
            silent=options["verbosity"] < 1,
        )
        found = {
            "embedded": done.embedded,
            "stale": done.stale,
            "failed": done.failed,
            "outage": done.outage,
        }
        line = f"{done.embedded:,} embedded, {done.failed:,} failed"
        self.answer(found, options, line)
        if done.outage:
            message = f"Stopped early: {done.outage}"
            raise CommandError(message, returncode=FAILED)

    def enqueue(self, options: dict[str, Any]) -> None:
        """Queue what has no vector in the active space."""
        using, alias = database(options), options["alias"]
        identity = backends.get_embedder(alias).identity
        space = indexing.active(using=using, alias=alias, identity=identity)
        count = sum(
            indexing.enqueue_missing(using=using, tenant=tenant, space=space)
            for tenant in _tenants(options)
        )
        line = f"{count:,} records queued; a worker or drain embeds them."
        self.answer({"queued": count}, options, line)

    def retry(self, options: dict[str, Any]) -> None:
        """Give texts their tries again."""
        using, space = database(options), _space(options)
        count = sum(
            indexing.retry_failed(using=using, tenant=tenant, space=space)
            for tenant in _tenants(options)
        )
        line = f"{count:,} texts will be tried again."
        self.answer({"retried": count}, options, line)

    def recount(self, options: dict[str, Any]) -> None:
        """Count the vectors anew."""
        using, space = database(options), _space(options)
        count = sum(
            indexing.recount(using=using, tenant=tenant, space=space)
            for tenant in _tenants(options)
        )
        self.answer({"corrected": count}, options, f"{count:,} scopes were off.")

    def status(self, options: dict[str, Any]) -> None:
        """Say how things are."""
        found = status(
            using=database(options),
            alias=options["alias"],
            tenants=_tenants(options),
        )
        self.answer(found.as_json(), options, *found.lines())
        if found.broken:
            broken = ", ".join(found.broken)
            message = f"Recall counts on an index that is broken or missing: {broken}."
            raise CommandError(message, returncode=FAILED)


def _add_index_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--m", type=between(2, 100), default=16, help="Links of a node (16)."
    )
    parser.add_argument(
        "--ef-construction",
        type=between(4, 1_000),
        default=64,
        help="Candidates while building, at least twice --m (64).",
    )
    parser.add_argument(
        "--memory",
        type=between(1, 1_048_576),
        default=256,
        metavar="MB",
        help="maintenance_work_mem while building, in megabytes (256).",
    )


def _space(options: dict[str, Any]) -> indexing.Space:
    alias = options["alias"]
    space = indexing.find_active(using=database(options), alias=alias)
    if space is None:
        message = "No vectors yet: the space is made when something is remembered."
        raise Invalid(message, field="alias")
    return space


def _tenants(options: dict[str, Any]) -> Iterator[str]:
    if options["tenant"]:
        return iter([options["tenant"]])
    return indexing.tenants(using=database(options))


def _finish(run: Run, using: str, state: RunState, error: str = "") -> None:
    runs.finish(run, using=using, state=state, error=error, at=timezone.now())
