"""The view of a correction: parse, make one domain call, answer."""

from __future__ import annotations

from http import HTTPStatus

from rest_framework.request import Request
from rest_framework.response import Response

from prism_memory.api.base import ScopedView
from prism_memory.api.corrections.inputs import CorrectionInput
from prism_memory.api.corrections.outputs import CorrectedOutput, corrected_output
from prism_memory.api.memories.views import known_id
from prism_memory.api.operations import Operation
from prism_memory.types import Permission


class CorrectionView(ScopedView):
    """Give one memory other words."""

    operations = {
        "POST": Operation(
            "correct_memory",
            "Replace the words of a memory of this scope; block what derives from it.",
            Permission.GOVERN,
            answers={HTTPStatus.OK: CorrectedOutput},
            bodies=(CorrectionInput,),
            refusals=(
                HTTPStatus.NOT_FOUND,
                HTTPStatus.CONFLICT,
                HTTPStatus.NOT_IMPLEMENTED,
            ),
        ),
    }

    def post(self, request: Request, memory_id: str) -> Response:
        memory = self.memory(request)
        given = self.body(request)
        done = memory.correct(
            known_id(memory_id), given["text"], reason=given.get("reason", "")
        )
        return Response(corrected_output(done))
