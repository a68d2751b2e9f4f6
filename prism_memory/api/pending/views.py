"""View of ``/pending``: make one domain call, answer."""

from __future__ import annotations

from http import HTTPStatus

from rest_framework.request import Request
from rest_framework.response import Response

from prism_memory.api.base import ScopedView
from prism_memory.api.operations import Operation
from prism_memory.api.pending.inputs import ListFailedInput, RetryFailedInput
from prism_memory.api.pending.outputs import (
    FailedPageOutput,
    PendingOutput,
    RetriedOutput,
    failed_output,
    pending_output,
)
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


class FailedView(ScopedView):
    """List what was given up."""

    operations = {
        "GET": Operation(
            "list_failed_texts",
            "List the tenant's texts that were given up and have no vector.",
            Permission.OPERATE,
            answers={HTTPStatus.OK: FailedPageOutput},
            query=ListFailedInput,
        ),
    }

    def get(self, request: Request) -> Response:
        runs = self.memory(request).runs
        return Response(failed_output(runs.failed_texts(**self.query(request))))


class RetryFailedView(ScopedView):
    """Try again what was given up."""

    operations = {
        "POST": Operation(
            "retry_failed_texts",
            "Give the tenant's texts that were given up all their tries again.",
            Permission.OPERATE,
            answers={HTTPStatus.OK: RetriedOutput},
            bodies=(RetryFailedInput,),
        ),
    }

    def post(self, request: Request) -> Response:
        given, runs = self.body(request), self.memory(request).runs
        return Response({"retried": runs.retry_failed_texts(**given)})
