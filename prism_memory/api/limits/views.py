"""View of ``/limits``."""

from __future__ import annotations

from http import HTTPStatus

from rest_framework.request import Request
from rest_framework.response import Response

from prism_memory.api.base import ScopedView
from prism_memory.api.limits.outputs import LimitsOutput, limits_output
from prism_memory.api.operations import Operation
from prism_memory.types import Permission


class LimitsView(ScopedView):
    """Tell the limits."""

    operations = {
        "GET": Operation(
            "get_limits",
            "Tell every limit: the value in force, and the hard cap.",
            Permission.READ,
            answers={HTTPStatus.OK: LimitsOutput},
        ),
    }

    def get(self, request: Request) -> Response:
        self.query(request)
        return Response(limits_output(self.memory(request).limits))
