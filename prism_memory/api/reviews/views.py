"""Views of ``/reviews``: parse, make one domain call, answer."""

from __future__ import annotations

from http import HTTPStatus

from rest_framework.request import Request
from rest_framework.response import Response

from prism_memory.api.base import ScopedView, grant_of
from prism_memory.api.facts.views import REFUSALS
from prism_memory.api.gate.inputs import check_force
from prism_memory.api.memories.views import known_id
from prism_memory.api.operations import Operation
from prism_memory.api.reviews.inputs import DecideInput, ListReviewsInput
from prism_memory.api.reviews.outputs import (
    ReviewedOutput,
    ReviewPageOutput,
    review_page_output,
    reviewed_output,
)
from prism_memory.types import Permission


class ReviewsView(ScopedView):
    """List what waits for a person."""

    operations = {
        "GET": Operation(
            "list_reviews",
            "List what waits for a person in exactly this scope, with its words.",
            Permission.GOVERN,
            answers={HTTPStatus.OK: ReviewPageOutput},
            query=ListReviewsInput,
        ),
    }

    def get(self, request: Request) -> Response:
        memory = self.memory(request)
        return Response(review_page_output(memory.facts.reviews(**self.query(request))))


class DecideView(ScopedView):
    """Decide about something that waits."""

    operations = {
        "POST": Operation(
            "decide_review",
            "Accept or reject a proposal, validate or reject what is quarantined.",
            Permission.GOVERN,
            answers={HTTPStatus.OK: ReviewedOutput},
            bodies=(DecideInput,),
            refusals=REFUSALS,
        ),
    }

    def post(self, request: Request, review_id: str) -> Response:
        memory, given = self.memory(request), self.body(request)
        check_force(given, grant_of(request))
        return Response(
            reviewed_output(memory.facts.decide(known_id(review_id), **given))
        )
