"""``prism_memory_index``: the vectors, the queue of those to be made, the index."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import asdict
from functools import partial
from typing import Any

from django.core.management.base import CommandError, CommandParser

from prism_memory import backends, indexing
from prism_memory.conf import settings
from prism_memory.errors import Invalid
from prism_memory.management import switching
from prism_memory.management.building import build_index
from prism_memory.management.calibrating import advise
from prism_memory.management.command import FAILED, MemoryCommand, os_actor
from prism_memory.management.draining import drain_tenants
from prism_memory.management.options import (
    USAGE,
    add_actions,
    add_common,
    add_tenant,
    between,
    database,
    known_alias,
    known_tenant,
)
from prism_memory.management.situated import follow_setting, full_text_anew
from prism_memory.management.status import status
from prism_memory.management.switching import add_beside_options, add_switch_options

ACTIONS = {
    "create": "make the HNSW index of the vectors, without blocking writers",
    "drop": "drop that index, or with --space a space that does not answer",
    "drain": "embed what waits, in this process",
    "enqueue": "queue what has no vector in the active space, after a new alias",
    "retry": "give texts that were given up all their tries again",
    "rebuild": "embed anew what has a vector, or with --to by another embedder",
    "switch": "let the space answer that rebuild --to built, or the one before it",
    "fulltext": "make full text anew from what is stored, and its index",
    "recount": "count the vectors of every scope anew, as the planner reads them",
    "calibrate": "measure both scans here, and say from where the index is worth it",
    "status": "say what waits, what failed, and how the index is",
}
PER_TENANT = (
    *("drain", "enqueue", "retry", "rebuild", "fulltext", "recount", "calibrate"),
    "status",
)


class Command(MemoryCommand):
    """Look after the vectors."""

    help = "Look after the vectors: the queue of texts to embed, and the index."
    examples = """\
examples:
  manage.py prism_memory_index status
  manage.py prism_memory_index drain --tenant acme
  manage.py prism_memory_index create --m 24 --ef-construction 128 --memory 1024
  manage.py prism_memory_index calibrate --tenant acme
  manage.py prism_memory_index rebuild --to next
  manage.py prism_memory_index switch
  manage.py prism_memory_index switch --back
  manage.py prism_memory_index drop --space 3
  manage.py prism_memory_index status --json

exit codes:
  0    done
  1    it failed; create: the index exists with other parameters, or is being built;
       drain: the embedder is down, or there was something to embed and nothing could
       be; rebuild --to, switch: the space is not whole; calibrate: there is no index,
       or too few vectors; status: an index that recall counts on is missing or invalid
  2    wrong usage
  130  stopped by Ctrl-C; nothing is lost, drain goes on from there
