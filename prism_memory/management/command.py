"""What the app's commands share: help with examples, errors, exit codes, actors."""

from __future__ import annotations

import argparse
import contextlib
import getpass
import json
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Final

from django.core.management.base import (
    BaseCommand,
    CommandError,
    CommandParser,
    DjangoHelpFormatter,
    OutputWrapper,
)
from django.core.serializers.json import DjangoJSONEncoder
from django.db import Error, InterfaceError, OperationalError, ProgrammingError
from psycopg.errors import InsufficientPrivilege, UndefinedColumn, UndefinedTable

from prism_memory.errors import PrismMemoryError, StillFlagged
from prism_memory.management.progress import Stream
from prism_memory.types import Actor

FAILED: Final = 1
INTERRUPTED: Final = 130
"""128 and the number of SIGINT, as shells have it."""


class ExampleFormatter(DjangoHelpFormatter, argparse.RawDescriptionHelpFormatter):
    """Keep the lines of the examples as they are."""


class MemoryCommand(BaseCommand):
    """A door from the command line: parses, makes a call, answers."""

    examples: ClassVar[str] = ""

    def create_parser(
        self, prog_name: str, subcommand: str, **kwargs: Any
    ) -> CommandParser:
        return super().create_parser(
            prog_name,
            subcommand,
            formatter_class=ExampleFormatter,
            epilog=self.examples,
            **kwargs,
        )

    @contextlib.contextmanager
    def refusals(self, *, interrupted: str = "Stopped.") -> Iterator[None]:
        """Tell domain errors and Ctrl-C the way commands do.

        Args:
            interrupted: Said after Ctrl-C.

        Raises:
            CommandError: The block raised; the message names the field, if any.
        """
        try:
            yield
        except PrismMemoryError as error:
            field = f" (field: {error.field})" if error.field else ""
            message = f"{error}{field}{_rules_of(error)}"
            raise CommandError(message, returncode=FAILED) from error
        except (OperationalError, InterfaceError, ProgrammingError) as error:
            if told := _of_the_database(error):
                raise CommandError(told, returncode=FAILED) from error
            raise
        except KeyboardInterrupt:
            raise CommandError(interrupted, returncode=INTERRUPTED) from None

    def answer(self, found: Any, options: dict[str, Any], *lines: str) -> None:
        """Print a result: ``found`` as JSON where that was asked for, or the lines."""
        if options["json"]:
            text = json.dumps(
                found, cls=DjangoJSONEncoder, ensure_ascii=False, indent=1
            )
            self.stdout.write(text)
        else:
            self.stdout.write("\n".join(lines))

    def progress_stream(self) -> Stream:
        """Return stderr as progress needs it: no style, no line ends added."""
        return Plain(self.stderr)

    def aside(self, text: str) -> None:
        """Print words for people, beside the result, on stderr."""
        self.stderr.write(text, style_func=str)


def _rules_of(error: PrismMemoryError) -> str:
    """Return which rules of the gate match, where that is what was refused."""
    if not isinstance(error, StillFlagged):
        return ""
    places = [f"{m['rule']} at {m['start']} to {m['end']}" for m in error.markers]
    return f" Rules match: {', '.join(places)}. Who has read it may give --force."


class Plain:
    """Django's wrapper of an output, without its styles and line ends."""

    def __init__(self, stream: OutputWrapper) -> None:
        self.stream = stream

    def write(self, text: str) -> None:
        """Write ``text`` as it is."""
        self.stream.write(text, style_func=str, ending="")

    def flush(self) -> None:
        """Have it shown now."""
        self.stream.flush()

    def isatty(self) -> bool:
        """Tell whether people look at it as it is written."""
        return self.stream.isatty()


def _of_the_database(error: Error) -> str:
    """Return what to tell of a database that is not ready; '' where that is not it.

    The server's own words may hold stored text; ``--traceback`` shows them.
    """
    if isinstance(error.__cause__, (UndefinedTable, UndefinedColumn)):
        return "The tables do not exist, or are of an older version: run migrate."
    if isinstance(error.__cause__, InsufficientPrivilege):
        return "The role that asks may not do this; the owner of the tables may."
    if isinstance(error, ProgrammingError):
        return ""
    return f"The database cannot be asked ({type(error).__name__}); is it up?"


def os_actor() -> Actor:
    """Return the user of the operating system, as the audit names them."""
    try:
        return Actor(f"command:{getpass.getuser()}")
    except (KeyError, OSError):  # a container's user may have no name
        return Actor("command")


def counted(count: int, word: str) -> str:
    """Return ``1 record`` or ``1,204 records``."""
    return f"{count:,} {word}{'' if count == 1 else 's'}"


def table(headers: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    """Return the lines of a plain table; numbers stand to the right."""
    cells = [[_shown(cell) for cell in row] for row in rows]
    columns = range(len(headers))
    widths = [max(len(row[i]) for row in [list(headers), *cells]) for i in columns]
    numeric = [bool(rows) and all(isinstance(r[i], int) for r in rows) for i in columns]

    def line(row: Sequence[str]) -> str:
        padded = (
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(row, widths, numeric, strict=True)
        )
        return "  ".join(padded).rstrip()

    return [line(list(headers)), *map(line, cells)]


def _shown(cell: object) -> str:
    if cell is None:
        return "-"
    return f"{cell:,}" if isinstance(cell, int) else str(cell)
