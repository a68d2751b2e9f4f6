"""Views of ``/facts`` that read and write: parse, make one domain call, answer."""

from __future__ import annotations

from http import HTTPStatus

from rest_framework.request import Request
from rest_framework.response import Response

from prism_memory.api.base import ScopedView
from prism_memory.api.facts.inputs import (
    AssertInput,
    ListFactsInput,
    RememberFactInput,
    SupersedeInput,
    TimelineInput,
    claim_of,
)
from prism_memory.api.facts.outputs import (
    FactOutput,
    FactPageOutput,
    RememberedFactOutput,
    StandingOutput,
    fact_output,
    fact_page_output,
    remembered_fact_output,
    standing_output,
)
from prism_memory.api.memories.views import known_id
from prism_memory.api.operations import Operation
from prism_memory.types import Permission, Verdict

REFUSALS = (HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT, HTTPStatus.NOT_IMPLEMENTED)


class FactsView(ScopedView):
    """Assert a fact, and list those that hold."""

    operations = {
        "GET": Operation(
            "list_facts",
            "List the facts in sight that hold, as they are known.",
            Permission.READ,
            answers={HTTPStatus.OK: FactPageOutput},
            query=ListFactsInput,
        ),
        "POST": Operation(
            "assert_fact",
            "Store a claim that cites memories in sight; the policy judges it.",
            Permission.WRITE,
            answers={HTTPStatus.CREATED: StandingOutput},
            bodies=(AssertInput,),
            refusals=REFUSALS,
        ),
    }

    def get(self, request: Request) -> Response:
        memory = self.memory(request)
        return Response(fact_page_output(memory.facts(**self.query(request))))

    def post(self, request: Request) -> Response:
        memory = self.memory(request)
        subject, predicate, value, rest = claim_of(self.body(request))
        done = memory.facts.assert_fact(subject, predicate, value, **rest)
        return Response(standing_output(done), status=HTTPStatus.CREATED)


class RememberFactView(ScopedView):
    """Remember a claim in plain words."""

    operations = {
        "POST": Operation(
            "remember_fact",
            "Store a claim, unless what stands in this scope says it already.",
            Permission.WRITE,
            answers={
                HTTPStatus.CREATED: RememberedFactOutput,
                HTTPStatus.OK: RememberedFactOutput,
            },
            bodies=(RememberFactInput,),
            refusals=REFUSALS,
        ),
    }

    def post(self, request: Request) -> Response:
        memory, given = self.memory(request), self.body(request)
        done = memory.facts.remember_with_decision(given.pop("text"), **given)
        known = done.verdict is Verdict.DEDUP
        status = HTTPStatus.OK if known else HTTPStatus.CREATED
        return Response(remembered_fact_output(done), status=status)


class TimelineView(ScopedView):
    """List all that was ever known of a subject."""

    operations = {
        "GET": Operation(
            "list_fact_timeline",
            "List every version of what is known of a subject, the oldest first.",
            Permission.READ,
            answers={HTTPStatus.OK: FactPageOutput},
            query=TimelineInput,
        ),
    }

    def get(self, request: Request) -> Response:
        memory = self.memory(request)
        return Response(fact_page_output(memory.facts.timeline(**self.query(request))))


class FactView(ScopedView):
    """Read one fact."""

    operations = {
        "GET": Operation(
            "get_fact",
            "Read one fact in sight as it stands now.",
            Permission.READ,
            answers={HTTPStatus.OK: FactOutput},
            refusals=(HTTPStatus.NOT_FOUND,),
        ),
    }

    def get(self, request: Request, fact_id: str) -> Response:
        self.query(request)
        found = self.memory(request).facts.get(known_id(fact_id))
        return Response(fact_output(found))


class HistoryView(ScopedView):
    """Read the chain that a fact is part of."""

    operations = {
        "GET": Operation(
            "get_fact_history",
            "Read what a fact replaced and what replaced it, the oldest first.",
            Permission.READ,
            answers={HTTPStatus.OK: FactPageOutput},
            refusals=(HTTPStatus.NOT_FOUND,),
        ),
    }

    def get(self, request: Request, fact_id: str) -> Response:
        self.query(request)
        found = self.memory(request).facts.history(known_id(fact_id))
        return Response(fact_page_output(found))


class SupersedeView(ScopedView):
    """Replace a fact: the world changed."""

    operations = {
        "POST": Operation(
            "supersede_fact",
            "Replace a fact of this scope by one that the policy accepts.",
            Permission.WRITE,
            answers={HTTPStatus.CREATED: StandingOutput},
            bodies=(SupersedeInput,),
            refusals=REFUSALS,
        ),
    }

    def post(self, request: Request, fact_id: str) -> Response:
        memory = self.memory(request)
        subject, predicate, value, rest = claim_of(self.body(request))
        done = memory.facts.supersede(
            known_id(fact_id), subject, predicate, value, **rest
        )
        return Response(standing_output(done), status=HTTPStatus.CREATED)
