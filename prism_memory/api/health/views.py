"""Views of ``/health``: open to all, and silent about everything but readiness."""

from __future__ import annotations

from http import HTTPStatus

from rest_framework.request import Request
from rest_framework.response import Response

from prism_memory.api.base import PublicView
from prism_memory.api.health.outputs import LiveOutput, ReadyOutput, ready_output
from prism_memory.api.health.readiness import readiness
from prism_memory.api.operations import Operation


class LiveView(PublicView):
    """Tell that the process answers. No query."""

    operations = {
        "GET": Operation(
            "health_live",
            "Tell that the process answers.",
            permission=None,
            answers={HTTPStatus.OK: LiveOutput},
        ),
    }

    def get(self, request: Request) -> Response:  # noqa: ARG002 - Django's signature
        return Response({"live": True})


class ReadyView(PublicView):
    """Tell whether the installation can serve."""

    operations = {
        "GET": Operation(
            "health_ready",
            "Tell whether database, extension, migrations and embedder are there.",
            permission=None,
            answers={
                HTTPStatus.OK: ReadyOutput,
                HTTPStatus.SERVICE_UNAVAILABLE: ReadyOutput,
            },
        ),
    }

    def get(self, request: Request) -> Response:  # noqa: ARG002 - Django's signature
        found = ready_output(readiness())
        good = HTTPStatus.OK if found["ready"] else HTTPStatus.SERVICE_UNAVAILABLE
        return Response(found, status=good)
