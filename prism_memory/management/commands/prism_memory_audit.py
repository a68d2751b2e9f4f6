"""``prism_memory_audit``: seal the audit, look whether it was edited, prune it."""

from __future__ import annotations

import argparse
import uuid
from collections.abc import Sequence
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils import timezone

from prism_memory import governance
from prism_memory.governance import Findings
from prism_memory.management.auditing import (
    heads_of,
    line,
    name,
    sealed,
    told,
    trails_of,
    verified,
)
from prism_memory.management.command import FAILED, MemoryCommand, counted, os_actor
from prism_memory.management.options import (
    USAGE,
    add_actions,
    add_common,
    add_tenant,
    between,
    database,
)

ACTIONS = {
    "verify": "look whether events, seals and records are as the app wrote them",
    "seal": "seal the events that no seal is over yet",
    "head": "print the end of each chain, to be kept outside the database",
    "prune": "delete old events; their seals stay",
    "sign": "sign records that have no signature yet",
}
DAYS_AT_MOST = 36_500


class Command(MemoryCommand):
    """Seal, verify and prune the audit; sign what was stored before there was a key."""

    help = "Seal, verify and prune the audit trail, and the integrity of records."
    examples = """\
examples:
  manage.py prism_memory_audit seal --content
  manage.py prism_memory_audit head >> /mnt/elsewhere/heads.jsonl
  manage.py prism_memory_audit verify --content --head /mnt/elsewhere/heads.jsonl
  manage.py prism_memory_audit prune --tenant acme --older-than-days 730
  manage.py prism_memory_audit sign --tenant acme

Without --tenant, the trails of all tenants and of the installation itself.

exit codes:
  0  done, and nothing is wrong
  1  something is wrong, or it was refused
  2  wrong usage
"""

    def add_arguments(self, parser: CommandParser) -> None:
        actions = add_actions(parser, ACTIONS)
        for action_name, action in actions.items():
            of: Any = action.add_mutually_exclusive_group()
            add_tenant(of, "Only this tenant's.")
            if action_name != "sign":
                of.add_argument(
                    "--installation",
                    action="store_true",
                    help="Only the trail of the installation itself.",
                )
            add_common(action)
        _add_options(actions)

    def handle(self, *args: Any, **options: Any) -> None:
        with self.refusals():
            getattr(self, options["action"])(options)

    def verify(self, options: dict[str, Any]) -> None:
        """Look, and fail if anything is wrong."""
        heads = heads_of(options["head"])
        found = [
            governance.verify(
                using=database(options),
                tenant=tenant,
                heads=heads,
                content=options["content"] and tenant != "",
            )
            for tenant in trails_of(options, heads)
        ]
        lines = [each for one in found for each in verified(one)]
        self.answer([one.as_json() for one in found], options, *lines)
        _fail([one.findings for one in found])

    def seal(self, options: dict[str, Any]) -> None:
        """Seal, and fail if records were removed or set back."""
        using = database(options)
        made = [
            one
            for tenant in trails_of(options)
            for one in governance.seal(
                using=using,
                tenant=tenant,
                at=timezone.now(),
                content=options["content"] and tenant != "",
                actor=os_actor(),
            )
        ]
        found = [sealed(one) for one in made]
        lines = [
            f"{name(one.tenant)}: seal {one.number} over {one.events:,} events"
            f"{', signed' if one.signed else ''}."
            for one in made
        ]
        listed = [finding for one in made for finding in one.findings]
        lines += map(line, listed)
        self.answer(found, options, *(lines or ["Nothing is new."]))
        if wrong := sum(one.violations for one in made):
            raise CommandError(told(wrong), returncode=FAILED)

    def head(self, options: dict[str, Any]) -> None:
        """Print heads, one on a line."""
        using = database(options)
        heads = (governance.head(using=using, tenant=t) for t in trails_of(options))
        found = [head for head in heads if head is not None]
        # Lines also with --json: they are JSON, and are to be kept one after another.
        for head in found:
            self.stdout.write(head.line())
        if not found:
            message = "Nothing is sealed yet."
            raise CommandError(message, returncode=FAILED)

    def prune(self, options: dict[str, Any]) -> None:
        """Delete old events."""
        using = database(options)
        found = {
            tenant: governance.prune(
                using=using,
                tenant=tenant,
                older_than_days=options["older_than_days"],
                actor=os_actor(),
                at=timezone.now(),
                reason=options["reason"],
            )
            for tenant in trails_of(options)
        }
        rows = [{"tenant": t, **vars(one)} for t, one in found.items()]
        lines = [
            f"{name(tenant)}: {one.events:,} events under {one.seals:,} seals deleted."
            for tenant, one in found.items()
        ]
        self.answer(rows, options, *lines)

    def sign(self, options: dict[str, Any]) -> None:
        """Sign records, and fail if some were left."""
        using = database(options)
        options["installation"] = False
        if options["record"]:
            self._vouch(using, options)
            return
        trails = list(trails_of(options))
        found = [
            governance.sign_records(
                using=using,
                tenant=tenant,
                actor=os_actor(),
                now=timezone.now,
                rotate=options["rotate"],
                again=options["again"],
                reason=options["reason"],
            )
            for tenant in trails
            if tenant
        ]
        if "" in trails:
            governance.tell_again(
                using=using, tenant="", actor=os_actor(), at=timezone.now()
            )
        rows = [{**one.findings.as_json(), **one.counts} for one in found]
        lines = [
            f"{name(one.findings.tenant)}: {one.signed:,} signed,"
            f" {one.rotated:,} by a new key."
            for one in found
        ]
        listed = [finding for one in found for finding in one.findings.listed]
        self.answer(rows, options, *lines, *map(line, listed))
        _fail([one.findings for one in found])

    def _vouch(self, using: str, options: dict[str, Any]) -> None:
        if options["tenant"] is None:
            message = "--record needs --tenant."
            raise CommandError(message, returncode=USAGE)
        count = governance.vouch(
            using=using,
            tenant=options["tenant"],
            record_ids=options["record"],
            actor=os_actor(),
            at=timezone.now(),
            reason=options["reason"],
        )
        self.answer({"signed": count}, options, _signed(count))


def _add_options(actions: dict[str, argparse.ArgumentParser]) -> None:
    for of, does in (("verify", "Look at the records too."), ("seal", _CONTENT)):
        actions[of].add_argument("--content", action="store_true", help=does)
    actions["verify"].add_argument(
        "--head", metavar="FILE", help="Ends of chains that head printed; - is stdin."
    )
    actions["prune"].add_argument(
        "--older-than-days",
        type=between(1, DAYS_AT_MOST),
        required=True,
        metavar="DAYS",
        help="Age that all events of a seal must have passed.",
    )
    actions["sign"].add_argument(
        "--rotate", action="store_true", help="Sign anew what an older key signed."
    )
    actions["sign"].add_argument(
        "--again",
        action="store_true",
        help="Vouch for what has no signature although all was signed once.",
    )
    actions["sign"].add_argument(
        "--record",
        action="append",
        type=uuid.UUID,
        metavar="ID",
        help="Vouch for this record as it is; repeatable, with a --reason.",
    )
    for of in ("prune", "sign"):
        actions[of].add_argument(
            "--reason", default="", help="Why, for the audit; no content."
        )


_CONTENT = "Seal also which records there are, and at which versions."


def _fail(found: Sequence[Findings]) -> None:
    if wrong := sum(one.count for one in found):
        raise CommandError(told(wrong), returncode=FAILED)


def _signed(count: int) -> str:
    they_are = "it is" if count == 1 else "they are"
    return f"{counted(count, 'record')} signed as {they_are}."
