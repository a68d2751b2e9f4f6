"""What ``/entities`` answers."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from prism_memory.api.memories.outputs import ScopeOutput, scope_output
from prism_memory.types import EntityItem, EntityPage


class MergedNameOutput(serializers.Serializer[Any]):
    """An entity that is merged into another."""

    id = serializers.UUIDField()
    name = serializers.CharField()
    into = serializers.UUIDField()


class EntityOutput(serializers.Serializer[Any]):
    """Who or what visible facts speak of."""

    id = serializers.UUIDField()
    scope = ScopeOutput()
    name = serializers.CharField(help_text="As names are compared.")
    label = serializers.CharField(help_text="As it was written first.")  # type: ignore[assignment]
    merged = MergedNameOutput(many=True)
    facts = serializers.IntegerField(help_text="Visible facts that speak of it.")
    bounded = serializers.BooleanField(
        help_text="There may be more: only the newest were looked at."
    )


class EntityPageOutput(serializers.Serializer[Any]):
    """One page. It may be short, or empty, and not be the last."""

    items = EntityOutput(many=True)
    next_cursor = serializers.CharField(
        allow_null=True, help_text="Where the next page begins; null on the last."
    )


class MergeOutput(serializers.Serializer[Any]):
    """A merge."""

    id = serializers.UUIDField(help_text="Of the merge.")
    entity = serializers.UUIDField()
    into = serializers.UUIDField()


class UnmergeOutput(serializers.Serializer[Any]):
    """A merge that was undone."""

    entity = serializers.UUIDField()
    was_into = serializers.UUIDField()


def entity_output(found: EntityItem) -> dict[str, Any]:
    """Return an entity."""
    return {
        "id": str(found.id),
        "scope": scope_output(found.scope),
        "name": found.name,
        "label": found.label,
        "merged": [
            {"id": str(one.id), "name": one.name, "into": str(one.into)}
            for one in found.merged
        ],
        "facts": found.facts,
        "bounded": found.bounded,
    }


def entity_page_output(page: EntityPage) -> dict[str, Any]:
    """Return a page."""
    return {
        "items": [entity_output(found) for found in page.items],
        "next_cursor": page.next_cursor,
    }
