"""Views of ``/conflicts``: parse, make one domain call, answer."""

from __future__ import annotations

from http import HTTPStatus

from rest_framework.request import Request
from rest_framework.response import Response

from prism_memory.api.base import ScopedView
from prism_memory.api.conflicts.inputs import SettleInput
from prism_memory.api.conflicts.outputs import (
    ConflictPageOutput,
    SettledOutput,
    conflict_page_output,
    settled_output,
)
from prism_memory.api.facts.inputs import PageInput
from prism_memory.api.facts.views import REFUSALS
from prism_memory.api.memories.views import known_id
from prism_memory.api.operations import Operation
from prism_memory.types import Permission


class ConflictsView(ScopedView):
    """List conflicts that wait."""

    operations = {
        "GET": Operation(
            "list_conflicts",
            "List the conflicts of claims that wait in exactly this scope.",
            Permission.GOVERN,
            answers={HTTPStatus.OK: ConflictPageOutput},
            query=PageInput,
        ),
    }

    def get(self, request: Request) -> Response:
        page = self.memory(request).facts.conflicts(**self.query(request))
        return Response(conflict_page_output(page))


class SettleView(ScopedView):
    """Settle one conflict."""

    operations = {
        "POST": Operation(
            "settle_conflict",
            "Say whether a claim stands beside another, repeats or replaces it.",
            Permission.GOVERN,
            answers={HTTPStatus.OK: SettledOutput},
            bodies=(SettleInput,),
            refusals=REFUSALS,
        ),
    }

    def post(self, request: Request, conflict_id: str) -> Response:
        memory, given = self.memory(request), self.body(request)
        done = memory.facts.settle_conflict(known_id(conflict_id), **given)
        return Response(settled_output(done))
