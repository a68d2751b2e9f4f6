"""What ``/memories`` answers.

The serializers describe; the functions, which are what runs, build. A test holds the
two together.
"""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from prism_memory.api.fields import Choice
from prism_memory.api.rendering import moment
from prism_memory.memory import Remembered
from prism_memory.types import (
    ConsentDecision,
    ConsentHistory,
    ConsentScope,
    ConsentSource,
    Item,
    Kind,
    Page,
    Scope,
    Tier,
    Trust,
)


class RememberedOutput(serializers.Serializer[Any]):
    """What was stored."""

    accepted = serializers.ListField(
        child=serializers.UUIDField(),
        help_text="The record of each entry, in the order they were given.",
    )
    pending = serializers.BooleanField(
        help_text="Some wait for their vector; until then they are found by words."
    )
    degraded = serializers.CharField(
        allow_blank=True,
        help_text="Why `wait` left some without a vector, or empty.",
    )
    quarantined = serializers.ListField(
        child=serializers.UUIDField(),
        help_text="Those that the gate holds back: stored, and not recalled until they"
        " are validated.",
    )


class ScopeOutput(serializers.Serializer[Any]):
    """A place in the tree; an empty level is not set."""

    tenant = serializers.CharField()
    owner = serializers.CharField(allow_blank=True)
    agent = serializers.CharField(allow_blank=True)
    thread = serializers.CharField(allow_blank=True)


class MemoryOutput(serializers.Serializer[Any]):
    """A record, with where it comes from."""

    id = serializers.UUIDField()
    key = serializers.CharField()
    text = serializers.CharField(help_text="Verbatim, but for configured secrets.")
    kind = Choice("MemoryKind", Kind)
    tier = Choice("MemoryTier", Tier)
    namespace = serializers.CharField(allow_blank=True)
    partition = serializers.CharField(allow_blank=True)
    scope = ScopeOutput()
    source = serializers.CharField(allow_null=True)  # type: ignore[assignment]
    ordinal = serializers.IntegerField(allow_null=True)
    trust = Choice("MemoryTrust", Trust)
    writer = serializers.CharField()
    metadata = serializers.DictField()
    sequence = serializers.IntegerField()
    importance = serializers.FloatField(allow_null=True)
    created_at = serializers.DateTimeField()
    happened_at = serializers.DateTimeField(allow_null=True)
    valid_from = serializers.DateTimeField(allow_null=True)
    valid_to = serializers.DateTimeField(allow_null=True)
    version = serializers.IntegerField()


class MemoryPageOutput(serializers.Serializer[Any]):
    """One page of a list."""

    items = MemoryOutput(many=True)
    next_cursor = serializers.CharField(
        allow_null=True, help_text="Where the next page begins; null on the last."
    )


class DecisionOutput(serializers.Serializer[Any]):
    """One decision about the consent for a memory: the state that it left."""

    id = serializers.UUIDField()
    source = Choice("ConsentSource", ConsentSource, allow_null=True)  # type: ignore[assignment]
    label = Choice("ConsentLabel", ConsentScope, allow_null=True)  # type: ignore[assignment]
    visible = serializers.BooleanField(
        allow_null=True, help_text="False hides; null is no consent at all."
    )
    granted_at = serializers.DateTimeField(allow_null=True)
    revoked_at = serializers.DateTimeField(allow_null=True)
    actor = serializers.CharField(help_text="Who decided, as the audit names them.")
    at = serializers.DateTimeField()


class ConsentHistoryOutput(serializers.Serializer[Any]):
    """One page of the decisions about a memory, the oldest first."""

    decisions = DecisionOutput(many=True)
    next_cursor = serializers.CharField(
        allow_null=True, help_text="Where the next page begins; null on the last."
    )


def remembered_output(remembered: Remembered) -> dict[str, Any]:
    """Return what was stored."""
    return {
        "accepted": [str(record_id) for record_id in remembered.accepted],
        "pending": remembered.pending,
        "degraded": remembered.degraded,
        "quarantined": sorted(map(str, remembered.quarantined)),
    }


def page_output(page: Page) -> dict[str, Any]:
    """Return a page."""
    return {
        "items": [memory_output(item) for item in page.items],
        "next_cursor": page.next_cursor,
    }


def history_output(history: ConsentHistory) -> dict[str, Any]:
    """Return a page of decisions."""
    return {
        "decisions": [_decision(decision) for decision in history],
        "next_cursor": history.next_cursor,
    }


def _decision(decision: ConsentDecision) -> dict[str, Any]:
    return {
        "id": str(decision.id),
        "source": decision.source.value if decision.source else None,
        "label": decision.label.value if decision.label else None,
        "visible": decision.visible,
        "granted_at": moment(decision.granted_at),
        "revoked_at": moment(decision.revoked_at),
        "actor": decision.actor,
        "at": moment(decision.at),
    }


def memory_output(item: Item) -> dict[str, Any]:
    """Return a record."""
    return {
        "id": str(item.id),
        "key": item.key,
        "text": item.text,
        "kind": item.kind.value,
        "tier": item.tier.value,
        "namespace": item.namespace,
        "partition": item.partition,
        "scope": scope_output(item.scope),
        "source": item.source,
        "ordinal": item.ordinal,
        "trust": item.trust.value,
        "writer": item.writer,
        "metadata": item.metadata,
        "sequence": item.sequence,
        "importance": item.importance,
        "created_at": moment(item.created_at),
        "happened_at": moment(item.happened_at),
        "valid_from": moment(item.valid_from),
        "valid_to": moment(item.valid_to),
        "version": item.version,
    }


def scope_output(scope: Scope) -> dict[str, str]:
    """Return a scope's four levels."""
    return {
        "tenant": scope.tenant,
        "owner": scope.owner,
        "agent": scope.agent,
        "thread": scope.thread,
    }
