"""The views of the gate: parse, make one domain call, answer."""

from __future__ import annotations

from http import HTTPStatus

from rest_framework.request import Request
from rest_framework.response import Response

from prism_memory.api.base import ScopedView, grant_of
from prism_memory.api.gate.inputs import QuarantineInput, ValidateInput, check_force
from prism_memory.api.gate.outputs import GateOutput, gate_output
from prism_memory.api.memories.views import known_id
from prism_memory.api.operations import Operation
from prism_memory.types import Permission

REFUSALS = (HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT, HTTPStatus.NOT_IMPLEMENTED)


class QuarantineView(ScopedView):
    """Hold one memory back."""

    operations = {
        "POST": Operation(
            "quarantine_memory",
            "Hold a memory of this scope back until somebody validates it.",
            Permission.GOVERN,
            answers={HTTPStatus.OK: GateOutput},
            bodies=(QuarantineInput,),
            refusals=REFUSALS,
        ),
    }

    def post(self, request: Request, memory_id: str) -> Response:
        memory = self.memory(request)
        given = self.body(request)
        record_id = known_id(memory_id)
        changed = memory.quarantine(record_id, reason=given["reason"])
        return Response(gate_output(str(record_id), "quarantined", changed=changed))


class ValidateView(ScopedView):
    """Let one memory through."""

    operations = {
        "POST": Operation(
            "validate_memory",
            "Scan a memory of this scope again; let it through if no rule matches.",
            Permission.GOVERN,
            answers={HTTPStatus.OK: GateOutput},
            bodies=(ValidateInput,),
            refusals=REFUSALS,
        ),
    }

    def post(self, request: Request, memory_id: str) -> Response:
        memory = self.memory(request)
        given = self.body(request)
        check_force(given, grant_of(request))
        record_id = known_id(memory_id)
        changed = memory.validate(record_id, **given)
        return Response(gate_output(str(record_id), "open", changed=changed))
