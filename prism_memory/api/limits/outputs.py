"""What ``/limits`` answers."""

from __future__ import annotations

from typing import Any

from django.conf import settings as django_settings
from rest_framework import serializers

from prism_memory.conf import Limits, Setting, Settings


class LimitOutput(serializers.Serializer[Any]):
    """One limit."""

    name = serializers.CharField()
    value = serializers.IntegerField(help_text="In force.")
    minimum = serializers.IntegerField()
    hard_cap = serializers.IntegerField(help_text="No setting and no call is above it.")
    help = serializers.CharField()


class LimitsOutput(serializers.Serializer[Any]):
    """All limits."""

    limits = LimitOutput(many=True)
    body_bytes = serializers.IntegerField(
        allow_null=True, help_text="Longest body; null where the host bounds none."
    )


def limits_output(limits: Limits) -> dict[str, Any]:
    """Return the limits in force."""
    declared = [setting for setting in Settings.declared() if setting.limit]
    return {
        "limits": [_limit_output(setting, limits) for setting in declared],
        "body_bytes": django_settings.DATA_UPLOAD_MAX_MEMORY_SIZE,
    }


def _limit_output(setting: Setting[Any], limits: Limits) -> dict[str, Any]:
    return {
        "name": setting.name.lower(),
        "value": getattr(limits, setting.name.lower()),
        "minimum": int(setting.minimum or 0),
        "hard_cap": int(setting.maximum or 0),
        "help": setting.help,
    }
