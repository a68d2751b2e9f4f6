"""The bodies of ``/recall`` and ``/recall/deep``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from prism_memory.api.fields import (
    Choice,
    Flag,
    Identifier,
    Moment,
    Number,
    Object,
    Several,
    StrictInput,
    Text,
    Whole,
)
from prism_memory.conf import settings
from prism_memory.errors import Invalid, PermissionDenied
from prism_memory.types import Grant, Kind, Permission, Scoring, Tier

LEGS: Final = ("vector", "text", "recency")
FUSIONS: Final = ("convex", "rrf", "blend")

NEEDS: Final = {
    ("include_superseded", True): Permission.GOVERN,
    ("include_quarantined", True): Permission.GOVERN,
    ("require_consent", False): Permission.GOVERN,
    ("trust_weighting", False): Permission.GOVERN,
    ("reinforce", True): Permission.WRITE,
}
"""What an option needs beyond ``read`` with this value: it shows what is held back,
puts strangers' words level with the user's, or changes what is kept."""


@extend_schema_field(
    {
        "oneOf": [
            {"type": "string", "enum": ["hybrid", *LEGS]},
            {"type": "array", "items": {"type": "string", "enum": [*LEGS]}},
        ]
    }
)
class Legs(serializers.Field[Any, Any, Any, Any]):
    """One leg, both main ones as ``hybrid``, or a list of legs."""

    def to_internal_value(self, data: Any) -> str | list[str]:  # noqa: ANN401 - any JSON
        """Return ``data`` if it names legs; the domain says what else is wrong."""
        names = data if isinstance(data, list) else [data]
        known = (*LEGS, *(() if names is data else ("hybrid",)))
        if all(isinstance(name, str) and name in known for name in names):
            return data  # type: ignore[no-any-return]
        listed = ", ".join(map(repr, LEGS))
        message = f"Must be 'hybrid', one of {listed}, or a list of these."
        raise serializers.ValidationError(message)


class Alias(Text):
    """An alias that the installation has in a setting; empty for none.

    Args:
        setting: The setting that lists them.
    """

    def __init__(self, setting: str, **kwargs: Any) -> None:  # noqa: ANN401 - REST framework's
        self.setting = setting
        super().__init__(allow_blank=True, **kwargs)

    def to_internal_value(self, data: Any) -> str:  # noqa: ANN401 - any JSON
        """Return ``data`` if it is known: to the domain, another one is our fault."""
        alias = super().to_internal_value(data)
        if alias and alias not in getattr(settings, self.setting):
            raise serializers.ValidationError("This server has none of that name.")
        return alias


class WeightsInput(StrictInput):
    """What each leg counts; a missing one counts 1."""

    vector = Number(required=False)
    text = Number(required=False)
    recency = Number(required=False)
    entity = Number(required=False)


class ScoringInput(StrictInput):
    """What age and importance count beside similarity, which has the rest of 1."""

    recency_weight = Number(required=False, help_text="0..1.")
    importance_weight = Number(required=False, help_text="0..1.")
    half_life_ms = Number(
        required=False, help_text="Age at which recency is a half, in milliseconds."
    )


class QuestionInput(StrictInput):
    """A question. An empty list lets nothing through; one left out, everything.

    What may be null is null in Python too: there it undoes a default of the search.
    """

    query = Text()
    top_k = Whole(
        required=False,
        allow_null=True,
        help_text="Hits wanted; GET limits tells how many.",
    )

    kinds = Several(child=Choice("MemoryKind", Kind), required=False, allow_null=True)
    tiers = Several(child=Choice("MemoryTier", Tier), required=False, allow_null=True)
    namespaces = Several(child=Text(allow_blank=True), required=False, allow_null=True)
    tags = Several(
        child=Text(allow_blank=True),
        required=False,
        allow_null=True,
        help_text="Only what has one of these among the tags of its metadata.",
    )
    partition = Text(required=False, allow_null=True, allow_blank=True)
    filter = Object(
        required=False, allow_null=True, help_text="Conditions on the metadata."
    )
    ids = Several(
        child=Identifier(),
        required=False,
        allow_null=True,
        help_text="Only these; GET limits tells how many.",
    )
    as_of = Moment(
        required=False,
        allow_null=True,
        help_text="When it must be valid; now when not given.",
    )
    known_at = Moment(
        required=False,
        allow_null=True,
        help_text="Only what was there and in sight then too.",
    )
    require_consent = Flag(
        required=False,
        allow_null=True,
        help_text="Only what was consented to. False lifts what the server requires,"
        " and needs govern.",
    )
    include_superseded = Flag(
        required=False, help_text="What is not valid too. True needs govern."
    )
    include_quarantined = Flag(
        required=False, help_text="What the gate holds back too. True needs govern."
    )

    share_from_parent_thread_id = Text(
        required=False,
        allow_null=True,
        help_text="Also what the thread of this name, of the same owner and agent,"
        " shares with this one.",
    )

    legs = Legs(required=False, help_text="hybrid when not given.")
    fusion = Choice("RecallFusion", FUSIONS, required=False)
    weights = WeightsInput(required=False, allow_null=True)
    rrf_k = Number(
        required=False, allow_null=True, help_text="Rank offset of rrf, above 0."
    )
    blend = Number(
        required=False, allow_null=True, help_text="Share of the words in blend, 0..1."
    )
    candidates = Whole(
        required=False,
        allow_null=True,
        help_text="That each leg is asked for, 1..128; by top_k when not given.",
    )
    context = Flag(  # type: ignore[assignment] # a form is given no context of its own
        required=False,
        allow_null=True,
        help_text="Let what stands around a record speak for it.",
    )
    scoring = ScoringInput(required=False, allow_null=True)
    trust_weighting = Flag(
        required=False,
        help_text="Discount what is not first-party; on. False needs govern.",
    )
    decay_days = Number(
        required=False, allow_null=True, help_text="Time constant of decay, above 0."
    )
    reranker = Alias(
        "RERANKERS", required=False, allow_null=True, help_text="Empty: none."
    )
    diversity = Number(
        required=False,
        allow_null=True,
        help_text="0..1, the share of relevance; 1 when not given.",
    )
    multi_query = Whole(
        required=False,
        allow_null=True,
        help_text="Questions asked in all; GET limits tells how many.",
    )
    hyde = Flag(
        required=False, help_text="Search also for what is near a made-up answer."
    )
    transformer = Alias(
        "TRANSFORMERS", required=False, allow_null=True, help_text="Empty: none."
    )
    expand_hops = Whole(
        required=False,
        help_text="Add facts that share an entity with those found, 1, or with these"
        " in turn, 2; 0 when not given.",
    )
    entity_match = Flag(
        required=False, help_text="Add facts that speak of what the question names."
    )
    deadline_seconds = Number(
        required=False,
        allow_null=True,
        help_text="Longest that the call may take, above 0.",
    )
    reinforce = Flag(
        required=False, help_text="Strengthen the hits, later. True needs write."
    )


class RecallInput(QuestionInput):
    """A question, and what to tell beside the hits."""

    max_bytes = Whole(
        required=False,
        allow_null=True,
        help_text="Of the hits, words and metadata; 524288 at most. Any if not given.",
    )
    max_tokens = Whole(
        required=False,
        allow_null=True,
        help_text="Of the hits' words, characters / 4; 8000 at most. Any if not given.",
    )
    message_range = Whole(
        required=False,
        allow_null=True,
        help_text="Rows shown before and after each hit; GET limits tells how many.",
    )
    explain = Flag(required=False, help_text="Say why each hit is where it is.")


class DeepRecallInput(QuestionInput):
    """A question that may take several passes."""

    max_iterations = Whole(
        required=False,
        allow_null=True,
        help_text="Passes at most; GET limits tells how many (deep_iterations).",
    )
    threshold = Number(
        required=False,
        allow_null=True,
        help_text="Difficulty from which it is hard, 0..1.",
    )
    force_hard = Flag(required=False, help_text="Take it for hard.")


def asked(values: Mapping[str, Any], grant: Grant) -> dict[str, Any]:
    """Return the arguments of a recall from what the form read.

    Raises:
        Invalid: The scoring is not acceptable.
        PermissionDenied: The grant does not open an option.
    """
    for (name, value), needed in NEEDS.items():
        if values.get(name) is value and needed not in grant.permissions:
            message = f"{name}: {str(value).lower()} needs the permission '{needed}'."
            raise PermissionDenied(message, field=name)
    if values.get("scoring") is None:
        return dict(values)
    return {**values, "scoring": _scoring(values["scoring"])}


def _scoring(given: Mapping[str, float]) -> Scoring:
    try:
        return Scoring(**given)
    except Invalid as error:
        error.field = f"scoring.{error.field}"
        raise
