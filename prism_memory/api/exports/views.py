"""Views of exports: parse, make one domain call, answer."""

from __future__ import annotations

import re
from http import HTTPStatus
from typing import Final

from django.http import FileResponse
from rest_framework.request import Request
from rest_framework.response import Response

from prism_memory.api.base import ScopedView, grant_of
from prism_memory.api.exports.inputs import (
    DeleteExportInput,
    ExportPageInput,
    StartExportInput,
)
from prism_memory.api.exports.outputs import (
    ExportOutput,
    ExportPageOutput,
    export_output,
    page_output,
)
from prism_memory.api.memories.views import known_id
from prism_memory.api.operations import Operation
from prism_memory.errors import NotVisible
from prism_memory.types import ExportState, Permission

NUMBER: Final = re.compile(r"[1-9][0-9]{0,8}", re.ASCII)


class ExportPageView(ScopedView):
    """Export exactly the scope of the request, page by page."""

    operations = {
        "GET": Operation(
            "export_memories",
            "Export a page of exactly this scope: what was consented to.",
            Permission.GOVERN,
            answers={HTTPStatus.OK: ExportPageOutput},
            query=ExportPageInput,
        ),
    }

    def get(self, request: Request) -> Response:
        memory = self.memory(request)
        page = memory.export_memory(memory.scope, **self.query(request))
        return Response(page_output(page))


class ExportsView(ScopedView):
    """Export all at and below the scope of the request."""

    operations = {
        "POST": Operation(
            "start_export",
            "Have all at and below this scope written to files.",
            Permission.GOVERN,
            answers={HTTPStatus.ACCEPTED: ExportOutput},
            bodies=(StartExportInput,),
            refusals=(HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT),
        ),
    }

    def post(self, request: Request) -> Response:
        memory, given = self.memory(request), self.body(request)
        if given.get("include_unconsented"):
            grant_of(request).require(Permission.OPERATE)
        state = memory.start_export(**given)
        return Response(export_output(state), status=HTTPStatus.ACCEPTED)


class OneExportView(ScopedView):
    """What the views of one export share."""

    def state(self, request: Request, export_id: str) -> ExportState:
        """Return an export that the request may know of.

        Raises:
            NotVisible: There is none of this scope; or it holds what only an operator
                may have.
        """
        state = self.memory(request).export_state(known_id(export_id))
        may = Permission.OPERATE in grant_of(request).permissions
        if state.include_unconsented and not may:
            raise NotVisible
        return state

    def file(
        self, request: Request, export_id: str, part: str | None, media_type: str
    ) -> FileResponse:
        """Return one file as an attachment that no browser takes for anything else."""
        self.query(request)
        state = self.state(request, export_id)
        number = None if part is None else number_of(part)
        name, file = self.memory(request).open_export(state.id, number)
        return FileResponse(
            file,
            as_attachment=True,
            filename=name,
            content_type=media_type,
            headers={"X-Content-Type-Options": "nosniff"},
        )


class ExportView(OneExportView):
    """Look at one export, and remove it."""

    operations = {
        "GET": Operation(
            "get_export",
            "Tell how far an export of this scope is.",
            Permission.GOVERN,
            answers={HTTPStatus.OK: ExportOutput},
            refusals=(HTTPStatus.NOT_FOUND,),
        ),
        "DELETE": Operation(
            "delete_export",
            "Remove the files of an export; end it where it still runs.",
            Permission.GOVERN,
            answers={HTTPStatus.NO_CONTENT: None},
            query=DeleteExportInput,
            refusals=(HTTPStatus.NOT_FOUND,),
        ),
    }

    def get(self, request: Request, export_id: str) -> Response:
        self.query(request)
        return Response(export_output(self.state(request, export_id)))

    def delete(self, request: Request, export_id: str) -> Response:
        given = self.query(request)
        state = self.state(request, export_id)
        self.memory(request).delete_export(state.id, **given)
        return Response(status=HTTPStatus.NO_CONTENT)


class ExportManifestView(OneExportView):
    """Download the manifest."""

    operations = {
        "GET": Operation(
            "get_export_manifest",
            "Download the manifest of an export that is done.",
            Permission.GOVERN,
            answers={HTTPStatus.OK: None},
            download="application/json",
            refusals=(HTTPStatus.NOT_FOUND,),
        ),
    }

    def get(self, request: Request, export_id: str) -> FileResponse:
        return self.file(request, export_id, None, "application/json")


class ExportPartView(OneExportView):
    """Download one part."""

    operations = {
        "GET": Operation(
            "get_export_part",
            "Download one part of an export that is done: JSON lines, or gzip of them.",
            Permission.GOVERN,
            answers={HTTPStatus.OK: None},
            download="application/octet-stream",
            refusals=(HTTPStatus.NOT_FOUND,),
        ),
    }

    def get(self, request: Request, export_id: str, part: str) -> FileResponse:
        return self.file(request, export_id, part, "application/octet-stream")


def number_of(part: str) -> int:
    """Return the number in a path.

    Raises:
        NotVisible: It is none, which looks as an unknown one does.
    """
    if not NUMBER.fullmatch(part):
        raise NotVisible
    return int(part)