"""

    def add_arguments(self, parser: CommandParser) -> None:
        actions = add_actions(parser, ACTIONS)
        for name, action in actions.items():
            add_common(action, alias=True)
            if name in PER_TENANT:
                add_tenant(action, "Only this tenant; all if not given.")
        _add_index_options(actions["create"])
        add_beside_options(actions["rebuild"])
        add_switch_options(actions["switch"])
        for name in ("create", "rebuild", "switch"):
            _add_memory(actions[name])
        for name in ("rebuild", "fulltext"):
            _add_anew(actions[name])
        actions["drop"].add_argument(
            "--space", type=between(1, 2**31 - 1), metavar="ID", help="Of that space."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        with self.refusals():
            options["alias"] = known_alias(options)
            getattr(self, options["action"])(options)

    def create(self, options: dict[str, Any]) -> None:
        """Make the index, as a run that the admin shows."""
        form = _parameters(options)
        form |= {"using": database(options), "space": _space(options)}
        before = indexing.index_state(using=form["using"], space=form["space"])
        if before.valid:  # refused where other parameters are asked for
            state = indexing.create_index(**form)
        else:
            if options["verbosity"]:
                self.aside(f"Building {before.name}; this can take long …")
            state = build_index(**form, memory_megabytes=options["memory"])
        what = "exists already" if before.valid else "is valid"
        self.answer(
            asdict(state) | {"index": state.name, "built": not before.valid},
            options,
            f"{state.name} {what}: m={state.m}, "
            f"ef_construction={state.ef_construction}, {state.bytes:,} bytes.",
        )

    def drop(self, options: dict[str, Any]) -> None:
        """Drop the index, or a whole space."""
        if options["space"] is not None:
            switching.drop_space(self, options)
            return
        space = _space(options)
        indexing.drop_index(using=database(options), space=space)
        name = indexing.index_name(space)
        self.answer({"index": name}, options, f"{name} is dropped.")

    def drain(self, options: dict[str, Any]) -> None:
        """Work off the queue."""
        tenant = known_tenant(options)
        worked = drain_tenants(
            using=database(options),
            alias=options["alias"],
            tenants=[tenant] if tenant else None,
            stream=self.progress_stream(),
            silent=options["verbosity"] < 1,
        )
        self.answer(worked.as_json(), options, *worked.lines())
        if worked.done.outage:
            message = f"Stopped early: {worked.done.outage}"
            raise CommandError(message, returncode=FAILED)
        if worked.came_to_nothing:
            message = "Nothing could be embedded; status says what waits."
            raise CommandError(message, returncode=FAILED)

    def enqueue(self, options: dict[str, Any]) -> None:
        """Queue what has no vector in the active space."""
        using, alias = database(options), options["alias"]
        space = indexing.active(using=using, alias=alias)
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

    def rebuild(self, options: dict[str, Any]) -> None:
        """Embed anew, going on where an earlier one stopped."""
        if options["to"] is not None:
            switching.rebuild_beside(self, options)
            return
        using, alias = database(options), options["alias"]
        space = indexing.active(using=using, alias=alias)
        embedder = indexing.embedder_of(space)
        tenants = list(_tenants(options))
        everybody = options["tenant"] is None
        follow_setting(using=using, tenants=tenants, all_of_them=everybody)
        count = 0
        for tenant in tenants:
            done = indexing.rebuild(
                using=using,
                tenant=tenant,
                space=space,
                embed=partial(backends.embed, embedder, role="passage"),
                rows=settings.REBUILD_ROWS,
                actor=os_actor(),
                anew=options["anew"],
            )
            count += done.rebuilt
        self.answer({"rebuilt": count}, options, f"{count:,} vectors made anew.")

    def fulltext(self, options: dict[str, Any]) -> None:
        """Make full text anew."""
        using, tenants = database(options), list(_tenants(options))
        done = full_text_anew(using=using, tenants=tenants, anew=options["anew"])
        line = f"{done.seen:,} records, {done.changed:,} with other index texts."
        self.answer(asdict(done), options, line)

    def switch(self, options: dict[str, Any]) -> None:
        """Let another space answer."""
        switching.switch(self, options)

    def recount(self, options: dict[str, Any]) -> None:
        """Count the vectors anew."""
        using, space = database(options), _space(options)
        count = sum(
            indexing.recount(using=using, tenant=tenant, space=space)
            for tenant in _tenants(options)
        )
        self.answer({"corrected": count}, options, f"{count:,} scopes were off.")

    def calibrate(self, options: dict[str, Any]) -> None:
        """Measure what both scans cost here."""
        advice = advise(
            using=database(options),
            space=_space(options),
            tenants=_tenants(options),
            stream=self.progress_stream(),
            silent=options["verbosity"] < 1,
        )
        self.answer(advice.as_json(), options, *advice.lines())

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
        "--m", type=between(2, 100), help=f"Links of a node ({indexing.M})."
    )
    parser.add_argument(
        "--ef-construction",
        type=between(4, 1_000),
        help="Candidates while building, at least twice --m "
        f"({indexing.EF_CONSTRUCTION}).",
    )


def _add_memory(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--memory",
        type=between(1, 1_048_576),
        default=256,
        metavar="MB",
        help="maintenance_work_mem while building, in megabytes (256).",
    )


def _add_anew(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--anew",
        action="store_true",
        help="From the first record on, where an earlier one was stopped.",
    )


def _parameters(options: dict[str, Any]) -> dict[str, Any]:
    m, ef_construction = options["m"], options["ef_construction"]
    if (ef_construction or indexing.EF_CONSTRUCTION) < 2 * (m or indexing.M):
        message = "--ef-construction must be at least twice --m."
        raise CommandError(message, returncode=USAGE)
    return {"m": m, "ef_construction": ef_construction}


def _space(options: dict[str, Any]) -> indexing.Space:
    alias = options["alias"]
    space = indexing.find_active(using=database(options), alias=alias)
    if space is None:
        message = "No vectors yet: the space is made when something is remembered."
        raise Invalid(message, field="alias")
    return space


def _tenants(options: dict[str, Any]) -> Iterator[str]:
    if tenant := known_tenant(options):
        return iter([tenant])
    return indexing.tenants(using=database(options))
