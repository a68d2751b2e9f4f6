"""Bodies and queries of ``/memories``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from rest_framework import serializers

from prism_memory.api.fields import (
    Choice,
    Flag,
    Moment,
    Number,
    Object,
    ObjectInQuery,
    Several,
    StrictInput,
    Text,
    Whole,
    WholeInQuery,
)
from prism_memory.db.languages import LANGUAGES
from prism_memory.errors import Invalid, LimitExceeded, PermissionDenied
from prism_memory.lifecycle.entries import consent_source
from prism_memory.types import (
    SAID_KINDS,
    Consent,
    ConsentScope,
    ConsentSource,
    Entry,
    Grant,
    Kind,
    Lineage,
    Permission,
    SourceRef,
    Tier,
)

REASON_CHARACTERS: Final = 1_000


class ConsentInput(StrictInput):
    """A consent as given. ``label`` says what for; it filters nothing."""

    source = Choice(
        "ConsentSource",
        ConsentSource,
        required=False,
        help_text="Needs govern; the one of the credentials' trust when not given.",
    )  # type: ignore[assignment]
    label = Choice("ConsentLabel", ConsentScope, required=False)  # type: ignore[assignment]
    visible = Flag(required=False)
    granted_at = Moment(
        required=False, allow_null=True, help_text="Needs govern; now when not given."
    )


class LineageInput(StrictInput):
    """What it is derived from: keys, refs, or ids of things outside."""

    source_ids = Several(child=Text())


class SourceInput(StrictInput):
    """The stream that it belongs to."""

    key = Text()
    ordinal = Whole(required=False, min_value=0)
    uri = Text(required=False, allow_blank=True)


class EntryInput(StrictInput):
    """One thing to remember."""

    text = Text()
    key = Text(required=False, allow_null=True)
    kind = Choice("RememberedKind", SAID_KINDS, required=False)
    tier = Choice("MemoryTier", Tier, required=False)
    namespace = Text(required=False, allow_blank=True)
    partition = Text(required=False, allow_blank=True)
    metadata = Object(required=False)
    consent = ConsentInput(required=False, allow_null=True)
    sequence = Whole(required=False, allow_null=True)
    importance = Number(required=False, allow_null=True)
    reflection = Object(required=False, allow_null=True)
    lineage = LineageInput(required=False, allow_null=True)
    source = SourceInput(required=False, allow_null=True)  # type: ignore[assignment]
    language = Choice("MemoryLanguage", LANGUAGES, required=False)
    lexical_text = Text(required=False, allow_null=True)
    embed_text = Text(required=False, allow_null=True)
    happened_at = Moment(required=False, allow_null=True)
    expires_at = Moment(required=False, allow_null=True)
    valid_from = Moment(required=False, allow_null=True)
    valid_to = Moment(required=False, allow_null=True)


class RememberOneInput(EntryInput):
    """One entry."""

    wait = Flag(required=False, help_text="Embed before answering.")


class RememberInput(StrictInput):
    """A batch: all of it is stored, or nothing."""

    entries = EntryInput(many=True)
    wait = Flag(required=False, help_text="Embed before answering.")


class SetConsentInput(StrictInput):
    """What to change of a consent; what is not given stays."""

    visible = Flag(required=False, help_text="True grants, false revokes at once.")
    source = Choice("ConsentSource", ConsentSource, required=False)  # type: ignore[assignment]
    label = Choice("ConsentLabel", ConsentScope, required=False)  # type: ignore[assignment]
    reason = Text(
        required=False,
        allow_blank=True,
        help_text="For the audit; no content.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Refuse a body that changes nothing.

        Raises:
            LimitExceeded: The reason is too long.
        """
        if not attrs.keys() & {"visible", "source", "label"}:
            message = "Give visible, source or label."
            raise serializers.ValidationError(message)
        check_reason(attrs)
        return attrs


class HistoryInput(StrictInput):
    """The query of a history."""

    cursor = Text(required=False, help_text="The next_cursor of the page before.")
    limit = WholeInQuery(
        required=False, help_text="Decisions of the page; GET limits tells how many."
    )


class ListInput(StrictInput):
    """The query of a list."""

    cursor = Text(required=False, help_text="The next_cursor of the page before.")
    limit = WholeInQuery(
        required=False, help_text="Rows of the page; GET limits tells how many."
    )
    kinds = Several(child=Choice("MemoryKind", Kind), required=False)
    tiers = Several(child=Choice("MemoryTier", Tier), required=False)
    namespaces = Several(child=Text(allow_blank=True), required=False)
    tags = Several(child=Text(allow_blank=True), required=False)
    partition = Text(required=False, allow_blank=True)
    filter = ObjectInQuery(required=False, help_text="Conditions on metadata, as JSON.")


def check_reason(given: Mapping[str, Any]) -> None:
    """Refuse a reason that the audit would not keep.

    Raises:
        LimitExceeded: It is too long.
    """
    if len(given.get("reason", "")) > REASON_CHARACTERS:
        message = f"reason is over {REASON_CHARACTERS} characters."
        raise LimitExceeded(message, field="reason")


def entries_of(given: list[dict[str, Any]], grant: Grant) -> list[Entry]:
    """Return the entries of a batch.

    Raises:
        Invalid: An entry is not acceptable; the error names its place.
        LimitExceeded: Likewise.
        PermissionDenied: Likewise.
    """
    return [_placed(values, grant, f"entries[{n}]") for n, values in enumerate(given)]


def _placed(values: dict[str, Any], grant: Grant, place: str) -> Entry:
    try:
        return entry_of(values, grant)
    except (Invalid, LimitExceeded, PermissionDenied) as error:
        error.field = f"{place}.{error.field}"
        raise


def entry_of(values: Mapping[str, Any], grant: Grant) -> Entry:
    """Return an entry from what the form read.

    Raises:
        Invalid: A field is not acceptable.
        LimitExceeded: A name is too long.
        PermissionDenied: It says who consented or when, without govern.
    """
    consent, lineage, source = map(values.get, ("consent", "lineage", "source"))
    nested = {
        "consent": None if consent is None else _consent(consent, grant),
        "lineage": None if lineage is None else Lineage(tuple(lineage["source_ids"])),
        "source": None if source is None else SourceRef(**source),
    }
    return Entry(**{**values, **nested})


def _consent(given: Mapping[str, Any], grant: Grant) -> Consent:
    for claim in ("source", "granted_at"):
        claimed = given.get(claim) is not None
        if claimed and Permission.GOVERN not in grant.permissions:
            message = f"Saying consent.{claim} needs the permission 'govern'."
            raise PermissionDenied(message, field=f"consent.{claim}")
    return Consent(
        source=given.get("source", consent_source(grant.origin.trust)),
        scope=given.get("label", ConsentScope.THREAD),
        visible=given.get("visible", True),
        granted_at=given.get("granted_at"),
    )
