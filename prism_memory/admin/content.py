"""The words of records: what of them a page may show.

Rows are listed without their content; what is visible comes through ``access`` in a
query of its own, so withheld text never leaves the database for a page.
"""

from __future__ import annotations

import datetime as dt
import json
import re
import uuid
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Final

from django.db.models import QuerySet
from django.db.models.functions import Left
from django.utils import timezone
from django.utils.text import Truncator
from django.utils.translation import gettext_lazy as _

from prism_memory import access, integrity
from prism_memory.admin.badges import Tone
from prism_memory.admin.using import using
from prism_memory.conf import settings
from prism_memory.models import ConsentGrant, GateState, Record, Scope
from prism_memory.redaction import Redaction
from prism_memory.types import ReadMode

FIELDS: Final = ("text", "lexical_text", "embed_text", "metadata", "gate_markers")
PREVIEW_CHARACTERS: Final = 160

_DERIVED_KEY: Final = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class Content:
    """The words of one record, without the configured secrets."""

    text: str
    lexical_text: str | None
    embed_text: str | None
    metadata: str
    markers: str


def reader(
    scope: Scope, *, at: dt.datetime, ids: Collection[uuid.UUID] | None = None
) -> access.Reader:
    """Return who reads exactly the records of ``scope``, as its own agent would."""
    return access.Reader(
        scope=scope.value,
        mode=ReadMode.EXACT,
        strict=access.strictness(),
        at=at,
        include_restricted=True,
        ids=ids,
    )


def loaded(rows: QuerySet[Record]) -> QuerySet[Record]:
    """Return ``rows`` to be loaded with scope and source, and without their words."""
    return rows.select_related("scope", "source").defer(*FIELDS, "search", "mac")


def previews(scope: Scope, records: Collection[Record]) -> dict[uuid.UUID, str]:
    """Return the first words of those records that are visible now.

    One query, two where records are signed.
    """
    ids = {record.id for record in records} - edited(records)
    redaction = Redaction.configured()
    # A secret that begins within the preview is loaded whole, or it would show a half.
    longest = max((len(secret) for secret in redaction.secrets), default=0)
    seen = reader(scope, at=timezone.now(), ids=ids)
    rows = access.visible(using=using(), reader=seen).values_list(
        "id", Left("text", PREVIEW_CHARACTERS + longest + 1)
    )
    return {
        record_id: Truncator(redaction.mask(text)).chars(PREVIEW_CHARACTERS)
        for record_id, text in rows
    }


def headings(scope: Scope, records: Collection[Record]) -> dict[uuid.UUID, str]:
    """Return the headings that chunks which are visible now stand under.

    One query, two where records are signed.
    """
    ids = {record.id for record in records} - edited(records)
    seen = reader(scope, at=timezone.now(), ids=ids)
    rows = access.visible(using=using(), reader=seen).values_list(
        "id", "metadata__heading"
    )
    mask = Redaction.configured().mask
    return {
        record_id: mask(" / ".join(map(str, heading)))
        for record_id, heading in rows
        if isinstance(heading, list)
    }


def visible_content(record: Record) -> Content | None:
    """Return the words of ``record``, or None if they are withheld.

    One query, two where records are signed.
    """
    if edited([record]):
        return None
    seen = reader(record.scope, at=timezone.now(), ids=[record.id])
    rows = access.visible(using=using(), reader=seen).values(*FIELDS)
    found = rows.first()
    return None if found is None else _content(found)


def edited(records: Collection[Record]) -> set[uuid.UUID]:
    """Return the ids of those whose signature is not their own.

    One query; none where readers are not kept from them.
    """
    if not records or not integrity.is_enforced():
        return set()
    (tenant,) = {record.tenant for record in records}
    states = integrity.states(
        using=using(), tenant=tenant, record_ids=[record.id for record in records]
    )
    return {i for i, state in states.items() if state is not integrity.State.INTACT}


def withheld_content(record: Record) -> Content:
    """Return the words of ``record`` whatever its state. One query.

    For a reveal alone, which is audited.
    """
    rows = Record.objects.using(using()).filter(tenant=record.tenant, id=record.id)
    return _content(rows.values(*FIELDS).get())


def _content(row: dict[str, Any]) -> Content:
    redaction = Redaction.configured()
    masked = {
        name: None if row[name] is None else redaction.mask(row[name])
        for name in ("text", "lexical_text", "embed_text")
    }
    return Content(
        text=masked["text"] or "",
        lexical_text=masked["lexical_text"],
        embed_text=masked["embed_text"],
        metadata=_json(redaction.mask_json(row["metadata"])),
        markers=_json(redaction.mask_json(row["gate_markers"])),
    )


def _json(value: Any) -> str:  # noqa: ANN401 - any JSON
    return json.dumps(value, indent=2, ensure_ascii=False) if value else ""


def is_derived(key: str) -> bool:
    """Tell whether a key may be made from its record's text, as its hash."""
    return bool(_DERIVED_KEY.fullmatch(key))


def key_label(record: Record) -> str:
    """Return a record's key, or its id's end where the key is made from the text.

    Such a key would confirm a guess of withheld words.
    """
    if is_derived(record.key):
        return f"#{record.id.hex[-12:]}"
    return record.key


def short_label(record: Record) -> str:
    """Return a record's key, or its id's end where the key is its id, as a fact's."""
    if record.key == str(record.id):
        return f"#{record.id.hex[-12:]}"
    return key_label(record)


def reasons(
    record: Record,
    at: dt.datetime,
    *,
    is_edited: bool = False,
    timeless: bool = False,
) -> list[tuple[Any, Tone]]:
    """Return why a withheld record is withheld, as badges.

    Args:
        is_edited: Its signature is not its own.
        timeless: To a reader who sees what is no longer valid, or retired.
    """
    strict = settings.REQUIRE_CONSENT and record.visible is None
    hidden = record.visible is False and record.revoked_at is None
    rules: list[tuple[bool, Any, Tone]] = [
        (is_edited, _("signature is not its own"), "bad"),
        (record.revoked_at is not None, _("revoked"), "bad"),
        (hidden, _("hidden"), "bad"),
        (strict, _("no consent"), "warn"),
        (record.gate != GateState.OPEN, _("quarantined"), "warn"),
        (_past(record.expires_at, at), _("expired"), "quiet"),
    ]
    if not timeless:
        rules += [
            (record.retired_at is not None, _("retired"), "quiet"),
            (_future(record.valid_from, at), _("not yet valid"), "quiet"),
            (_past(record.valid_to, at), _("no longer valid"), "quiet"),
        ]
    found: list[tuple[Any, Tone]] = [
        (label, tone) for holds, label, tone in rules if holds
    ]
    return found or [(_("blocked"), "bad")]


def _past(moment: dt.datetime | None, at: dt.datetime) -> bool:
    return moment is not None and moment <= at


def _future(moment: dt.datetime | None, at: dt.datetime) -> bool:
    return moment is not None and moment > at


def consent(row: Record | ConsentGrant) -> tuple[Any, Tone]:
    """Return the consent in force, or after a decision, as a badge."""
    if row.revoked_at is not None:
        return _("revoked"), "bad"
    if row.visible is None:
        return _("none given"), "quiet"
    return (_("granted"), "good") if row.visible else (_("hidden"), "bad")
