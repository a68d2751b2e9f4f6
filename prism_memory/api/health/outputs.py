"""What ``/health`` answers."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from prism_memory.api.health.readiness import Check


class LiveOutput(serializers.Serializer[Any]):
    """The process answers."""

    live = serializers.BooleanField()


class CheckOutput(serializers.Serializer[Any]):
    """One thing that serving needs."""

    name = serializers.CharField()
    ready = serializers.BooleanField()
    reason = serializers.CharField(allow_blank=True)


class ReadyOutput(serializers.Serializer[Any]):
    """Whether all that serving needs is there."""

    ready = serializers.BooleanField()
    checks = CheckOutput(many=True)


def ready_output(checks: list[Check]) -> dict[str, Any]:
    """Return the checks, and whether all of them hold."""
    found = [
        {
            "name": check.name,
            "ready": check.ready,
            "reason": "" if check.ready else check.reason,
        }
        for check in checks
    ]
    return {"ready": all(check.ready for check in checks), "checks": found}
