"""Views of ``/sources`` and ``/source``: parse, make one domain call, answer."""

from __future__ import annotations

from http import HTTPStatus

from rest_framework.request import Request
from rest_framework.response import Response

from prism_memory.api.base import ScopedView
from prism_memory.api.forgetting.inputs import ReasonInput
from prism_memory.api.operations import Operation
from prism_memory.api.sources.inputs import (
    ChunksInput,
    IngestInput,
    KeyInput,
    ListSourcesInput,
    document_of,
)
from prism_memory.api.sources.outputs import (
    ChunkPageOutput,
    DeletedSourceOutput,
    IngestedOutput,
    IngestionOutput,
    RetiredSourceOutput,
    SourceOutput,
    SourcePageOutput,
    chunk_page_output,
    deleted_source_output,
    ingested_output,
    ingestion_output,
    retired_source_output,
    source_output,
    source_page_output,
)
from prism_memory.types import Permission

UNKNOWN = (HTTPStatus.NOT_FOUND,)


class SourcesView(ScopedView):
    """List documents and streams."""

    operations = {
        "GET": Operation(
            "list_sources",
            "List the documents and streams in sight, the oldest first.",
            Permission.READ,
            answers={HTTPStatus.OK: SourcePageOutput},
            query=ListSourcesInput,
        ),
    }

    def get(self, request: Request) -> Response:
        page = self.memory(request).sources.list(**self.query(request))
        return Response(source_page_output(page))


class SourceView(ScopedView):
    """Ingest, read and delete one document."""

    operations = {
        "GET": Operation(
            "get_source",
            "Read one source in sight: where it is from, and how far it is.",
            Permission.READ,
            answers={HTTPStatus.OK: SourceOutput},
            query=KeyInput,
            refusals=UNKNOWN,
        ),
        "PUT": Operation(
            "ingest_source",
            "Store a document at exactly this scope, or what changed of it.",
            Permission.WRITE,
            answers={HTTPStatus.OK: IngestedOutput},
            query=KeyInput,
            bodies=(IngestInput,),
            refusals=(HTTPStatus.CONFLICT,),
        ),
        "DELETE": Operation(
            "delete_source",
            "Delete a source of exactly this scope, and all that is derived from it.",
            Permission.GOVERN,
            answers={HTTPStatus.OK: DeletedSourceOutput},
            query=KeyInput,
            refusals=(HTTPStatus.NOT_IMPLEMENTED,),
        ),
    }

    def get(self, request: Request) -> Response:
        found = self.memory(request).sources.get(**self.query(request))
        return Response(source_output(found))

    def put(self, request: Request) -> Response:
        memory, given = self.memory(request), self.body(request)
        key = self.query(request)["key"]
        done = memory.sources.ingest(key, **document_of(given))
        return Response(ingested_output(done))

    def delete(self, request: Request) -> Response:
        done = self.memory(request).sources.delete(**self.query(request))
        return Response(deleted_source_output(done))


class SourceStatusView(ScopedView):
    """Tell how far a document is."""

    operations = {
        "GET": Operation(
            "get_source_status",
            "Tell how far a source of exactly this scope is.",
            Permission.READ,
            answers={HTTPStatus.OK: IngestionOutput},
            query=KeyInput,
            refusals=UNKNOWN,
        ),
    }

    def get(self, request: Request) -> Response:
        found = self.memory(request).sources.status(**self.query(request))
        return Response(ingestion_output(found))


class SourceChunksView(ScopedView):
    """Read a document chunk by chunk."""

    operations = {
        "GET": Operation(
            "list_source_chunks",
            "List the chunks of a source in sight, in its order.",
            Permission.READ,
            answers={HTTPStatus.OK: ChunkPageOutput},
            query=ChunksInput,
            refusals=UNKNOWN,
        ),
    }

    def get(self, request: Request) -> Response:
        page = self.memory(request).sources.chunks(**self.query(request))
        return Response(chunk_page_output(page))


class RetireSourceView(ScopedView):
    """Take a document out of search."""

    operations = {
        "POST": Operation(
            "retire_source",
            "Take a source of exactly this scope out of search. It can come back.",
            Permission.GOVERN,
            answers={HTTPStatus.OK: RetiredSourceOutput},
            query=KeyInput,
            bodies=(ReasonInput,),
            refusals=UNKNOWN,
        ),
    }

    def post(self, request: Request) -> Response:
        memory, given = self.memory(request), self.body(request)
        done = memory.sources.retire(**self.query(request), **given)
        return Response(retired_source_output(done))


class RestoreSourceView(ScopedView):
    """Bring a document back to search."""

    operations = {
        "POST": Operation(
            "restore_source",
            "Bring a retired source of exactly this scope back to search.",
            Permission.GOVERN,
            answers={HTTPStatus.OK: RetiredSourceOutput},
            query=KeyInput,
            bodies=(ReasonInput,),
            refusals=(*UNKNOWN, HTTPStatus.CONFLICT),
        ),
    }

    def post(self, request: Request) -> Response:
        memory, given = self.memory(request), self.body(request)
        done = memory.sources.restore(**self.query(request), **given)
        return Response(retired_source_output(done))
