"""The body of ``/recall``."""

from __future__ import annotations

from typing import Final

from rest_framework import serializers

from prism_memory.api.fields import (
    Choice,
    Flag,
    Identifier,
    Moment,
    Object,
    StrictInput,
    Text,
    Whole,
)
from prism_memory.types import Kind, Tier

NARROWING: Final = 1_000
"""Most values of one narrowing list."""


class RecallInput(StrictInput):
    """A question. An empty list lets nothing through; one left out, everything."""

    query = Text()
    top_k = Whole(required=False, help_text="Hits wanted; GET limits tells how many.")
    legs = Choice("RecallLegs", ("hybrid", "vector", "text"), required=False)
    kinds = serializers.ListField(
        child=Choice("MemoryKind", Kind), required=False, max_length=NARROWING
    )
    tiers = serializers.ListField(
        child=Choice("MemoryTier", Tier), required=False, max_length=NARROWING
    )
    namespaces = serializers.ListField(
        child=Text(allow_blank=True), required=False, max_length=NARROWING
    )
    partition = Text(required=False, allow_blank=True)
    filter = Object(required=False, help_text="Conditions on the metadata.")
    ids = serializers.ListField(
        child=Identifier(), required=False, max_length=NARROWING
    )
    valid_at = Moment(required=False)
    require_consent = Flag(required=False)
