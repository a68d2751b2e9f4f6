"""Views of ``/generations``: parse, make one domain call, answer."""

from __future__ import annotations

from http import HTTPStatus

from rest_framework.request import Request
from rest_framework.response import Response

from prism_memory.api.base import ScopedView
from prism_memory.api.generations.inputs import CurrentGenerationInput
from prism_memory.api.generations.outputs import (
    GenerationsOutput,
    SwappedOutput,
    generations_output,
)
from prism_memory.api.operations import Operation
from prism_memory.types import Permission


class GenerationsView(ScopedView):
    """Swap which generation of documents readers see, and swap it back."""

    operations = {
        "GET": Operation(
            "list_generations",
            "List the generations of exactly this scope.",
            Permission.GOVERN,
            answers={HTTPStatus.OK: GenerationsOutput},
        ),
        "PUT": Operation(
            "set_current_generation",
            "Let readers of exactly this scope see one generation.",
            Permission.GOVERN,
            answers={HTTPStatus.OK: SwappedOutput},
            bodies=(CurrentGenerationInput,),
        ),
    }

    def get(self, request: Request) -> Response:
        return Response(generations_output(self.memory(request).generations()))

    def put(self, request: Request) -> Response:
        before = self.memory(request).set_current_generation(**self.body(request))
        return Response({"before": before})
