"""Bodies and queries of ``/retention``."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from prism_memory.api.fields import (
    Choice,
    Flag,
    Identifier,
    StrictInput,
    Text,
    Whole,
    WholeInQuery,
)
from prism_memory.types import RETAINED_KINDS, ScopeLevel, Tier

RULES = ("level", "kind", "tier", "max_age_days", "max_entries", "expired")
RUNS_AT_MOST = 200


class RulesInput(StrictInput):
    """Which records go: each that one of the rules says so of."""

    level = Choice(
        "RetentionLevel",
        ScopeLevel,
        required=False,
        allow_null=True,
        help_text="Only in scopes of this level; null: in all.",
    )
    kind = Choice(
        "RetentionKind",
        RETAINED_KINDS,
        required=False,
        allow_null=True,
        help_text="Only these; null: entries, turns and notes.",
    )
    tier = Choice(
        "MemoryTier",
        Tier,
        required=False,
        allow_null=True,
        help_text="Only these; null: any; empty: those without one.",
    )
    max_age_days = Whole(
        required=False,
        allow_null=True,
        help_text="What was remembered longer ago goes, from 0, which keeps nothing.",
    )
    max_entries = Whole(
        required=False,
        allow_null=True,
        help_text="Of each scope, the lowest sequences beyond so many go, from 0, which"
        " keeps nothing.",
    )
    expired = Flag(required=False, help_text="What has passed its own expires_at goes.")


class CreatePolicyInput(RulesInput):
    """A policy; it is in force unless it says otherwise."""

    name = Text(help_text="Unlike those of the tenant's other policies.")
    enabled = Flag(required=False)
    reason = Text(
        required=False, allow_blank=True, help_text="For the audit; no content."
    )


class ChangePolicyInput(RulesInput):
    """What to change of a policy; what is not given stays."""

    name = Text(required=False)
    enabled = Flag(required=False, help_text="False ends a sweep under way.")
    reason = Text(
        required=False, allow_blank=True, help_text="For the audit; no content."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Refuse a body that changes nothing."""
        if not attrs.keys() - {"reason"}:
            message = "Give what shall change."
            raise serializers.ValidationError(message)
        return attrs


class DeletePolicyInput(StrictInput):
    """Why it goes."""

    reason = Text(
        required=False, allow_blank=True, help_text="For the audit; no content."
    )


class PreviewInput(StrictInput):
    """The query of a preview."""

    policy = Identifier(
        required=False, help_text="Only this one, in force or not; all if not given."
    )


class ListRunsInput(StrictInput):
    """The query of the list of sweeps."""

    limit = WholeInQuery(
        required=False,
        min_value=1,
        max_value=RUNS_AT_MOST,
        help_text=f"Sweeps, the latest first: 1 to {RUNS_AT_MOST}; 20 if not given.",
    )


class StartRunInput(StrictInput):
    """Which policy to apply now."""

    policy = Identifier()


def rules_in(given: dict[str, Any]) -> dict[str, Any]:
    """Take what a body says of the rules out of it."""
    return {name: given.pop(name) for name in RULES if name in given}
