"""``prism_memory_retention``: delete what the policies of retention say."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from typing import Any, Final

from django.core.management.base import CommandError, CommandParser
from django.utils import timezone

from prism_memory import indexing
from prism_memory.conf import Settings, settings
from prism_memory.governance.retention import (
    Swept,
    list_policies,
    preview_policies,
    rules_of,
    sweep_all,
)
from prism_memory.management.command import FAILED, MemoryCommand, os_actor, table
from prism_memory.management.options import (
    add_common,
    add_tenant,
    between,
    database,
    known_tenant,
)
from prism_memory.types import Preview, Scope

SWEPT: Final = ("tenant", "policy", "ended", "deleted", "kept", "scopes")
TOLD: Final = ("tenant", "policy", "due", "kept", "scopes", "complete")
COUNTS: Final = ("deleted", "kept", "scopes")


class Command(MemoryCommand):
    """Apply the policies of retention, or tell what they would do."""

    help = "Delete what the policies of retention say, but for what a hold keeps."
    examples = """\
examples:
  manage.py prism_memory_retention --dry-run
  manage.py prism_memory_retention --tenant acme
  manage.py prism_memory_retention --json

Beat does the same each night. Stopped in the middle, the next goes on from there.

exit codes:
  0  done
  1  it was refused, or others kept rows locked, or took the work up
  2  wrong usage
"""

    def add_arguments(self, parser: CommandParser) -> None:
        add_tenant(parser, "Only this tenant's policies; all if not given.")
        parser.add_argument(
            "--dry-run",
            action="store_true",
            help="Change nothing, and tell what would go.",
        )
        parser.add_argument(
            "--batch",
            type=between(1, int(Settings.RETENTION_BATCH.maximum or 0)),
            help="Records of one transaction, where 1,000 are the most;"
            " PRISM_MEMORY['RETENTION_BATCH'] when not given.",
        )
        parser.add_argument(
            "--seconds",
            type=between(1, 86_400),
            default=60,
            help="With --dry-run, for each tenant (60).",
        )
        add_common(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        with self.refusals(interrupted="Stopped. The next goes on from there."):
            self.tell(options) if options["dry_run"] else self.sweep(options)

    def tell(self, options: dict[str, Any]) -> None:
        """Tell what would go."""
        using = database(options)
        found = [
            {"tenant": tenant, **_told(one)}
            for tenant in _tenants(options)
            for one in preview_policies(
                using=using,
                scope=Scope(tenant),
                at=timezone.now(),
                max_seconds=options["seconds"],
            )
        ]
        for name in _keeping_nothing(using, {row["tenant"] for row in found}):
            self.aside(f"{name}: 0 keeps nothing; all that it is about goes.")
        said = [row | {"complete": "yes" if row["complete"] else "no"} for row in found]
        rows = [[row[name] for name in TOLD] for row in said]
        self.answer(found, options, *_lines(TOLD, rows))

    def sweep(self, options: dict[str, Any]) -> None:
        """Apply the policies."""
        using = database(options)
        done = sweep_all(
            using=using,
            tenants=_tenants(options),
            actor=os_actor(),
            batch=options["batch"] or settings.RETENTION_BATCH,
        )
        names = _names(using, {one.tenant for one in done.swept})
        found = [_swept(one, names) for one in done.swept]
        rows = [[row[name] for name in SWEPT] for row in found]
        self.answer(found, options, *_lines(SWEPT, rows))
        if done.swept and done.swept[-1].ended == "elsewhere":
            message = "Another process took the work up, and does the rest."
            raise CommandError(message, returncode=FAILED)


def _tenants(options: dict[str, Any]) -> Iterable[str]:
    tenant = known_tenant(options)
    return indexing.tenants(using=database(options)) if tenant is None else [tenant]


def _names(using: str, tenants: Iterable[str]) -> dict[uuid.UUID, str]:
    return {
        policy.id: policy.name
        for tenant in tenants
        for policy in list_policies(using=using, scope=Scope(tenant))
    }


def _keeping_nothing(using: str, tenants: set[str]) -> list[str]:
    """Return tenant and name of the policies in force with a limit of 0."""
    return [
        f"{tenant} / {policy.name}"
        for tenant in sorted(tenants)
        for policy in list_policies(using=using, scope=Scope(tenant))
        if policy.enabled and rules_of(policy).keeps_nothing
    ]


def _swept(one: Swept, names: dict[uuid.UUID, str]) -> dict[str, Any]:
    counts = {name: one.counts.get(name, 0) for name in COUNTS}
    return {
        "tenant": one.tenant,
        "policy": names.get(one.policy_id, ""),
        "policy_id": one.policy_id,
        "run_id": one.run_id,
        "ended": one.ended,
        **counts,
    }


def _told(one: Preview) -> dict[str, Any]:
    return {
        "policy": one.name,
        "policy_id": one.policy_id,
        "due": one.due,
        "kept": one.kept,
        "scopes": one.counted,
        "complete": one.complete,
    }


def _lines(headers: tuple[str, ...], rows: list[list[object]]) -> list[str]:
    return table(headers, rows) if rows else ["No policy is in force."]
