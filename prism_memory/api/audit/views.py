"""View of ``/audit``: parse, make one domain call, answer."""

from __future__ import annotations

from http import HTTPStatus

from rest_framework.request import Request
from rest_framework.response import Response

from prism_memory import governance
from prism_memory.api.audit.inputs import ListEventsInput
from prism_memory.api.audit.outputs import EventPageOutput, event_page_output
from prism_memory.api.base import ScopedView
from prism_memory.api.operations import Operation
from prism_memory.recall.options import limit
from prism_memory.types import Permission


class AuditView(ScopedView):
    """Read the trail of a tenant. Only keys of the tenant itself open it."""

    operations = {
        "GET": Operation(
            "list_audit",
            "List who did what to which id in this tenant, newest first.",
            Permission.GOVERN,
            answers={HTTPStatus.OK: EventPageOutput},
            query=ListEventsInput,
        ),
    }

    def get(self, request: Request) -> Response:
        memory, given = self.memory(request), self.query(request)
        wanted = given.pop("limit", None)
        page = governance.list_events(
            using=memory.using,
            scope=memory.scope,
            rows=limit(memory.limits, wanted, "list_rows", "limit"),
            **given,
        )
        return Response(event_page_output(page))
