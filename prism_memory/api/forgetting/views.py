"""Views of what deletes: parse, make one domain call, answer."""

from __future__ import annotations

from http import HTTPStatus

from rest_framework.request import Request
from rest_framework.response import Response

from prism_memory.api.base import ScopedView
from prism_memory.api.forgetting.inputs import (
    ForgetInput,
    ForgetThreadInput,
    ReleaseForgottenInput,
)
from prism_memory.api.forgetting.outputs import ForgottenOutput, forgotten_output
from prism_memory.api.operations import Operation
from prism_memory.types import Permission


class ForgetView(ScopedView):
    """Delete several memories."""

    operations = {
        "POST": Operation(
            "forget",
            "Delete memories of this scope and all derived from them: all, or none.",
            Permission.GOVERN,
            answers={HTTPStatus.OK: ForgottenOutput},
            bodies=(ForgetInput,),
            refusals=(HTTPStatus.NOT_IMPLEMENTED,),
        ),
    }

    def post(self, request: Request) -> Response:
        done = self.memory(request).forget(**self.body(request))
        return Response(forgotten_output(done))


class ForgetThreadView(ScopedView):
    """Delete what a thread holds."""

    operations = {
        "POST": Operation(
            "forget_thread",
            "Delete all that was said in the thread of the headers.",
            Permission.GOVERN,
            answers={HTTPStatus.OK: ForgottenOutput},
            bodies=(ForgetThreadInput,),
            refusals=(HTTPStatus.NOT_IMPLEMENTED,),
        ),
    }

    def post(self, request: Request) -> Response:
        done = self.memory(request).forget_thread(**self.body(request))
        return Response(forgotten_output(done))


class ReleaseForgottenView(ScopedView):
    """End what forgetting with a hold began."""

    operations = {
        "POST": Operation(
            "release_forgotten",
            "Delete for good what was forgotten with a hold, or show it again.",
            Permission.GOVERN,
            answers={HTTPStatus.OK: ForgottenOutput},
            bodies=(ReleaseForgottenInput,),
            refusals=(HTTPStatus.CONFLICT, HTTPStatus.NOT_IMPLEMENTED),
        ),
    }

    def post(self, request: Request) -> Response:
        done = self.memory(request).release_forgotten(**self.body(request))
        return Response(forgotten_output(done))
