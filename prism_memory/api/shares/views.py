"""Views of ``/shares``: parse, make one domain call, answer."""

from __future__ import annotations

from http import HTTPStatus

from rest_framework.request import Request
from rest_framework.response import Response

from prism_memory.api.base import ScopedView
from prism_memory.api.operations import Operation
from prism_memory.api.shares.inputs import (
    ListSharesInput,
    RevokeShareInput,
    ShareInput,
)
from prism_memory.api.shares.outputs import SharePageOutput, share_page_output
from prism_memory.types import Permission


class SharesView(ScopedView):
    """Let another thread recall some records of this one."""

    operations = {
        "GET": Operation(
            "list_shares",
            "List the shares that this thread gave or got.",
            Permission.READ,
            answers={HTTPStatus.OK: SharePageOutput},
            query=ListSharesInput,
        ),
        "PUT": Operation(
            "share_with",
            "Let one thread recall exactly these records of this one.",
            Permission.GOVERN,
            answers={HTTPStatus.NO_CONTENT: None},
            bodies=(ShareInput,),
            refusals=(HTTPStatus.NOT_FOUND,),
        ),
        "DELETE": Operation(
            "revoke_share",
            "Let one thread recall nothing of this one any more.",
            Permission.GOVERN,
            answers={HTTPStatus.NO_CONTENT: None},
            query=RevokeShareInput,
        ),
    }

    def get(self, request: Request) -> Response:
        page = self.memory(request).shares(**self.query(request))
        return Response(share_page_output(page))

    def put(self, request: Request) -> Response:
        self.memory(request).share_with(**self.body(request))
        return Response(status=HTTPStatus.NO_CONTENT)

    def delete(self, request: Request) -> Response:
        self.memory(request).revoke_share(**self.query(request))
        return Response(status=HTTPStatus.NO_CONTENT)
