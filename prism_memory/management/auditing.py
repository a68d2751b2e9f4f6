"""Whose trails ``prism_memory_audit`` looks at, and how it tells what it found."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from prism_memory import governance
from prism_memory.db.tenancy import acting_for
from prism_memory.governance import Finding, Head, Sealed, Verified
from prism_memory.governance.findings import MEANINGS
from prism_memory.management.command import FAILED
from prism_memory.management.options import database
from prism_memory.models import AuditEvent, AuditSeal, Tenant


def heads_of(path: str | None) -> tuple[Head, ...]:
    """Return the heads of a file, or none where no file is given.

    Raises:
        CommandError: It cannot be read.
        Invalid: It holds none.
    """
    if path is None:
        return ()
    try:
        text = sys.stdin.read() if path == "-" else Path(path).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        message = f"--head: cannot read {path}: {type(error).__name__}."
        raise CommandError(message, returncode=FAILED) from None
    return governance.read_heads(text.splitlines())


def trails_of(options: dict[str, Any], heads: Sequence[Head] = ()) -> Iterator[str]:
    """Yield whose trails are meant.

    Raises:
        CommandError: There is none under that name, nor was there ever.
    """
    using, tenant = database(options), options["tenant"]
    if options["installation"]:
        yield ""
        return
    if tenant is None:
        known = list(governance.trails(using=using))
        yield from dict.fromkeys([*known, *(head.tenant for head in heads)])
        return
    with acting_for(tenant):
        there = (
            Tenant.objects.using(using).filter(name=tenant).exists()
            or AuditSeal.objects.using(using).filter(tenant=tenant).exists()
            or AuditEvent.objects.using(using).filter(tenant=tenant).exists()
        )
    if not there and all(head.tenant != tenant for head in heads):
        message = f"--tenant: there is no trail of {tenant!r}."
        raise CommandError(message, returncode=FAILED)
    yield tenant


def name(tenant: str) -> str:
    """Return what a trail is called."""
    return tenant or "(installation)"


def line(finding: Finding) -> str:
    """Return what is wrong, as a line."""
    meaning = MEANINGS[finding.wrong]
    return f"{name(finding.tenant)}: {finding.ref}: {meaning}."


def verified(found: Verified) -> list[str]:
    """Return what a look found, as lines."""
    parts = [
        f"{found.seals:,} seals ({found.signed:,} signed)",
        f"{found.events:,} events",
    ]
    if found.pruned_through:
        parts.append(f"pruned through seal {found.pruned_through:,}")
    if found.unsealed:
        parts.append(f"{found.unsealed:,} events not sealed yet")
    if found.violations:
        parts.append(f"{found.violations:,} violations told of before")
    if found.records is not None:
        parts.append(f"{found.records:,} records")
    if found.unlisted:
        parts.append(f"{found.unlisted:,} of them not sealed yet")
    findings = found.findings
    wrong = "nothing is wrong" if not findings.count else told(findings.count)
    first = f"{name(findings.tenant)}: {', '.join(parts)}: {wrong.rstrip('.')}."
    return [first, *map(line, findings.listed)]


def sealed(one: Sealed) -> dict[str, Any]:
    """Return a seal as JSON has it."""
    return {**vars(one), "findings": [finding.as_json() for finding in one.findings]}


def told(count: int) -> str:
    """Return how many things are wrong, as a sentence."""
    return "1 thing is wrong." if count == 1 else f"{count:,} things are wrong."
