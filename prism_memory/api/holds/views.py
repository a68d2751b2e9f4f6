"""Views of ``/holds``: parse, make one domain call, answer."""

from __future__ import annotations

from http import HTTPStatus

from rest_framework.request import Request
from rest_framework.response import Response

from prism_memory.api.base import ScopedView
from prism_memory.api.forgetting.inputs import ReasonInput
from prism_memory.api.holds.inputs import HoldInput, ListHoldsInput
from prism_memory.api.holds.outputs import (
    HoldOutput,
    HoldPageOutput,
    hold_output,
    hold_page_output,
)
from prism_memory.api.memories.views import known_id
from prism_memory.api.operations import Operation
from prism_memory.types import Permission


class HoldsView(ScopedView):
    """Place a hold, and list those that stand."""

    operations = {
        "GET": Operation(
            "list_holds",
            "List the holds on this scope, above and below it, and on what is there.",
            Permission.GOVERN,
            answers={HTTPStatus.OK: HoldPageOutput},
            query=ListHoldsInput,
        ),
        "POST": Operation(
            "place_hold",
            "Keep a memory, a source or all of this scope from deletion.",
            Permission.GOVERN,
            answers={HTTPStatus.CREATED: HoldOutput, HTTPStatus.OK: HoldOutput},
            bodies=(HoldInput,),
            refusals=(HTTPStatus.NOT_FOUND, HTTPStatus.NOT_IMPLEMENTED),
        ),
    }

    def get(self, request: Request) -> Response:
        page = self.memory(request).holds(**self.query(request))
        return Response(hold_page_output(page))

    def post(self, request: Request) -> Response:
        memory = self.memory(request)
        given = self.body(request)
        record = given.pop("memory", None)
        held = memory.hold(record=record, **given)
        status = HTTPStatus.CREATED if held.new else HTTPStatus.OK
        return Response(hold_output(held), status=status)


class HoldView(ScopedView):
    """Release one hold."""

    operations = {
        "DELETE": Operation(
            "release_hold",
            "End a hold on this scope, on something in it, or on what is below.",
            Permission.GOVERN,
            answers={HTTPStatus.NO_CONTENT: None},
            query=ReasonInput,
            refusals=(
                HTTPStatus.NOT_FOUND,
                HTTPStatus.CONFLICT,
                HTTPStatus.NOT_IMPLEMENTED,
            ),
        ),
    }

    def delete(self, request: Request, hold_id: str) -> Response:
        given = self.query(request)
        self.memory(request).release(known_id(hold_id), **given)
        return Response(status=HTTPStatus.NO_CONTENT)
