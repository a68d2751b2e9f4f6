"""Views of ``/recall``: parse, make one domain call, answer."""

from __future__ import annotations

from http import HTTPStatus
from typing import Final

from rest_framework.request import Request
from rest_framework.response import Response

from prism_memory.api.base import ScopedView, grant_of
from prism_memory.api.operations import Operation
from prism_memory.api.recall.inputs import DeepRecallInput, RecallInput, asked
from prism_memory.api.recall.outputs import (
    DeepRecalledOutput,
    RecalledOutput,
    deep_recalled_output,
    recalled_output,
)
from prism_memory.types import Permission

REFUSALS: Final = (
    HTTPStatus.BAD_GATEWAY,
    HTTPStatus.SERVICE_UNAVAILABLE,
    HTTPStatus.GATEWAY_TIMEOUT,
)


class RecallView(ScopedView):
    """Find the best memories for a question."""

    operations = {
        "POST": Operation(
            "recall",
            "Find the best memories in sight for a question.",
            Permission.READ,
            answers={HTTPStatus.OK: RecalledOutput},
            bodies=(RecallInput,),
            refusals=REFUSALS,
        ),
    }

    def post(self, request: Request) -> Response:
        memory = self.memory(request)
        recalled = memory.recall(**asked(self.body(request), grant_of(request)))
        return Response(recalled_output(recalled))


class DeepRecallView(ScopedView):
    """Find them in several passes, where a question is hard."""

    operations = {
        "POST": Operation(
            "deep_recall",
            "Find the best memories, and search in other words where they do not do.",
            Permission.READ,
            answers={HTTPStatus.OK: DeepRecalledOutput},
            bodies=(DeepRecallInput,),
            refusals=REFUSALS,
        ),
    }

    def post(self, request: Request) -> Response:
        memory = self.memory(request)
        found = memory.deep_recall(**asked(self.body(request), grant_of(request)))
        return Response(deep_recalled_output(found))
