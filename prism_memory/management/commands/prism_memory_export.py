"""``prism_memory_export``: all that a scope holds, as files."""

from __future__ import annotations

import gzip
import shutil
import sys
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import IO, Any, cast

from django.core.management.base import CommandError, CommandParser
from django.utils import timezone

from prism_memory.errors import Conflict, NotVisible
from prism_memory.governance import export_removal, exports
from prism_memory.management.command import MemoryCommand, counted, os_actor
from prism_memory.management.options import (
    USAGE,
    add_common,
    add_tenant,
    database,
    known_tenant,
)
from prism_memory.memory import Memory
from prism_memory.types import ExportState, Scope


class Command(MemoryCommand):
    """Export a scope, or remove an export."""

    help = """\
Export all that lies at and below a scope, as JSON lines in the storage of
PRISM_MEMORY['EXPORT_STORAGE'], with a manifest that holds counts and SHA-256. Only what
was consented to and is not withheld; redacted once more. An export that was stopped
goes on where it was.
"""
    examples = """\
examples:
  manage.py prism_memory_export --tenant acme --owner ada
  manage.py prism_memory_export --tenant acme --owner ada --output ada.jsonl
  manage.py prism_memory_export --tenant acme --owner ada --output - | wc -l
  manage.py prism_memory_export --tenant acme --owner ada --include-unconsented \\
      --reason "request 12"
  manage.py prism_memory_export --tenant acme --delete 0192f0c1-0000-7000-8000-00000000

With --output the lines are written there, and the storage keeps nothing, nor the file
where it is refused, fails or is stopped: the same command then begins anew.

exit codes:
  0    done
  1    it was refused, or the storage failed; the same command goes on from there
  2    wrong usage, or FILE is there or cannot be written
  130  stopped by Ctrl-C; the same command goes on from there
"""

    def add_arguments(self, parser: CommandParser) -> None:
        add_tenant(parser, "Whose.", required=True)
        for level in ("owner", "agent", "thread"):
            parser.add_argument(f"--{level}", default="", help=f"Name of the {level}.")
        parser.add_argument(
            "--output",
            metavar="FILE",
            help="Write the lines to this file, or to stdout (-), and keep nothing in"
            " the storage. A name that ends in .gz is written as gzip.",
        )
        parser.add_argument(
            "--gzip", action="store_true", help="Write gzip to the storage."
        )
        parser.add_argument(
            "--include-unconsented",
            action="store_true",
            help="Also what no consent was given for: the data subject's legal copy.",
        )
        parser.add_argument("--reason", default="", help="For the audit; no content.")
        parser.add_argument(
            "--delete",
            type=uuid.UUID,
            metavar="RUN",
            help="Remove the files of this export of the tenant instead.",
        )
        add_common(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        if options["output"] == "-" and options["json"]:
            message = "--json and --output - both want stdout."
            raise CommandError(message, returncode=USAGE)
        again = "Stopped. The same command goes on from there."
        if options["output"]:
            again = "Stopped. Nothing is kept."
        with self.refusals(interrupted=again):
            if options["delete"]:
                known_tenant(options)
                self._delete(options)
            else:
                self._export(options)

    def _export(self, options: dict[str, Any]) -> None:
        known_tenant(options)
        if not (output := options["output"]):
            memory = memory_of(options)
            self._tell(self._written(memory, options), options)
            return
        # First the file: one that cannot be written leaves nothing anywhere.
        with opened(output) as target:
            self._tell(self._moved(memory_of(options), target, options), options)

    def _moved(
        self, memory: Memory, target: IO[bytes], options: dict[str, Any]
    ) -> ExportState:
        """Export to the storage, copy that, and keep nothing there, however it ends."""
        begun = self._begun(memory, options)
        with ExitStack() as stack:
            stack.push(partial(keep_nothing, memory, begun.id))
            state = self._carried(memory, begun)
            copy(memory, state, target)
        return state

    def _written(self, memory: Memory, options: dict[str, Any]) -> ExportState:
        return self._carried(memory, self._begun(memory, options))

    def _begun(self, memory: Memory, options: dict[str, Any]) -> ExportState:
        return exports.start_export(
            using=memory.using,
            scope=memory.scope,
            actor=memory.actor,
            at=timezone.now(),
            include_unconsented=options["include_unconsented"],
            compress=options["gzip"],
            reason=options["reason"],
            wakes=False,
        )

    def _carried(self, memory: Memory, begun: ExportState) -> ExportState:
        exports.carry_on(
            using=memory.using, tenant=memory.scope.tenant, run_id=begun.id
        )
        return memory.export_state(begun.id)

    def _tell(self, state: ExportState, options: dict[str, Any]) -> None:
        if options["output"] == "-":
            self.aside(f"{counted(state.records, 'record')}.")
            return
        left = ", ".join(f"{n:,} {name}" for name, n in sorted(state.left_out.items()))
        parts = f"{counted(len(state.parts), 'part')} of export {state.id}"
        where = options["output"] or parts
        lines = [f"{counted(state.records, 'record')} in {where}."]
        lines += [f"Left out: {left}."] if left else []
        self.answer(asdict(state), options, *lines)

    def _delete(self, options: dict[str, Any]) -> None:
        run_id = options["delete"]
        export_removal.delete_run(
            using=database(options),
            tenant=options["tenant"],
            actor=os_actor(),
            run_id=run_id,
            at=timezone.now(),
            reason=options["reason"],
        )
        self.answer({"deleted": str(run_id)}, options, f"Export {run_id} is removed.")


def memory_of(options: dict[str, Any]) -> Memory:
    """Return the scope that is meant, as the operator."""
    names = (options[level] for level in ("tenant", "owner", "agent", "thread"))
    return Memory(Scope(*names), actor=os_actor(), using=database(options))


def keep_nothing(
    memory: Memory,
    run_id: uuid.UUID,
    kind: type[BaseException] | None,
    *_error: object,
) -> None:
    """Remove an export, unless another process took it up: then it is theirs."""
    if kind is None or not issubclass(kind, (Conflict, NotVisible)):
        memory.delete_export(run_id)


def copy(memory: Memory, state: ExportState, target: IO[bytes]) -> None:
    """Write the lines of all parts, one after the other."""
    for number in range(1, len(state.parts) + 1):
        _, file = memory.open_export(state.id, number)
        with file:
            raw = cast("IO[bytes]", file)
            shutil.copyfileobj(
                gzip.GzipFile(fileobj=raw) if state.compress else raw, target
            )


@contextmanager
def opened(output: str) -> Iterator[IO[bytes]]:
    """Give what the lines are written to; a file that is there is not overwritten.

    One that was not written to its end is removed.

    Raises:
        CommandError: It cannot be written.
    """
    if output == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    try:
        with Path(output).open("xb") as file, ExitStack() as undone:
            undone.callback(Path(output).unlink, missing_ok=True)
            if output.endswith(".gz"):
                with gzip.GzipFile(fileobj=file, mode="wb") as compressed:
                    yield cast("IO[bytes]", compressed)
            else:
                yield file
            file.flush()
            undone.pop_all()
    except OSError as error:
        message = f"{output}: cannot be written ({error.strerror})."
        raise CommandError(message, returncode=USAGE) from error
