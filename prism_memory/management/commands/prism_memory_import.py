"""``prism_memory_import``: conversations in a file become records."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import IO, Any

from django.core.management.base import CommandError, CommandParser

from prism_memory import ingest
from prism_memory.conf import Limits
from prism_memory.ingest import loading
from prism_memory.ingest.jsonl import LINE_BYTES
from prism_memory.management import restoring
from prism_memory.management.command import FAILED, MemoryCommand, os_actor
from prism_memory.management.draining import drain_tenants
from prism_memory.management.options import (
    USAGE,
    add_common,
    add_tenant,
    between,
    database,
)
from prism_memory.management.progress import Progress
from prism_memory.memory import Memory
from prism_memory.types import Entry, Scope

CHUNK_BYTES = 65_536
TOTAL = 1_000
"""Steps of the bar."""


class Command(MemoryCommand):
    """Import conversations."""

    help = """\
Import conversations: each becomes an owner's memory, each session a source, each turn
a record at the owner's level. Entries are written in batches, each whole or not at
all. A second import changes nothing; one that was stopped goes on where it was.
Of an export (prism_memory_export), what is missing is restored, and nothing that is
there is overwritten.
"""
    examples = """\
examples:
  manage.py prism_memory_import --format locomo locomo10.json --tenant acme
  manage.py prism_memory_import --format locomo locomo10.json --tenant acme \\
      --conversation conv-26 --owner-prefix trial- --embed
  manage.py prism_memory_import --format jsonl chats.jsonl --tenant acme --json
  manage.py prism_memory_import --format export manifest.json --tenant acme \\
      --trust-file

exit codes:
  0    all is stored
  1    the file was refused (the message names the place), or the work failed;
       batches before that place stay
  2    wrong usage
  130  stopped by Ctrl-C; the same command goes on from there
