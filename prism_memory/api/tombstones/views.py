"""The view of ``/tombstones``: parse, make one domain call, answer."""

from __future__ import annotations

from http import HTTPStatus

from rest_framework.request import Request
from rest_framework.response import Response

from prism_memory.api.base import ScopedView
from prism_memory.api.operations import Operation
from prism_memory.api.tombstones.inputs import ListTombstonesInput
from prism_memory.api.tombstones.outputs import (
    TombstonePageOutput,
    tombstone_page_output,
)
from prism_memory.types import Permission


class TombstonesView(ScopedView):
    """Read why refs may not be used."""

    operations = {
        "GET": Operation(
            "list_tombstones",
            "List what is blocked in exactly this scope, and why.",
            Permission.GOVERN,
            answers={HTTPStatus.OK: TombstonePageOutput},
            query=ListTombstonesInput,
        ),
    }

    def get(self, request: Request) -> Response:
        page = self.memory(request).tombstones(**self.query(request))
        return Response(tombstone_page_output(page))
