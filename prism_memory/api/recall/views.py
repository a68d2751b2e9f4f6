"""View of ``/recall``: parse, make one domain call, answer."""

from __future__ import annotations

from http import HTTPStatus

from rest_framework.request import Request
from rest_framework.response import Response

from prism_memory.api.base import ScopedView
from prism_memory.api.operations import Operation
from prism_memory.api.recall.inputs import RecallInput
from prism_memory.api.recall.outputs import RecalledOutput, recalled_output
from prism_memory.types import Permission


class RecallView(ScopedView):
    """Find the best memories for a question."""

    operations = {
        "POST": Operation(
            "recall",
            "Find the best memories in sight for a question.",
            Permission.READ,
            answers={HTTPStatus.OK: RecalledOutput},
            bodies=(RecallInput,),
            refusals=(HTTPStatus.BAD_GATEWAY, HTTPStatus.SERVICE_UNAVAILABLE),
        ),
    }

    def post(self, request: Request) -> Response:
        memory = self.memory(request)
        recalled = memory.recall(**self.body(request))
        return Response(recalled_output(recalled))
