"""Scans that take what a test says: they run, but no clock decides what is asserted."""

from __future__ import annotations

from typing import Any

import pytest

from prism_memory.indexing.calibrate import Group, Scans

RECOMMENDED = 4_500
"""Where 0.5 ms and 1 ms per 1,000 vectors are the 5 ms of an index scan."""


def make_steady(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """Fix what scans take; return the list of those that run, and how often."""
    ran: list[tuple[str, int]] = []
    timed = Scans._timed

    def steady(self: Scans, name: str, group: Group, *args: Any, **more: Any) -> Any:
        times, found = timed(self, name, group, *args, **more)
        assert min(times) > 0
        ran.append((name, len(times)))
        ms = 5.0 if name == "index_scan" else 0.5 + group.vectors / 1_000
        return [ms] * len(times), found

    monkeypatch.setattr(Scans, "_timed", steady)
    return ran
