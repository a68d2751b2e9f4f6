"""``prism_memory_doctor``: what is wrong with an installation, and mended if wished."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from prism_memory import indexing
from prism_memory.management.command import FAILED, MemoryCommand, counted
from prism_memory.management.doctoring import PARTS, lines, look
from prism_memory.management.options import (
    add_common,
    add_tenant,
    database,
    known_tenant,
)


class Command(MemoryCommand):
    """Look at an installation."""

    help = "Look for what is wrong with an installation, and mend it with --fix."
    examples = """\
examples:
  manage.py prism_memory_doctor
  manage.py prism_memory_doctor --tenant acme --json
  manage.py prism_memory_doctor --part index --fix

exit codes:
  0    nothing is wrong, or all of it is mended
  1    something is wrong
  2    wrong usage
  130  stopped by Ctrl-C
"""

    def add_arguments(self, parser: CommandParser) -> None:
        add_common(parser)
        add_tenant(parser, "Only this tenant's rows; all if not given.")
        parts = "; ".join(f"{name}: {part.meaning}" for name, part in PARTS.items())
        parser.add_argument(
            "--part",
            choices=sorted(PARTS),
            action="append",
            help=f"Only this part; repeatable. {parts}.",
        )
        parser.add_argument(
            "--fix",
            action="store_true",
            help="Mend what can be mended online and without a loss.",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        with self.refusals():
            using, tenant = database(options), known_tenant(options)
            names = [tenant] if tenant else list(indexing.tenants(using=using))
            found = look(
                using=using,
                names=options["part"] or sorted(PARTS),
                tenants=names,
                fix=options["fix"],
            )
            left = sum(one.is_left for one in found)
            answer = {"left": left, "findings": [one.as_json() for one in found]}
            self.answer(answer, options, *lines(found))
        if left:
            message = f"{counted(left, 'finding')} left."
            raise CommandError(message, returncode=FAILED)
