"""The words of claims and of their evidence, for who reviews them.

As on a record's page, but for two things: what is past, superseded or retracted is
read too, for a history is about that; and what the gate alone holds back is read by
who may see withheld text. The gate keeps words from agents, not from their reviewer.
Whatever else withholds words (consent, a tombstone, an expiry) withholds them here.
"""

from __future__ import annotations

import uuid
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from django.db.models import F
from django.db.models.functions import Left
from django.http import HttpRequest
from django.utils import timezone
from django.utils.text import Truncator

from prism_memory import access
from prism_memory.admin.content import PREVIEW_CHARACTERS, edited
from prism_memory.admin.highlighting import stored_markers
from prism_memory.admin.using import using
from prism_memory.gate import Marker, judge
from prism_memory.models import Record
from prism_memory.redaction import Redaction
from prism_memory.types import ReadMode, Scope

NOWHERE: Final = 0


@dataclass(frozen=True)
class Words:
    """What a record says.

    Args:
        text: Without the configured secrets.
        markers: Where rules of the gate matched, in ``text``.
    """

    text: str
    markers: tuple[Marker, ...] = ()
    _stored: str = field(default="", repr=False)
    _metadata: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def rules_now(self) -> list[str]:
        """Return the rules that match today. Asks no classifier."""
        return judge(self._stored, self._metadata, classify=False).rules


def may_read_gated(request: HttpRequest) -> bool:
    """Tell whether somebody reads what the gate holds back."""
    return bool(request.user.has_perm("prism_memory.reveal_record"))


def words_of(records: Collection[Record], *, gated: bool) -> dict[uuid.UUID, Words]:
    """Return the words of those of a tenant's records that may be read, by id.

    One query, two where records are signed; none for no records.

    Args:
        records: With their scopes.
        gated: Also of those that the gate holds back.
    """
    fields = ("id", "text", "gate_markers", "metadata")
    redaction = Redaction.configured()
    found = _rows(records, gated=gated)
    rows = [] if found is None else found.values(*fields)
    return {row["id"]: _words(row, redaction) for row in rows}


def previews_of(records: Collection[Record], *, gated: bool) -> dict[uuid.UUID, str]:
    """Return the first words of those that may be read, by id. As ``words_of``."""
    redaction = Redaction.configured()
    # A secret that begins within the preview is loaded whole, or it would show a half.
    longest = max((len(secret) for secret in redaction.secrets), default=0)
    found = _rows(records, gated=gated)
    if found is None:
        return {}
    begun = found.annotate(begun=Left("text", PREVIEW_CHARACTERS + longest + 1))
    return {
        record_id: Truncator(redaction.mask(text)).chars(PREVIEW_CHARACTERS)
        for record_id, text in begun.values_list(F("id"), F("begun"))
    }


def _rows(records: Collection[Record], *, gated: bool) -> Any:  # noqa: ANN401 - a QuerySet or None
    whole = {record.id for record in records} - edited(records)
    scopes = {record.scope_id: record.scope.value for record in records}
    tenants = {record.tenant for record in records}
    if not whole:
        return None
    (tenant,) = tenants
    reader = reviewer(tenant, gated=gated, ids=whole)
    return access.visible_in(using=using(), reader=reader, scopes=[*scopes.values()])


def reviewer(
    tenant: str, *, gated: bool, ids: Collection[uuid.UUID] | None = None
) -> access.Reader:
    """Return who reads what is past too, for ``access.visible_in``."""
    return access.Reader(
        scope=Scope(tenant),
        mode=ReadMode.EXACT,
        strict=access.strictness(),
        at=timezone.now(),
        include_superseded=True,
        include_retired=True,
        include_quarantined=gated,
        include_restricted=True,
        ids=ids,
    )


def _words(row: Mapping[str, Any], redaction: Redaction) -> Words:
    masked = redaction.mask(row["text"])
    markers = tuple(stored_markers(row["gate_markers"]))
    if masked != row["text"]:
        # Places in it are no longer those where the rules matched.
        markers = tuple(Marker(one.rule, NOWHERE, NOWHERE) for one in markers)
    return Words(masked, markers, row["text"], row["metadata"] or {})
