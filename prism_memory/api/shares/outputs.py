"""What ``/shares`` answers. Ids and times; no text."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from prism_memory.api.memories.outputs import ScopeOutput, scope_output
from prism_memory.api.rendering import moment
from prism_memory.types import Share, SharePage


class ShareOutput(serializers.Serializer[Any]):
    """Records of a thread that another may recall."""

    id = serializers.UUIDField()
    parent = ScopeOutput()
    child = ScopeOutput()
    ids = serializers.ListField(
        child=serializers.UUIDField(), help_text="In the order they were given."
    )
    expires_at = serializers.DateTimeField(
        allow_null=True, help_text="From then on nothing is shared; null: never."
    )
    created_at = serializers.DateTimeField()
    changed_at = serializers.DateTimeField(
        help_text="When ids and expiry were last replaced."
    )


class SharePageOutput(serializers.Serializer[Any]):
    """One page of the shares that the thread gave or got."""

    items = ShareOutput(many=True)
    next_cursor = serializers.CharField(
        allow_null=True, help_text="Where the next page begins; null on the last."
    )


def share_page_output(page: SharePage) -> dict[str, Any]:
    """Return a page."""
    return {
        "items": [share_output(share) for share in page.items],
        "next_cursor": page.next_cursor,
    }


def share_output(share: Share) -> dict[str, Any]:
    """Return one share."""
    return {
        "id": str(share.id),
        "parent": scope_output(share.parent),
        "child": scope_output(share.child),
        "ids": [str(record_id) for record_id in share.ids],
        "expires_at": moment(share.expires_at),
        "created_at": moment(share.created_at),
        "changed_at": moment(share.changed_at),
    }
