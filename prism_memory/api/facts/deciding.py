"""Views of decisions about one fact: parse, make one domain call, answer."""

from __future__ import annotations

from http import HTTPStatus

from rest_framework.request import Request
from rest_framework.response import Response

from prism_memory.api.base import ScopedView, grant_of
from prism_memory.api.facts.inputs import AcceptInput, NotedInput
from prism_memory.api.facts.outputs import DecidedOutput, decided_output
from prism_memory.api.facts.views import REFUSALS
from prism_memory.api.forgetting.outputs import ForgottenOutput, forgotten_output
from prism_memory.api.gate.inputs import QuarantineInput, ValidateInput, check_force
from prism_memory.api.memories.views import known_id
from prism_memory.api.operations import Form, Operation
from prism_memory.types import Permission


def governs(
    name: str, summary: str, body: Form = NotedInput, answer: Form | None = None
) -> dict[str, Operation]:
    """Return what a view declares that decides about one fact."""
    status = HTTPStatus.NO_CONTENT if answer is None else HTTPStatus.OK
    operation = Operation(
        f"{name}_fact",
        summary,
        Permission.GOVERN,
        answers={status: answer},
        bodies=(body,),
        refusals=REFUSALS,
    )
    return {"POST": operation}


class AcceptView(ScopedView):
    """Accept a proposal."""

    operations = governs(
        "accept",
        "Turn a proposal of this scope into an accepted fact.",
        AcceptInput,
        DecidedOutput,
    )

    def post(self, request: Request, fact_id: str) -> Response:
        memory, given = self.memory(request), self.body(request)
        done = memory.facts.accept(known_id(fact_id), **given)
        return Response(decided_output(done))


class ValidateFactView(ScopedView):
    """Open the gate of a fact."""

    operations = governs(
        "validate",
        "Open the gate of a fact of this scope, if no rule matches any more.",
        ValidateInput,
        DecidedOutput,
    )

    def post(self, request: Request, fact_id: str) -> Response:
        memory, given = self.memory(request), self.body(request)
        check_force(given, grant_of(request))
        done = memory.facts.validate(known_id(fact_id), **given)
        return Response(decided_output(done))


class RetractView(ScopedView):
    """Retract a fact."""

    operations = governs(
        "retract", "End a fact of this scope for good: it was never true."
    )

    def post(self, request: Request, fact_id: str) -> Response:
        memory, given = self.memory(request), self.body(request)
        memory.facts.retract(known_id(fact_id), **given)
        return Response(status=HTTPStatus.NO_CONTENT)


class QuarantineFactView(ScopedView):
    """Hold a fact back."""

    operations = governs(
        "quarantine",
        "Hold a fact of this scope back until somebody validates it.",
        QuarantineInput,
    )

    def post(self, request: Request, fact_id: str) -> Response:
        memory, given = self.memory(request), self.body(request)
        memory.facts.quarantine(known_id(fact_id), **given)
        return Response(status=HTTPStatus.NO_CONTENT)


class ForgetFactView(ScopedView):
    """Hide a fact for good."""

    operations = governs(
        "forget", "Hide a fact of this scope for good; its history shows that it was."
    )

    def post(self, request: Request, fact_id: str) -> Response:
        memory, given = self.memory(request), self.body(request)
        memory.facts.forget(known_id(fact_id), **given)
        return Response(status=HTTPStatus.NO_CONTENT)


class PurgeView(ScopedView):
    """Delete a fact."""

    operations = governs(
        "purge",
        "Delete a fact of this scope and all derived from it.",
        answer=ForgottenOutput,
    )

    def post(self, request: Request, fact_id: str) -> Response:
        memory, given = self.memory(request), self.body(request)
        done = memory.facts.purge(known_id(fact_id), **given)
        return Response(forgotten_output(done))


class ArchiveView(ScopedView):
    """Put a fact aside."""

    operations = governs("archive", "Put a fact of this scope aside; nothing is lost.")

    def post(self, request: Request, fact_id: str) -> Response:
        memory, given = self.memory(request), self.body(request)
        memory.facts.archive(known_id(fact_id), **given)
        return Response(status=HTTPStatus.NO_CONTENT)


class UnarchiveView(ScopedView):
    """Take a fact back."""

    operations = governs("unarchive", "Take a fact back that was put aside.")

    def post(self, request: Request, fact_id: str) -> Response:
        memory, given = self.memory(request), self.body(request)
        memory.facts.unarchive(known_id(fact_id), **given)
        return Response(status=HTTPStatus.NO_CONTENT)
