"""``prism_memory_trace``: what was recalled, and why."""

from __future__ import annotations

import uuid
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils import timezone

from prism_memory import indexing, lifecycle
from prism_memory.conf import Settings, settings
from prism_memory.db.tenancy import acting_for
from prism_memory.management.command import FAILED, MemoryCommand, table
from prism_memory.management.options import (
    add_actions,
    add_common,
    add_tenant,
    between,
    database,
    known_tenant,
)
from prism_memory.models import RecallTrace

ACTIONS = {
    "list": "list the latest recalls of a tenant",
    "show": "show one recall: its hits, ranks, scores and timings",
    "prune": "remove the traces whose time is over",
}
LISTED = ("id", "at", "scope", "hits", "strategy", "degraded")
HIT = ("place", "record", "score", "ranks", "signals")


class Command(MemoryCommand):
    """List, show and prune traces of recalls."""

    help = "List, show and prune the traces of recalls. They hold no text."
    examples = """\
examples:
  manage.py prism_memory_trace list --tenant acme --limit 5
  manage.py prism_memory_trace show --tenant acme 0192f0c1-0000-7000-8000-000000000000
  manage.py prism_memory_trace prune --older-than-days 7

The setting TRACES decides which recalls leave a trace, TRACE_DAYS how long it is kept.

exit codes:
  0  done
  1  it was refused, or there is no such trace
  2  wrong usage
"""

    def add_arguments(self, parser: CommandParser) -> None:
        actions = add_actions(parser, ACTIONS)
        add_tenant(actions["list"], "Whose recalls.", required=True)
        actions["list"].add_argument(
            "--limit", type=between(1, 1_000), default=20, help="Rows (20)."
        )
        add_tenant(actions["show"], "Whose recall.", required=True)
        actions["show"].add_argument("trace_id", type=uuid.UUID, metavar="ID")
        add_tenant(actions["prune"], "Only this tenant's; all if not given.")
        actions["prune"].add_argument(
            "--older-than-days",
            type=between(1, int(Settings.TRACE_DAYS.maximum or 0)),
            help="PRISM_MEMORY['TRACE_DAYS'] when not given.",
        )
        for action in actions.values():
            add_common(action)

    def handle(self, *args: Any, **options: Any) -> None:
        with self.refusals():
            getattr(self, options["action"])(options)

    def list(self, options: dict[str, Any]) -> None:
        """List recalls, newest first."""
        rows = RecallTrace.objects.using(database(options)).filter(
            tenant=known_tenant(options)
        )
        latest = rows.order_by("-at", "-id")[: options["limit"]]
        with acting_for(options["tenant"]):
            found = [_described(row) | {"hits": len(row.hits)} for row in latest]
        lines = [[row[name] or None for name in LISTED] for row in found]
        self.answer(found, options, *table(LISTED, lines))

    def show(self, options: dict[str, Any]) -> None:
        """Show one recall."""
        rows = RecallTrace.objects.using(database(options))
        with acting_for(options["tenant"]):
            row = rows.filter(tenant=options["tenant"], id=options["trace_id"]).first()
        if row is None:
            message = "There is no such trace."
            raise CommandError(message, returncode=FAILED)
        found = _described(row) | {
            "hits": row.hits,
            "options": row.options,
            "timings_ms": row.timings_ms,
        }
        pairs = {**found, "options": _pairs(row.options)}
        pairs["timings_ms"] = _pairs(row.timings_ms)
        del pairs["hits"]
        facts = [f"{name}: {value}" for name, value in pairs.items() if value]
        self.answer(found, options, *facts, "", *table(HIT, _hits(row)))

    def prune(self, options: dict[str, Any]) -> None:
        """Remove old traces."""
        using, tenant = database(options), known_tenant(options)
        removed = lifecycle.prune_traces(
            using=using,
            tenants=indexing.tenants(using=using) if tenant is None else [tenant],
            at=timezone.now(),
            days=options["older_than_days"] or settings.TRACE_DAYS,
        )
        self.answer({"removed": removed}, options, f"Traces removed: {removed:,}.")


def _described(row: RecallTrace) -> dict[str, Any]:
    return {
        "id": str(row.id),
        "at": row.at.isoformat(timespec="seconds"),
        "scope": str(row.scope),
        "mode": row.mode,
        "strategy": row.strategy,
        "degraded": row.degraded,
        "actor": row.actor,
        "query_sha256": bytes(row.query_sha256).hex(),
    }


def _hits(row: RecallTrace) -> list[list[object]]:
    return [
        [place, hit["id"], f"{hit['score']:.4f}", *map(_pairs, _numbers(hit))]
        for place, hit in enumerate(row.hits, 1)
    ]


def _numbers(hit: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    return hit["ranks"], hit["signals"]


def _pairs(found: dict[str, Any]) -> str:
    return ", ".join(f"{name} {_value(value)}" for name, value in found.items())


def _value(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
