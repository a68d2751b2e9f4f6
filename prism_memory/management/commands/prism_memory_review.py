"""``prism_memory_review``: what waits for a person, and their decisions."""

from __future__ import annotations

import argparse
import uuid
from typing import Any, Final

from django.core.management.base import CommandParser

from prism_memory.facts.review_actions import SETTLED_AS
from prism_memory.management.command import MemoryCommand, os_actor, table
from prism_memory.management.options import (
    add_actions,
    add_common,
    add_tenant,
    between,
    database,
    known_tenant,
)
from prism_memory.memory import Memory
from prism_memory.types import ReviewAction, ReviewItem, ReviewWhy, Scope

ACTIONS: Final = {
    "list": "list what waits, the oldest first",
    "accept": "accept a proposal",
    "reject": "retract a proposal, forget a quarantined fact, keep a record held back",
    "validate": "open the gate of what is quarantined",
    "settle": "say what becomes of a claim that meets another, the nearest",
}
LEVELS: Final = ("owner", "agent", "thread")
SHOWN: Final = ("id", "why", "opened", "kind", "trust", "rules", "text")
TEXT_CHARACTERS: Final = 80


class Command(MemoryCommand):
    """List what waits for a person in one scope, and decide about it."""

    help = "List what waits for a person in one scope, and decide about it."
    examples = """\
examples:
  manage.py prism_memory_review list --tenant acme --owner ada --why proposal
  manage.py prism_memory_review accept --tenant acme --owner ada \\
      0192f0c1-0000-7000-8000-000000000000 --reason "asked her"
  manage.py prism_memory_review validate --tenant acme --owner ada --force \\
      0192f0c1-0000-7000-8000-000000000000

A review is of exactly one scope: give all the levels that it has. The admin shows the
evidence and more.

exit codes:
  0  done
  1  it was refused: decided already, still flagged, or there is no such review there
  2  wrong usage
"""

    def add_arguments(self, parser: CommandParser) -> None:
        actions = add_actions(parser, ACTIONS)
        listing = actions.pop("list")
        listing.add_argument(
            "--why",
            choices=[why.value for why in ReviewWhy],
            help="Only what waits for this reason; all if not given.",
        )
        listing.add_argument(
            "--limit", type=between(1, 200), default=50, help="Rows (50)."
        )
        listing.add_argument("--cursor", help="The next_cursor of the page before.")
        for action in actions.values():
            action.add_argument("review_id", type=uuid.UUID, metavar="ID")
            action.add_argument(
                "--reason", default="", help="For the audit; no content."
            )
        actions["validate"].add_argument(
            "--force", action="store_true", help="Although rules match still."
        )
        actions["settle"].add_argument(
            "--verdict",
            required=True,
            choices=[verdict.value for verdict in SETTLED_AS],
            help="Both stand; it is a duplicate; it replaces the other.",
        )
        for action in (listing, *actions.values()):
            _add_scope(action)
            add_common(action)

    def handle(self, *args: Any, **options: Any) -> None:
        with self.refusals():
            if options["action"] == "list":
                self.list(options)
            else:
                self.decide(options)

    def list(self, options: dict[str, Any]) -> None:
        """List what waits."""
        page = _memory(options).facts.reviews(
            why=options["why"], limit=options["limit"], cursor=options["cursor"]
        )
        found = [_described(review) for review in page]
        rows = [[_cell(row[name]) for name in SHOWN] for row in found]
        lines = table(SHOWN, rows) if rows else ["Nothing waits here."]
        self.answer({"items": found, "next_cursor": page.next_cursor}, options, *lines)
        if page.next_cursor:
            self.aside(f"There is more: --cursor {page.next_cursor}")

    def decide(self, options: dict[str, Any]) -> None:
        """Decide about one."""
        done = _memory(options).facts.decide(
            options["review_id"],
            ReviewAction(options.get("verdict") or options["action"]),
            reason=options["reason"],
            force=options.get("force", False),
        )
        found = {
            "id": str(done.id),
            "record": str(done.record_id),
            "why": done.why.value,
            "decision": done.decision.value,
            "replaced": done.replaced,
            "waiting": done.waiting,
        }
        lines = [f"Review {done.id}: {done.decision.value}."]
        if done.replaced:
            lines.append("The fact took the place of the one that it waited for.")
        if done.waiting:
            lines.append("The fact still waits for the one that it is to replace.")
        self.answer(found, options, *lines)


def _add_scope(parser: argparse.ArgumentParser) -> None:
    add_tenant(parser, "Tenant of the scope.", required=True)
    for level in LEVELS:
        parser.add_argument(f"--{level}", default="", help=f"The scope's {level}.")


def _memory(options: dict[str, Any]) -> Memory:
    known_tenant(options)
    scope = Scope(options["tenant"], *(options[level] for level in LEVELS))
    return Memory(scope, actor=os_actor(), using=database(options))


def _described(review: ReviewItem) -> dict[str, Any]:
    fact = review.fact
    return {
        "id": str(review.id),
        "why": review.why.value,
        "opened": review.opened_at.isoformat(timespec="seconds"),
        "record": str(review.item.id),
        "kind": review.item.kind.value,
        "trust": review.item.trust.value,
        "writer": review.item.writer,
        "gate": review.item.gate,
        "gate_reason": review.item.gate_reason,
        "rules": list(dict.fromkeys(marker["rule"] for marker in review.markers)),
        "text": review.item.text,
        "acceptance": fact.acceptance.value if fact else None,
        "evidence": [str(cited) for cited in fact.evidence] if fact else [],
        "pending_supersedes": _id(fact.pending_supersedes) if fact else None,
    }


def _id(value: uuid.UUID | None) -> str | None:
    return None if value is None else str(value)


def _cell(value: Any) -> str:
    """Return a value as a terminal may show it: what it does not print is escaped.

    The text is somebody else's, and may hold what moves the cursor or hides words.
    """
    text = ", ".join(value) if isinstance(value, list) else str(value)
    shown = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)
    cut = len(shown) > TEXT_CHARACTERS
    return f"{shown[: TEXT_CHARACTERS - 1]}…" if cut else shown
