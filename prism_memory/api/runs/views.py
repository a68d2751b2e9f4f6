"""Views of ``/runs``: parse, make one domain call, answer."""

from __future__ import annotations

from http import HTTPStatus

from rest_framework.request import Request
from rest_framework.response import Response

from prism_memory.api.base import ScopedView
from prism_memory.api.memories.views import known_id
from prism_memory.api.operations import Operation
from prism_memory.api.runs.inputs import ActOnRunInput, ListRunsInput
from prism_memory.api.runs.outputs import (
    RunOutput,
    RunPageOutput,
    run_output,
    run_page_output,
)
from prism_memory.types import Permission


class TenantRunsView(ScopedView):
    """List the tenant's long work."""

    operations = {
        "GET": Operation(
            "list_runs",
            "List the tenant's long work, the newest first.",
            Permission.OPERATE,
            answers={HTTPStatus.OK: RunPageOutput},
            query=ListRunsInput,
        ),
    }

    def get(self, request: Request) -> Response:
        return Response(
            run_page_output(self.memory(request).runs(**self.query(request)))
        )


class RunView(ScopedView):
    """Look at one run."""

    operations = {
        "GET": Operation(
            "get_run",
            "Tell how far a run is.",
            Permission.OPERATE,
            answers={HTTPStatus.OK: RunOutput},
            refusals=(HTTPStatus.NOT_FOUND,),
        ),
    }

    def get(self, request: Request, run_id: str) -> Response:
        self.query(request)
        return Response(run_output(self.memory(request).runs.get(known_id(run_id))))


class CancelRunView(ScopedView):
    """End a run before its work is done."""

    operations = {
        "POST": Operation(
            "cancel_run",
            "End a run that runs or is to be tried again; what is done stays done.",
            Permission.OPERATE,
            answers={HTTPStatus.OK: RunOutput},
            bodies=(ActOnRunInput,),
            refusals=(HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT),
        ),
    }

    def post(self, request: Request, run_id: str) -> Response:
        given, runs = self.body(request), self.memory(request).runs
        return Response(run_output(runs.cancel(known_id(run_id), **given)))


class RetryRunView(ScopedView):
    """Let a run that ended badly go on."""

    operations = {
        "POST": Operation(
            "retry_run",
            "Let a worker go on with a run that failed, was cancelled or fell silent.",
            Permission.OPERATE,
            answers={HTTPStatus.OK: RunOutput},
            bodies=(ActOnRunInput,),
            refusals=(HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT),
        ),
    }

    def post(self, request: Request, run_id: str) -> Response:
        given, runs = self.body(request), self.memory(request).runs
        return Response(run_output(runs.retry(known_id(run_id), **given)))
