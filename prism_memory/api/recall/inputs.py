"""The body of ``/recall``."""

from __future__ import annotations

from prism_memory.api.fields import (
    Choice,
    Flag,
    Identifier,
    Moment,
    Object,
    Several,
    StrictInput,
    Text,
    Whole,
)
from prism_memory.types import Kind, Tier


class RecallInput(StrictInput):
    """A question. An empty list lets nothing through; one left out, everything."""

    query = Text()
    top_k = Whole(required=False, help_text="Hits wanted; GET limits tells how many.")
    legs = Choice("RecallLegs", ("hybrid", "vector", "text"), required=False)
    kinds = Several(child=Choice("MemoryKind", Kind), required=False)
    tiers = Several(child=Choice("MemoryTier", Tier), required=False)
    namespaces = Several(child=Text(allow_blank=True), required=False)
    partition = Text(required=False, allow_blank=True)
    filter = Object(required=False, help_text="Conditions on the metadata.")
    ids = Several(
        child=Identifier(),
        required=False,
        help_text="Only these; GET limits tells how many.",
    )
    as_of = Moment(required=False)
    require_consent = Flag(required=False)
