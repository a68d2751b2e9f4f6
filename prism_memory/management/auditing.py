"""How ``prism_memory_audit`` tells what it found."""

from __future__ import annotations

from typing import Any

from prism_memory.governance import Finding, Sealed, Verified
from prism_memory.governance.findings import MEANINGS


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
