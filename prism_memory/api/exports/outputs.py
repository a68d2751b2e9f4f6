"""What exports answer."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from prism_memory.api.fields import Choice
from prism_memory.api.rendering import moment
from prism_memory.models import RunState
from prism_memory.types import ExportPage, ExportState


class ExportPageOutput(serializers.Serializer[Any]):
    """One page of an export: what it takes to restore each record elsewhere."""

    items = serializers.ListField(
        child=serializers.DictField(),
        help_text="Records in the format prism_memory/1, as docs/governance.md tells.",
    )
    next_cursor = serializers.CharField(
        allow_null=True, help_text="Where the next page begins; null on the last."
    )


class ExportPartOutput(serializers.Serializer[Any]):
    """One file of an export."""

    file = serializers.CharField()
    records = serializers.IntegerField()
    bytes = serializers.IntegerField()
    sha256 = serializers.CharField(help_text="Of the file, in hex.")


class ExportOutput(serializers.Serializer[Any]):
    """How far an export is."""

    id = serializers.UUIDField()
    state = Choice("ExportState", [str(value) for value in RunState.values])
    include_unconsented = serializers.BooleanField()
    compress = serializers.BooleanField()
    records = serializers.IntegerField(help_text="Written so far.")
    left_out = serializers.DictField(
        child=serializers.IntegerField(), help_text="Not written, by reason."
    )
    parts = ExportPartOutput(many=True)
    deleted = serializers.BooleanField(help_text="The files are gone.")
    error = serializers.CharField(allow_blank=True)
    started_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)


def page_output(page: ExportPage) -> dict[str, Any]:
    """Return a page."""
    return {"items": page.records, "next_cursor": page.next_cursor}


def export_output(state: ExportState) -> dict[str, Any]:
    """Return how far an export is."""
    return {
        "id": str(state.id),
        "state": state.state,
        "include_unconsented": state.include_unconsented,
        "compress": state.compress,
        "records": state.records,
        "left_out": dict(state.left_out),
        "parts": [
            {
                "file": part.name.rpartition("/")[2],
                "records": part.records,
                "bytes": part.bytes,
                "sha256": part.sha256,
            }
            for part in state.parts
        ],
        "deleted": state.deleted,
        "error": state.error,
        "started_at": moment(state.started_at),
        "finished_at": moment(state.finished_at),
    }
