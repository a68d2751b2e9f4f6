"""What ``/reviews`` answers: words too, also of what the gate holds back."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from prism_memory.api.facts.outputs import FactOutput, fact_output
from prism_memory.api.fields import Choice
from prism_memory.api.memories.outputs import MemoryOutput, memory_output
from prism_memory.api.openapi import MarkerOutput
from prism_memory.api.rendering import moment
from prism_memory.types import (
    ReviewDecision,
    Reviewed,
    ReviewItem,
    ReviewPage,
    ReviewWhy,
)


class ReviewOutput(serializers.Serializer[Any]):
    """Something that waits for a person."""

    id = serializers.UUIDField()
    why = Choice("ReviewWhy", ReviewWhy)
    opened_at = serializers.DateTimeField()
    memory = MemoryOutput()
    fact = FactOutput(allow_null=True, help_text="Null where it is no fact.")
    gate = Choice("MemoryGate", ("open", "quarantined"))
    gate_reason = serializers.CharField(allow_blank=True)
    markers = MarkerOutput(many=True)


class ReviewPageOutput(serializers.Serializer[Any]):
    """One page of what waits in exactly this scope, the oldest first."""

    items = ReviewOutput(many=True)
    next_cursor = serializers.CharField(
        allow_null=True, help_text="Where the next page begins; null on the last."
    )


class ReviewedOutput(serializers.Serializer[Any]):
    """What a decision did."""

    id = serializers.UUIDField()
    memory = serializers.UUIDField(help_text="What it was about; a fact's id too.")
    why = Choice("ReviewWhy", ReviewWhy)
    decision = Choice("ReviewDecision", ReviewDecision)
    replaced = serializers.BooleanField(
        help_text="The fact took the place of the one that it waited for."
    )
    waiting = serializers.BooleanField(
        help_text="It still waits for one: it may not replace it."
    )


def review_page_output(page: ReviewPage) -> dict[str, Any]:
    """Return a page."""
    return {
        "items": [_output(review) for review in page.items],
        "next_cursor": page.next_cursor,
    }


def reviewed_output(done: Reviewed) -> dict[str, Any]:
    """Return what a decision did."""
    return {
        "id": str(done.id),
        "memory": str(done.record_id),
        "why": done.why.value,
        "decision": done.decision.value,
        "replaced": done.replaced,
        "waiting": done.waiting,
    }


def _output(review: ReviewItem) -> dict[str, Any]:
    return {
        "id": str(review.id),
        "why": review.why.value,
        "opened_at": moment(review.opened_at),
        "memory": memory_output(review.item),
        "fact": None if review.fact is None else fact_output(review.fact),
        "gate": review.item.gate,
        "gate_reason": review.item.gate_reason,
        "markers": [dict(marker) for marker in review.markers],
    }
