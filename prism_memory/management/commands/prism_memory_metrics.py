"""``prism_memory_metrics``: how it runs, for Prometheus, without a web server."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils import timezone

from prism_memory import metrics
from prism_memory.management.command import FAILED, MemoryCommand
from prism_memory.management.options import database

READABLE = 0o644
"""Another user, the exporter's, reads the file."""


class Command(MemoryCommand):
    """Print the gauges, or write them for node_exporter's textfile collector."""

    help = "Print how it runs, in Prometheus' text format."
    examples = """\
examples:
  manage.py prism_memory_metrics
  manage.py prism_memory_metrics --output /var/lib/node_exporter/prism_memory.prom
  manage.py prism_memory_metrics --keep

Every tenant is read, however long that takes. Counters are those of the processes that
share PROMETHEUS_MULTIPROC_DIR; without it there are gauges alone.

exit codes:
  0  done
  1  it was refused, or the file cannot be written
  2  wrong usage
"""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--output", type=Path, metavar="FILE", help="Write it there, at one stroke."
        )
        parser.add_argument(
            "--keep",
            action="store_true",
            help="Keep the reading for the admin's charts instead, as beat does.",
        )
        parser.add_argument(
            "--database",
            default=None,
            help="Database alias; PRISM_MEMORY['DATABASE'] when not given.",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        with self.refusals():
            using = database(options)
            if options["keep"]:
                count = metrics.take_readings(using=using, at=timezone.now())
                self.stdout.write(f"{count:,} tenants read.")
                return
            text = metrics.exposed(using=using, whole=True).decode()
            if options["output"] is None:
                self.stdout.write(text, ending="")
            else:
                replace(options["output"], text)


def replace(path: Path, text: str) -> None:
    """Write a file so that who reads it meanwhile sees the old or the new.

    Raises:
        CommandError: It cannot be written.
    """
    try:
        number, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        with open(number, "w", encoding="utf-8") as file:
            file.write(text)
        Path(name).chmod(READABLE)
        os.replace(name, path)
    except OSError as error:
        message = f"{path} cannot be written ({type(error).__name__})."
        raise CommandError(message, returncode=FAILED) from error
