"""``prism_memory_erase``: erase for good, and prove that nothing is left."""

from __future__ import annotations

import sys
import uuid
from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils import timezone

from prism_memory.governance import erasure
from prism_memory.governance.erasure.leftovers import OUTSIDE
from prism_memory.governance.erasure.position import State
from prism_memory.management.command import FAILED, MemoryCommand, counted, os_actor
from prism_memory.management.options import (
    USAGE,
    add_common,
    add_tenant,
    database,
    known_tenant,
)
from prism_memory.types import Erased, Foreseen, Scope

LEVELS = ("owner", "agent", "thread")


class Command(MemoryCommand):
    """Erase a record, a source, or a scope with all below it."""

    help = """\
Erase a record, a source, a thread, an agent, an owner or a tenant: records, vectors,
links, consents, traces, shares, keys, exports, and all that was derived from the
records, wherever in the tenant it is. What a legal hold keeps stays. Prints the receipt
as JSON. An erasure that was stopped goes on with the same command.
"""
    examples = """\
examples:
  manage.py prism_memory_erase --tenant acme --owner ada --dry-run
  manage.py prism_memory_erase --tenant acme --owner ada --reason "request 12"
  manage.py prism_memory_erase --tenant acme --owner ada --source handbook.pdf --yes
  manage.py prism_memory_erase --tenant acme --owner ada --verify --text-file words.txt

It asks for the name of what goes; where nobody can be asked, as in a script, it is
refused without --yes.

--verify looks for rows of the target and for files of exports that may hold it, and for
each line of --text-file literally: in every column of every table of the app, in the
rows of this tenant, and in the files of its exports. It names tables and columns, never
the words, and says what lies outside of its power.

exit codes:
  0    done; with --verify: nothing is left
  1    it was refused, or something is left
  2    wrong usage
  130  stopped by Ctrl-C; the same command goes on from there
"""

    erased = 0

    def add_arguments(self, parser: CommandParser) -> None:
        add_tenant(parser, "Whose.", required=True)
        for level in LEVELS:
            parser.add_argument(f"--{level}", default="", help=f"Name of the {level}.")
        parser.add_argument("--record", type=uuid.UUID, metavar="ID", help="Only this.")
        parser.add_argument(
            "--source", metavar="KEY", help="Only the source's records."
        )
        parser.add_argument(
            "--dry-run",
            action="store_true",
            help="Count what would go and what holds keep; change nothing.",
        )
        parser.add_argument(
            "--verify", action="store_true", help="Look whether anything is left."
        )
        parser.add_argument(
            "--text-file",
            type=Path,
            metavar="FILE",
            help="With --verify: words or sentences to look for, one a line.",
        )
        parser.add_argument("--reason", default="", help="For the audit; no content.")
        parser.add_argument("--yes", action="store_true", help="Do not ask.")
        add_common(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        if options["verify"] and options["dry_run"]:
            message = "--verify and --dry-run: give one of them."
            raise CommandError(message, returncode=USAGE)
        if options["text_file"] and not options["verify"]:
            message = "--text-file belongs to --verify."
            raise CommandError(message, returncode=USAGE)
        again = "Stopped. The same command goes on from there."
        with self.refusals(interrupted=again):
            known_tenant(options)
            target = _target(options)
            if options["verify"]:
                self._verify(target, options)
            elif options["dry_run"]:
                self._print(_foreseen(erasure.foresee(**target)))
            else:
                self._erase(target, options)

    def _erase(self, target: dict[str, Any], options: dict[str, Any]) -> None:
        if not options["yes"]:
            self._ask(target)
        done = erasure.erase(
            **target,
            actor=os_actor(),
            at=timezone.now(),
            reason=options["reason"],
            progress=self._progress,
        )
        self._print(_receipt(done))
        if any(done.kept.values()):
            self.aside("Holds keep some of it; the receipt counts that.")

    def _ask(self, target: dict[str, Any]) -> None:
        """Show the effect and have the name typed; without a terminal, refuse.

        Raises:
            CommandError: Nobody can answer, or the answer is another.
        """
        if not sys.stdin.isatty():
            message = "Nobody can be asked here; give --yes."
            raise CommandError(message, returncode=USAGE)
        name = _name(target)
        seen = erasure.foresee(**target)
        self.aside(f"This erases {_told(seen)} for good.")
        if kept := seen.kept.get("records", 0) + seen.kept.get("derived", 0):
            self.aside(f"Holds keep {counted(kept, 'record')}.")
        if input(f"Type {name} to go on: ") != name:
            message = "Nothing was erased."
            raise CommandError(message, returncode=FAILED)

    def _verify(self, target: dict[str, Any], options: dict[str, Any]) -> None:
        words: list[str] = []
        if options["text_file"]:
            try:
                words = options["text_file"].read_text("utf-8-sig").splitlines()
            except (OSError, UnicodeDecodeError) as error:
                message = f"--text-file cannot be read ({type(error).__name__})."
                raise CommandError(message, returncode=USAGE) from None
            if not any(map(str.strip, words)):
                message = "--text-file holds no word."
                raise CommandError(message, returncode=USAGE)
        left = erasure.leftovers(**target, words=words)
        found = [asdict(one) for one in left]
        self._print({"clean": not left, "left": found, "outside": OUTSIDE})
        if left:
            message = f"Something is left in {counted(len(left), 'place')}."
            raise CommandError(message, returncode=FAILED)

    def _progress(self, state: State) -> None:
        # Steps that take no record are not worth a line.
        if state.records != self.erased:
            self.erased = state.records
            self.aside(f"{counted(self.erased, 'record')} erased")

    def _print(self, found: dict[str, Any]) -> None:
        self.answer(found, {"json": True})


def _target(options: dict[str, Any]) -> dict[str, Any]:
    names = (options[level] for level in ("tenant", *LEVELS))
    return {
        "using": database(options),
        "scope": Scope(*names),
        "record_id": options["record"],
        "source_key": options["source"],
    }


def _name(target: dict[str, Any]) -> str:
    """Return what must be typed: the name of what goes."""
    scope: Scope = target["scope"]
    own = str(target["record_id"] or target["source_key"] or "")
    return own or scope.thread or scope.agent or scope.owner or scope.tenant


def _told(seen: Foreseen) -> str:
    totals = seen.totals or {"records": 0}
    return ", ".join(counted(n, name.removesuffix("s")) for name, n in totals.items())


def _receipt(done: Erased) -> dict[str, Any]:
    found = asdict(done)
    found["level"] = done.level.value
    return {name: _plain(value) for name, value in found.items()}


def _foreseen(seen: Foreseen) -> dict[str, Any]:
    return {**asdict(seen), "level": seen.level.value}


def _plain(value: object) -> object:
    return str(value) if isinstance(value, uuid.UUID) else value
