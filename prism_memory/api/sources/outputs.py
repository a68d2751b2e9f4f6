"""What ``/sources`` and ``/source`` answer. Only chunks hold words."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from rest_framework import serializers

from prism_memory.api.memories.outputs import (
    MemoryOutput,
    ScopeOutput,
    memory_output,
    scope_output,
)
from prism_memory.api.rendering import moment
from prism_memory.types import (
    ChunkPage,
    DeletedSource,
    Ingested,
    Ingestion,
    Item,
    RetiredSource,
    SourceItem,
    SourcePage,
)


class IngestionOutput(serializers.Serializer[Any]):
    """How far a source is."""

    state = serializers.CharField(
        help_text="pending until all chunks have vectors; indexed; partial; failed."
    )
    bytes = serializers.IntegerField(help_text="Of its text, in UTF-8.")
    chunks = serializers.IntegerField(help_text="In force.")
    pending = serializers.IntegerField(help_text="Chunks that wait for a vector.")
    failed = serializers.IntegerField(help_text="Chunks that were given up.")
    error = serializers.CharField(help_text="Why one was given up; no text of it.")


class SourceOutput(serializers.Serializer[Any]):
    """A document or a stream; no words of it."""

    id = serializers.UUIDField()
    key = serializers.CharField()
    uri = serializers.CharField()
    kind = serializers.CharField(help_text="document or stream.")
    scope = ScopeOutput()
    trust = serializers.CharField()
    writer = serializers.CharField()
    state = serializers.CharField(help_text="active or retired.")
    ingestion = IngestionOutput()
    chunker = serializers.CharField(help_text="How it was cut; empty for a stream.")
    language = serializers.CharField()
    metadata = serializers.DictField()
    created_at = serializers.DateTimeField()
    ingested_at = serializers.DateTimeField(allow_null=True)
    retired_at = serializers.DateTimeField(allow_null=True)


class SourcePageOutput(serializers.Serializer[Any]):
    """One page."""

    items = SourceOutput(many=True)
    next_cursor = serializers.CharField(
        allow_null=True, help_text="Where the next page begins; null on the last."
    )


class IngestedOutput(serializers.Serializer[Any]):
    """What an ingest did."""

    source_id = serializers.UUIDField()
    chunks = serializers.IntegerField(help_text="Of the document, in force now.")
    added = serializers.IntegerField(help_text="New ones.")
    kept = serializers.IntegerField(help_text="Those that stay, with their vectors.")
    moved = serializers.IntegerField(help_text="Of them, those that stand elsewhere.")
    restored = serializers.IntegerField(help_text="Of them, those that are back.")
    retired = serializers.IntegerField(help_text="Those that it holds no longer.")
    withheld = serializers.IntegerField(
        help_text="Not stored as they stand in it: a person forgot or corrected them."
    )
    quarantined = serializers.IntegerField(help_text="Held back by the gate.")
    unchanged = serializers.BooleanField(help_text="Nothing was written.")
    pending = serializers.BooleanField(help_text="Some wait for their vectors.")
    degraded = serializers.CharField(help_text="Why wait left some pending, or empty.")


class ChunkOutput(MemoryOutput):
    """A chunk of a document, verbatim."""

    citation = serializers.CharField(help_text="By its place in the document now.")
    line_start = serializers.IntegerField(allow_null=True, help_text="From 1.")
    line_end = serializers.IntegerField(allow_null=True, help_text="Inclusive.")
    offset_start = serializers.IntegerField(allow_null=True, help_text="From 0.")
    offset_end = serializers.IntegerField(allow_null=True, help_text="Exclusive.")


class ChunkPageOutput(serializers.Serializer[Any]):
    """One page of the chunks of a document, in its order."""

    source = SourceOutput()  # type: ignore[assignment]
    items = ChunkOutput(many=True)
    next_cursor = serializers.CharField(
        allow_null=True, help_text="Where the next page begins; null on the last."
    )


class RetiredSourceOutput(serializers.Serializer[Any]):
    """What retiring or restoring a source did."""

    source_id = serializers.UUIDField()
    chunks = serializers.IntegerField(help_text="That left search, or came back to it.")
    changed = serializers.BooleanField(help_text="False: it was so before.")


class DeletedSourceOutput(serializers.Serializer[Any]):
    """What deleting a source did."""

    found = serializers.BooleanField(help_text="There was one of that key.")
    deleted = serializers.IntegerField(
        help_text="Memories that are gone, with those derived from them."
    )
    kept = serializers.ListField(
        child=serializers.UUIDField(),
        help_text="Those that a hold keeps; then the source stays too.",
    )
    blocked = serializers.IntegerField(help_text="Refs that may no longer be used.")


def source_output(item: SourceItem) -> dict[str, Any]:
    """Return a source."""
    return {
        "id": str(item.id),
        "key": item.key,
        "uri": item.uri,
        "kind": item.kind.value,
        "scope": scope_output(item.scope),
        "trust": item.trust.value,
        "writer": item.writer,
        "state": item.state.value,
        "ingestion": ingestion_output(item.ingestion),
        "chunker": item.chunker,
        "language": item.language,
        "metadata": item.metadata,
        "created_at": moment(item.created_at),
        "ingested_at": moment(item.ingested_at),
        "retired_at": moment(item.retired_at),
    }


def ingestion_output(found: Ingestion) -> dict[str, Any]:
    """Return how far a source is."""
    return {**asdict(found), "state": found.state.value}


def source_page_output(page: SourcePage) -> dict[str, Any]:
    """Return a page of sources."""
    items = [source_output(item) for item in page.items]
    return {"items": items, "next_cursor": page.next_cursor}


def ingested_output(done: Ingested) -> dict[str, Any]:
    """Return what an ingest did."""
    return {**asdict(done), "source_id": str(done.source_id)}


def chunk_page_output(page: ChunkPage) -> dict[str, Any]:
    """Return a page of chunks."""
    return {
        "source": source_output(page.source),
        "items": [chunk_output(item) for item in page.items],
        "next_cursor": page.next_cursor,
    }


def chunk_output(item: Item) -> dict[str, Any]:
    """Return a chunk."""
    places = ("line_start", "line_end", "offset_start", "offset_end")
    return {
        **memory_output(item),
        "citation": item.citation,
        **{name: getattr(item, name) for name in places},
    }


def retired_source_output(done: RetiredSource) -> dict[str, Any]:
    """Return what retiring or restoring did."""
    return {**asdict(done), "source_id": str(done.source_id)}


def deleted_source_output(done: DeletedSource) -> dict[str, Any]:
    """Return what deleting did."""
    return {**asdict(done), "kept": [str(record_id) for record_id in done.kept]}
