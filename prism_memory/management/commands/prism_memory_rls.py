"""``prism_memory_rls``: PostgreSQL's row-level security around every tenant's rows."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django.core.management.base import CommandParser

from prism_memory.conf import settings
from prism_memory.governance import row_security
from prism_memory.governance.row_security import Guard
from prism_memory.management.command import MemoryCommand, table
from prism_memory.management.options import add_actions, add_common, database

ACTIONS = {
    "enable": "put every tenant's table behind a policy, for its owner too",
    "disable": "take the policies off",
    "status": "say how each table is guarded, and whether your role is bound",
}
LISTED = ("table", "enabled", "forced", "policy", "owner")


class Command(MemoryCommand):
    """Switch row-level security on and off, and tell how it stands."""

    help = "Switch PostgreSQL's row-level security on and off, and tell how it stands."
    examples = """\
examples:
  manage.py prism_memory_rls enable --role site
  manage.py prism_memory_rls status
  manage.py prism_memory_rls disable

Run it as the owner of the tables. The site connects as another role, which --role
grants what it needs, and has PRISM_MEMORY["ROW_SECURITY"] = True. Run enable again
after migrations that add tables.

exit codes:
  0  done
  1  it was refused
  2  wrong usage
"""

    def add_arguments(self, parser: CommandParser) -> None:
        actions = add_actions(parser, ACTIONS)
        actions["enable"].add_argument(
            "--role", default="", help="Role of the site, which is granted its rights."
        )
        actions["enable"].add_argument(
            "--leakproof-search",
            action="store_true",
            help="Let full text use its index under the policies (superuser).",
        )
        for action in actions.values():
            add_common(action)

    def handle(self, *args: Any, **options: Any) -> None:
        with self.refusals():
            getattr(self, options["action"])(options)

    def enable(self, options: dict[str, Any]) -> None:
        """Put the tables behind the policies."""
        guard = row_security.enable(
            using=database(options),
            role=options["role"],
            leakproof=options["leakproof_search"],
        )
        self._tell(guard, options)

    def disable(self, options: dict[str, Any]) -> None:
        """Take the policies off."""
        self._tell(row_security.disable(using=database(options)), options)

    def status(self, options: dict[str, Any]) -> None:
        """Tell how it stands."""
        self._tell(row_security.status(using=database(options)), options)

    def _tell(self, guard: Guard, options: dict[str, Any]) -> None:
        found = {**asdict(guard), "on": guard.on, "setting": settings.ROW_SECURITY}
        rows = [
            [one.name, one.enabled, one.forced, one.policy, one.owner]
            for one in guard.tables
        ]
        self.answer(found, options, *table(LISTED, rows), "", *_lines(guard))


def _lines(guard: Guard) -> list[str]:
    lines = [f"Row-level security is {'on' if guard.on else 'not on everywhere'}."]
    if guard.role.unbound:
        lines.append(f"It does not bind {guard.role.name}: {guard.role.unbound}.")
    if guard.on and not settings.ROW_SECURITY:
        lines.append("PRISM_MEMORY['ROW_SECURITY'] is off: the site would see no row.")
    if guard.on and not guard.leakproof:
        lines.append(
            "Full text reads a scope's rows one by one under the policies; see"
            " --leakproof-search."
        )
    return lines
