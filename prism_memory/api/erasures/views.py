"""Views of ``/erasures``: parse, make one domain call, answer."""

from __future__ import annotations

from http import HTTPStatus

from rest_framework.request import Request
from rest_framework.response import Response

from prism_memory.api.base import ScopedView, grant_of
from prism_memory.api.erasures.inputs import (
    EraseInput,
    ListErasuresInput,
    PreviewErasureInput,
    chosen,
)
from prism_memory.api.erasures.outputs import (
    ErasureOutput,
    ErasurePageOutput,
    ForeseenOutput,
    done_output,
    erasure_output,
    foreseen_output,
    page_output,
)
from prism_memory.api.memories.views import known_id
from prism_memory.api.operations import Operation
from prism_memory.types import Permission


class ErasuresView(ScopedView):
    """Erase, and list the receipts."""

    operations = {
        "POST": Operation(
            "erase",
            "Erase a memory or a source of this scope, or this scope and all below it.",
            Permission.GOVERN,
            answers={HTTPStatus.ACCEPTED: ErasureOutput},
            bodies=(EraseInput,),
            refusals=(HTTPStatus.CONFLICT,),
        ),
        "GET": Operation(
            "list_erasures",
            "List the receipts of this scope and of all below it, newest first.",
            Permission.GOVERN,
            answers={HTTPStatus.OK: ErasurePageOutput},
            query=ListErasuresInput,
        ),
    }

    def post(self, request: Request) -> Response:
        memory, given = self.memory(request), self.body(request)
        what, reason = chosen(given), given.get("reason", "")
        if what:
            done = memory.erase(**what, reason=reason)
            return Response(done_output(done), status=HTTPStatus.ACCEPTED)
        if not memory.scope.thread:
            grant_of(request).require(Permission.OPERATE)
        state = memory.start_erasure(reason=reason)
        return Response(erasure_output(state), status=HTTPStatus.ACCEPTED)

    def get(self, request: Request) -> Response:
        page = self.memory(request).erasures(**self.query(request))
        return Response(page_output(page))


class ErasurePreviewView(ScopedView):
    """Tell what an erasure would do."""

    operations = {
        "GET": Operation(
            "preview_erasure",
            "Tell what erasing a memory, a source, or all of this scope would remove.",
            Permission.GOVERN,
            answers={HTTPStatus.OK: ForeseenOutput},
            query=PreviewErasureInput,
        ),
    }

    def get(self, request: Request) -> Response:
        given = self.query(request)
        record = given.pop("memory", None)
        seen = self.memory(request).foresee_erasure(record=record, **given)
        return Response(foreseen_output(seen))


class ErasureView(ScopedView):
    """Look at one erasure."""

    operations = {
        "GET": Operation(
            "get_erasure",
            "Tell how far an erasure of this scope, or of something in it, is.",
            Permission.GOVERN,
            answers={HTTPStatus.OK: ErasureOutput},
            refusals=(HTTPStatus.NOT_FOUND,),
        ),
    }

    def get(self, request: Request, erasure_id: str) -> Response:
        self.query(request)
        state = self.memory(request).erasure_state(known_id(erasure_id))
        return Response(erasure_output(state))
