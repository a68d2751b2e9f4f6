"""View of ``/pending``: make one domain call, answer."""

from __future__ import annotations

from http import HTTPStatus

from rest_framework.request import Request
from rest_framework.response import Response

from prism_memory.api.base import ScopedView
from prism_memory.api.operations import Operation
from prism_memory.api.pending.outputs import PendingOutput, pending_output
from prism_memory.types import Permission


class PendingView(ScopedView):
    """Tell how far indexing is."""

    operations = {
        "GET": Operation(
            "get_pending",
            "Tell what in sight still waits for its vector.",
            Permission.READ,
            answers={HTTPStatus.OK: PendingOutput},
        ),
    }

    def get(self, request: Request) -> Response:
        self.query(request)
        return Response(pending_output(self.memory(request).pending()))
