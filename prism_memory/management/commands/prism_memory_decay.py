"""``prism_memory_decay``: put aside facts that fade."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from django.core.management.base import CommandParser

from prism_memory import indexing
from prism_memory.governance.decay import decay
from prism_memory.management.command import MemoryCommand, os_actor, table
from prism_memory.management.options import (
    add_common,
    add_tenant,
    database,
    known_tenant,
)

TOLD: Final = ("tenant", "ended", "faded", "evicted", "kept", "scopes")


class Command(MemoryCommand):
    """Put aside what fades, and what is over a scope's capacity."""

    help = "Archive facts that fade, as the settings say; nothing is deleted."
    examples = """\
examples:
  manage.py prism_memory_decay
  manage.py prism_memory_decay --tenant acme --json

PRISM_MEMORY['DECAY_BELOW'] and ['FACT_CAPACITY'] say what fades; both are off at first.
Beat does the same each night. Stopped in the middle, the next goes on from there.

exit codes:
  0  done
  1  it was refused
  2  wrong usage
"""

    def add_arguments(self, parser: CommandParser) -> None:
        add_tenant(parser, "Only this tenant's facts; all if not given.")
        add_common(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        with self.refusals(interrupted="Stopped. The next goes on from there."):
            using, actor = database(options), os_actor()
            done = [
                decay(using=using, tenant=tenant, actor=actor)
                for tenant in _tenants(options)
            ]
            found = [
                {"tenant": one.tenant, "ended": one.ended}
                | {name: one.counts.get(name, 0) for name in TOLD[2:]}
                for one in done
            ]
            rows = [[row[name] for name in TOLD] for row in found]
            self.answer(found, options, *table(TOLD, rows))


def _tenants(options: dict[str, Any]) -> Iterable[str]:
    tenant = known_tenant(options)
    return indexing.tenants(using=database(options)) if tenant is None else [tenant]