"""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="The file; read twice.")
        parser.add_argument(
            "--format",
            required=True,
            choices=["locomo", "jsonl", "export"],
            help="locomo: an array of conversations; jsonl: one entry a line; export:"
            " a part of an export, or its manifest.json for all of them.",
        )
        add_tenant(parser, "Tenant to write to.", required=True)
        parser.add_argument(
            "--owner-prefix", default="", help="Put before each owner's name."
        )
        parser.add_argument(
            "--limit",
            type=between(1, 10**9),
            help="At most so many conversations (owners, in JSON lines).",
        )
        parser.add_argument(
            "--conversation",
            action="append",
            default=[],
            metavar="ID",
            help="Only this conversation; may be given several times.",
        )
        parser.add_argument(
            "--embed",
            action="store_true",
            help="Embed in this process too, instead of leaving it to a worker.",
        )
        restoring.add_options(parser)
        add_common(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        path: Path = options["file"]
        _check_file(path)
        if options["format"] == "export":
            self._restore(path, options)
            return
        restoring.refuse_options(options)
        again = "Stopped. What is stored stays; the same command goes on from there."
        with self.refusals(interrupted=again):
            selection = ingest.Selection(options["conversation"], options["limit"])
            loaded = self._load(path, selection, options)
            if selection.missing:
                missing = ", ".join(selection.missing)
                message = f"{path}: no conversation {missing} in the file."
                raise CommandError(message, returncode=FAILED)
            if options["embed"]:
                self._embed(options)
        self._answer(loaded, len(selection.seen), options)

    def _load(
        self, path: Path, selection: ingest.Selection, options: dict[str, Any]
    ) -> loading.Loaded:
        with path.open("rb") as file:
            size = path.stat().st_size
            # JSON lines are read to the end whatever is wanted of them.
            few = selection if options["format"] == "locomo" else ingest.Selection()
            bar = Progress(
                self.progress_stream(),
                "Importing",
                TOTAL,
                silent=options["verbosity"] < 1,
            )
            try:
                loaded = loading.load(
                    using=database(options),
                    tenant=options["tenant"],
                    target=loading.fingerprint(path, *_words(options)),
                    actor=os_actor(),
                    items=_read(file, selection, options),
                    write=partial(_remember, database(options)),
                    rows=Limits().batch_entries,
                    progress=lambda loaded: bar.update(
                        _done(file, size, few), f"{loaded.entries:,} entries"
                    ),
                )
                bar.update(bar.total, f"{loaded.entries:,} entries")
            finally:
                bar.close()
            return loaded

    def _restore(self, path: Path, options: dict[str, Any]) -> None:
        again = "Stopped. What is stored stays; the same command goes on from there."
        bar = Progress(
            self.progress_stream(), "Restoring", TOTAL, silent=options["verbosity"] < 1
        )
        with self.refusals(interrupted=again):
            found = restoring.restore_file(path, options, bar)
            if options["embed"]:
                self._embed(options)
        self.answer(found, options, restoring.told(found))

    def _embed(self, options: dict[str, Any]) -> None:
        done = drain_tenants(
            using=database(options),
            alias=None,
            tenants=[options["tenant"]],
            stream=self.progress_stream(),
            silent=options["verbosity"] < 1,
        ).done
        if done.outage:
            message = f"All is stored, but embedding stopped: {done.outage}"
            raise CommandError(message, returncode=FAILED)

    def _answer(
        self, loaded: loading.Loaded, conversations: int, options: dict[str, Any]
    ) -> None:
        found = {
            "tenant": options["tenant"],
            "conversations": conversations,
            "entries": loaded.entries,
            "changed": loaded.changed,
            "resumed_at": loaded.resumed_at,
        }
        lines = [
            f"{loaded.entries:,} entries of {conversations:,} conversations: "
            + (
                f"{loaded.changed:,} new or changed."
                if loaded.changed
                else "no change."
            )
        ]
        if loaded.resumed_at:
            lines.append(
                f"Went on after entry {loaded.resumed_at:,} of an earlier run."
            )
        self.answer(found, options, *lines)


def _check_file(path: Path) -> None:
    """Check that the file can be read twice.

    Raises:
        CommandError: It is not there, is a folder or a pipe, or is kept from us.
    """
    try:
        if not path.exists():
            raise CommandError(f"{path}: no such file.", returncode=USAGE)
        if not path.is_file():
            message = f"{path}: not a regular file; it is read twice."
            raise CommandError(message, returncode=USAGE)
        path.open("rb").close()
    except OSError as error:
        message = f"{path}: cannot be read ({error.strerror})."
        raise CommandError(message, returncode=USAGE) from error


def _done(file: IO[bytes], size: int, selection: ingest.Selection) -> int:
    """Return how much of ``TOTAL`` is done: of the file, or of what is wanted of it.

    Who wants a few conversations reads no further, so the file alone would leave most
    of the bar to the last step.
    """
    wanted = [n for n in (selection.limit, len(selection.names)) if n]
    of_file = file.tell() / size if size else 1.0
    # The last one seen may be at its beginning.
    of_wanted = (len(selection.seen) - 1) / min(wanted) if wanted else 0.0
    return int(TOTAL * max(of_file, of_wanted))


def _words(options: dict[str, Any]) -> list[str]:
    """Return what, beside the file, makes an import the same work."""
    chosen = sorted(options["conversation"])
    return [options["format"], options["owner_prefix"], str(options["limit"]), *chosen]


def _read(
    file: IO[bytes], selection: ingest.Selection, options: dict[str, Any]
) -> Iterator[ingest.Incoming]:
    form = {
        "tenant": options["tenant"],
        "owner_prefix": options["owner_prefix"],
        "selection": selection,
    }
    if options["format"] == "locomo":
        chunks = iter(partial(file.read, CHUNK_BYTES), b"")
        return ingest.read_locomo(chunks, **form)
    lines = iter(partial(file.readline, LINE_BYTES + 1), b"")
    return ingest.read_jsonl(lines, **form)


def _remember(using: str, scope: Scope, entries: list[Entry]) -> int:
    memory = Memory(scope, actor=os_actor(), using=using)
    return len(memory.remember(entries).changed)
