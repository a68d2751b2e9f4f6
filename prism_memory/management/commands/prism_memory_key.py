"""``prism_memory_key``: keys of the HTTP API."""

from __future__ import annotations

import argparse
import datetime as dt
import uuid
from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone

from prism_memory.lifecycle import create_key, revoke_key
from prism_memory.management.command import MemoryCommand, os_actor, table
from prism_memory.management.options import (
    add_actions,
    add_common,
    add_tenant,
    between,
    database,
)
from prism_memory.models import AccessKey
from prism_memory.types import Permission, Scope, Trust

ACTIONS = {
    "create": "make a key and print its token",
    "list": "list keys, without their secrets",
    "revoke": "end a key at once",
}
LEVELS = ("owner", "agent", "thread")
HEADERS = (
    *("id", "label", "scope", "permissions", "trust", "principal", "groups"),
    *("state", "expires", "used"),
)


class Command(MemoryCommand):
    """Make, list and revoke keys."""

    help = "Make, list and revoke the keys of the HTTP API."
    examples = """\
examples:
  TOKEN=$(manage.py prism_memory_key create --tenant acme --owner ada \\
      --label "support agent" --permission read --permission write)
  manage.py prism_memory_key create --tenant acme --label "hr assistant" \\
      --permission read --principal hr-bot --group hr --group managers
  manage.py prism_memory_key list --tenant acme
  manage.py prism_memory_key revoke 0192f0c1-0000-7000-8000-000000000000

The token is printed once, alone on stdout; only its SHA-256 is stored.

exit codes:
  0  done
  1  it was refused; the message names the field
  2  wrong usage
"""

    def add_arguments(self, parser: CommandParser) -> None:
        actions = add_actions(parser, ACTIONS)
        _add_key_options(actions["create"])
        add_tenant(actions["list"], "Only this tenant's; all if not given.")
        actions["revoke"].add_argument("key_id", type=uuid.UUID, metavar="ID")
        for action in actions.values():
            add_common(action)

    def handle(self, *args: Any, **options: Any) -> None:
        with self.refusals():
            getattr(self, options["action"])(options)

    def create(self, options: dict[str, Any]) -> None:
        """Make a key."""
        now = timezone.now()
        days = options["expires_in_days"]
        key, token = create_key(
            using=database(options),
            scope=Scope(options["tenant"], *(options[level] for level in LEVELS)),
            actor=os_actor(),
            label=options["label"],
            permissions=[Permission(given) for given in options["permission"]],
            trust=Trust(options["trust"]),
            at=now,
            expires_at=now + dt.timedelta(days=days) if days else None,
            principal=options["principal"],
            groups=options["group"],
        )
        found = _described(key, now) | {"token": token}
        self.answer(found, options, token)
        self.aside(f"Key {key.id} of {key.scope}. The token is not shown again.")

    def list(self, options: dict[str, Any]) -> None:
        """List keys."""
        keys = AccessKey.objects.using(database(options)).order_by("tenant", "id")
        if options["tenant"]:
            keys = keys.filter(tenant=options["tenant"])
        found = [_described(key, timezone.now()) for key in keys]
        rows = [[_joined(key[name]) for name in HEADERS] for key in found]
        self.answer(found, options, *table(HEADERS, rows))

    def revoke(self, options: dict[str, Any]) -> None:
        """End a key."""
        key_id = options["key_id"]
        revoke_key(
            using=database(options),
            key_id=key_id,
            actor=os_actor(),
            at=timezone.now(),
        )
        self.answer({"id": str(key_id)}, options, f"Key {key_id} is revoked.")


def _add_key_options(parser: argparse.ArgumentParser) -> None:
    add_tenant(parser, "Tenant it opens.", required=True)
    for level in LEVELS:
        parser.add_argument(f"--{level}", default="", help=f"Only this {level}.")
    parser.add_argument(
        "--permission",
        action="append",
        required=True,
        choices=[permission.value for permission in Permission],
        help="What it allows; give it once for each.",
    )
    parser.add_argument(
        "--trust",
        default=Trust.AGENT.value,
        choices=[trust.value for trust in Trust],
        help="Trust class of what is written with it (agent).",
    )
    parser.add_argument(
        "--principal",
        default="",
        help="As whom it reads restricted documents; it reads none, if not given.",
    )
    parser.add_argument(
        "--group",
        action="append",
        default=[],
        help="A group of the principal's; give it once for each.",
    )
    parser.add_argument("--label", required=True, help="For people, in lists.")
    parser.add_argument(
        "--expires-in-days", type=between(1, 36_500), help="Never, if not given."
    )


def _described(key: AccessKey, now: dt.datetime) -> dict[str, Any]:
    return {
        "id": str(key.id),
        "label": key.label,
        "scope": str(key.scope),
        "permissions": key.permissions,
        "trust": key.trust,
        "principal": key.principal,
        "groups": key.groups,
        "state": _state(key, now),
        "expires": _time(key.expires_at),
        "used": _time(key.last_used_at),
    }


def _state(key: AccessKey, now: dt.datetime) -> str:
    if key.revoked_at is not None:
        return "revoked"
    ended = key.expires_at is not None and key.expires_at <= now
    return "expired" if ended else "open"


def _time(at: dt.datetime | None) -> str | None:
    return at.isoformat(timespec="seconds") if at else None


def _joined(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return ", ".join(value)
