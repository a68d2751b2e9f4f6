"""The actions of ``prism_memory_index`` that change which space answers."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from django.utils import timezone

from prism_memory import indexing
from prism_memory.management import beside
from prism_memory.management.beside import Beside, Builder
from prism_memory.management.command import FAILED, MemoryCommand, os_actor
from prism_memory.management.options import between, database, known_tenant
from prism_memory.management.situated import follow_setting

MOST_QUESTIONS = 200


def add_beside_options(parser: argparse.ArgumentParser) -> None:
    """Add what a rebuild into another space takes."""
    parser.add_argument(
        "--to",
        metavar="ENTRY",
        help="Entry of EMBEDDERS: build a space of it beside the one that answers.",
    )
    parser.add_argument(
        "--switch",
        action="store_true",
        help="With --to: let it answer once it is whole.",
    )
    parser.add_argument(
        "--queries",
        type=Path,
        metavar="FILE",
        help="With --to: questions to compare both spaces by, one a line; words of"
        " stored texts when not given.",
    )
    parser.add_argument(
        "--samples",
        type=between(0, MOST_QUESTIONS),
        default=20,
        metavar="N",
        help="With --to: so many of those, 0 for none (20).",
    )


def add_switch_options(parser: argparse.ArgumentParser) -> None:
    """Add what a switch takes."""
    parser.add_argument(
        "--back",
        action="store_true",
        help="To the space that answered before; first it gets what was written since.",
    )
    parser.add_argument(
        "--now",
        action="store_true",
        help="Also where it lacks vectors or its index: recall then says so.",
    )
    parser.add_argument("--reason", default="", help="For the audit.")


def rebuild_beside(command: MemoryCommand, options: dict[str, Any]) -> None:
    """Build a space of another embedder; switch to it where that is asked for."""
    using, alias = database(options), options["alias"]
    tenant = known_tenant(options)
    if tenant and options["switch"]:
        message = "--switch is for all tenants: leave --tenant out."
        raise CommandError(message, returncode=FAILED)
    questions = asked(options["queries"])
    active = beside.active_of(using=using, alias=alias)
    space = indexing.build_space(
        using=using,
        alias=alias,
        backend=options["to"],
        actor=os_actor(),
        at=timezone.now(),
    )
    builder = _builder(command, options, space, tenant)
    follow_setting(using=using, tenants=builder.tenants, all_of_them=not tenant)
    done = builder.whole(active)
    if not tenant:
        memory = options["memory"]
        beside.ensure_index(using=using, active=active, space=space, memory=memory)
    done = replace(done, agreement=_agreement(options, active, builder, questions))
    if options["switch"]:
        beside.switch(using=using, alias=alias, now=False, reason="")
        done = replace(done, switched=True)
    command.answer(done.as_json(), options, *done.lines())


def switch(command: MemoryCommand, options: dict[str, Any]) -> None:
    """Let another space answer."""
    using, alias = database(options), options["alias"]
    done: Beside | None = None
    if options["back"]:
        active = beside.active_of(using=using, alias=alias)
        space = indexing.reopen_space(
            using=using, alias=alias, actor=os_actor(), at=timezone.now()
        )
        if options["now"]:
            beside.queue_all(using=using, space=space)
        else:
            done = _builder(command, options, space, None).whole(active)
            memory = options["memory"]
            beside.ensure_index(using=using, active=active, space=space, memory=memory)
    space = beside.switch(
        using=using, alias=alias, now=options["now"], reason=options["reason"]
    )
    found = {"space": space.id, "alias": alias, "embedder": str(space.identity)}
    caught = f" {done.filled + done.drained:,} were caught up." if done else ""
    line = f"Space {space.id} ({space.identity}) answers for {alias}.{caught}"
    command.answer(found, options, line)


def drop_space(command: MemoryCommand, options: dict[str, Any]) -> None:
    """Drop a space that does not answer."""
    space_id: int = options["space"]
    count = indexing.drop_space(
        using=database(options),
        space_id=space_id,
        actor=os_actor(),
        at=timezone.now(),
    )
    line = f"Space {space_id} is dropped, with {count:,} vectors."
    command.answer({"space": space_id, "vectors": count}, options, line)


def asked(path: Path | None) -> list[str] | None:
    """Return the questions of a file, a line each.

    Raises:
        CommandError: It cannot be read, or holds none, or too many.
    """
    if path is None:
        return None
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        message = f"--queries: {path} cannot be read ({type(error).__name__})."
        raise CommandError(message, returncode=FAILED) from error
    questions = [line.strip() for line in lines if line.strip()]
    if not 0 < len(questions) <= MOST_QUESTIONS:
        message = f"--queries: {path} must hold 1 to {MOST_QUESTIONS} questions."
        raise CommandError(message, returncode=FAILED)
    return questions


def _builder(
    command: MemoryCommand,
    options: dict[str, Any],
    space: indexing.Space,
    tenant: str | None,
) -> Builder:
    using = database(options)
    return Builder(
        using=using,
        space=space,
        tenants=beside.names_of(tenant, indexing.tenants(using=using)),
        stream=command.progress_stream(),
        silent=options["verbosity"] < 1,
    )


def _agreement(
    options: dict[str, Any],
    active: indexing.Space,
    builder: Builder,
    questions: list[str] | None,
) -> indexing.Agreement | None:
    if questions is None and not options["samples"]:
        return None
    return beside.compared(
        using=builder.using,
        active=active,
        space=builder.space,
        tenants=builder.tenants,
        questions=questions,
        samples=options["samples"],
    )
