"""What ``/retention`` answers. Rules, ids and counts; no text."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from prism_memory.api.rendering import moment
from prism_memory.models import RetentionPolicy, Run
from prism_memory.types import Preview


class PolicyOutput(serializers.Serializer[Any]):
    """One policy."""

    id = serializers.UUIDField()
    name = serializers.CharField()
    level = serializers.CharField(allow_null=True)
    kind = serializers.CharField(allow_null=True)
    tier = serializers.CharField(allow_null=True)
    max_age_days = serializers.IntegerField(allow_null=True)
    max_entries = serializers.IntegerField(allow_null=True)
    expired = serializers.BooleanField()
    enabled = serializers.BooleanField()
    created_at = serializers.DateTimeField()
    changed_at = serializers.DateTimeField()


class PoliciesOutput(serializers.Serializer[Any]):
    """The tenant's policies, by their names."""

    items = PolicyOutput(many=True)


class RetentionRunOutput(serializers.Serializer[Any]):
    """One sweep by a policy."""

    id = serializers.UUIDField()
    policy = serializers.UUIDField()
    state = serializers.CharField(
        help_text="running, done, failed, or cancelled as the policy was changed."
    )
    deleted = serializers.IntegerField()
    kept = serializers.IntegerField(help_text="Records that a hold keeps.")
    scopes = serializers.IntegerField(help_text="Scopes that were looked at.")
    error = serializers.CharField()
    started_at = serializers.DateTimeField()
    heartbeat_at = serializers.DateTimeField(help_text="Of its last page.")
    finished_at = serializers.DateTimeField(allow_null=True)


class RetentionRunsOutput(serializers.Serializer[Any]):
    """The tenant's sweeps, the latest first."""

    items = RetentionRunOutput(many=True)


class ScopePreviewOutput(serializers.Serializer[Any]):
    """What a policy would do in one scope."""

    owner = serializers.CharField()
    agent = serializers.CharField()
    thread = serializers.CharField()
    due = serializers.IntegerField(help_text="Records that would go.")
    kept = serializers.IntegerField(help_text="Records that would, but for a hold.")


class PreviewOutput(serializers.Serializer[Any]):
    """What a policy would do now. Others may say the same of a record."""

    policy = serializers.UUIDField()
    name = serializers.CharField()
    due = serializers.IntegerField(help_text="Records that would go.")
    kept = serializers.IntegerField(help_text="Records that would, but for a hold.")
    counted = serializers.IntegerField(help_text="Scopes that were counted.")
    complete = serializers.BooleanField(
        help_text="False where the time was not enough to count all."
    )
    scopes = ScopePreviewOutput(many=True, help_text="Those with most, 100 at most.")


class PreviewsOutput(serializers.Serializer[Any]):
    """What each policy would do."""

    items = PreviewOutput(many=True)


def policy_output(policy: RetentionPolicy) -> dict[str, Any]:
    """Return one policy."""
    return {
        "id": str(policy.id),
        "name": policy.name,
        "level": policy.level or None,
        "kind": policy.kind or None,
        "tier": policy.tier,
        "max_age_days": policy.max_age_days,
        "max_entries": policy.max_entries,
        "expired": policy.expired,
        "enabled": policy.enabled,
        "created_at": moment(policy.created_at),
        "changed_at": moment(policy.changed_at),
    }


def run_output(run: Run) -> dict[str, Any]:
    """Return one sweep."""
    return {
        "id": str(run.id),
        "policy": run.target,
        "state": run.state,
        **{name: run.counts.get(name, 0) for name in ("deleted", "kept", "scopes")},
        "error": run.error,
        "started_at": moment(run.started_at),
        "heartbeat_at": moment(run.heartbeat_at),
        "finished_at": moment(run.finished_at),
    }


def preview_output(preview: Preview) -> dict[str, Any]:
    """Return what one policy would do."""
    named = ("owner", "agent", "thread", "due", "kept")
    return {
        "policy": str(preview.policy_id),
        "name": preview.name,
        "due": preview.due,
        "kept": preview.kept,
        "counted": preview.counted,
        "complete": preview.complete,
        "scopes": [
            {name: getattr(scope, name) for name in named} for scope in preview.scopes
        ],
    }
