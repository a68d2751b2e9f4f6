"""What the page of one record shows beside its words."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from django.db.models import BooleanField, ExpressionWrapper, Q
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _

from prism_memory.admin import links
from prism_memory.admin.badges import NOTHING, badge, moment, number
from prism_memory.admin.characters import shown
from prism_memory.admin.content import consent, is_derived, key_label
from prism_memory.admin.parts import Section
from prism_memory.admin.scopes import records_of, scope_link
from prism_memory.admin.tombstones import tombstone_row
from prism_memory.admin.using import using
from prism_memory.models import (
    ConsentGrant,
    Embedding,
    EmbeddingSpace,
    LineageEdge,
    Record,
    Tombstone,
)
from prism_memory.types import record_ids, record_ref

MOST_ROWS: Final = 100
"""Rows of a table on the page; a record may have thousands of descendants."""


UP: Final = (_("Derived from"), _("It is derived from nothing else."))
DOWN: Final = (_("What derives from it"), _("Nothing derives from it."))


def record_sections(record: Record) -> list[Section]:
    """Return all sections of a record's page. Seven queries."""
    ref = record_ref(record.id)
    edges = LineageEdge.objects.using(using()).filter(tenant=record.tenant)
    sources = list(edges.filter(record=record.id).order_by("position"))
    derived = edges.filter(source_ref=ref).order_by("record_id")[: MOST_ROWS + 1]
    source_refs = [edge.source_ref for edge in sources]
    children = [record_ref(edge.record_id) for edge in derived]
    known = labels(record.tenant, [*source_refs, *children])
    return [
        Section(_("Record"), _identity(record)),
        Section(_("Consent and gate"), _governance(record)),
        Section(_("Times"), _times(record)),
        _decisions(record),
        _lineage(record, source_refs, known, UP),
        _lineage(record, children, known, DOWN),
        _tombstones(record, [ref, *source_refs]),
        _vectors(record),
    ]


def _identity(record: Record) -> list[tuple[object, object]]:
    key: object = shown(key_label(record))
    if is_derived(record.key):
        key = _("(made from its text)")
    return [
        (_("Key"), key),
        (_("Kind"), badge(record.get_kind_display())),
        (_("Scope"), scope_link(record.scope)),
        (_("Source"), _source(record)),
        (_("Trust"), badge(record.get_trust_display())),
        (_("Writer"), shown(record.writer)),
        (_("Namespace"), shown(record.namespace)),
        (_("Partition"), shown(record.partition)),
        (_("Tier"), record.get_tier_display() if record.tier else ""),
        (_("Language"), record.language),
        (_("Importance"), record.importance),
        (_("Uses"), number(record.uses)),
        (_("Sequence"), record.sequence),
        (_("Version"), record.version),
        (_("Id"), links.code(record.id)),
    ]


def _source(record: Record) -> object:
    if record.source is None:
        return ""
    link = links.anchor(links.row_page(record.source), record.source.key)
    stream = links.anchor(
        records_of(record.scope, source=record.source.id), _("all its records")
    )
    lines = "" if record.line_start is None else _lines(record)
    # In one call: adding a plain string would make plain text of all the HTML.
    return format_html(
        "{} · {} {} · {}{}", link, _("place"), record.ordinal, stream, lines
    )


def _lines(record: Record) -> Any:  # noqa: ANN401 - a SafeString
    return format_html(" · {} {} to {}", _("lines"), record.line_start, record.line_end)


def _governance(record: Record) -> list[tuple[object, object]]:
    return [
        (_("Consent"), badge(*consent(record))),
        (_("Given by"), record.get_consent_source_display()),
        (_("Given for"), record.get_consent_scope_display()),
        (_("Granted"), moment(record.granted_at)),
        (_("Revoked"), moment(record.revoked_at)),
        (
            _("Gate"),
            badge(
                record.get_gate_display(), "good" if record.gate == "open" else "warn"
            ),
        ),
        (_("Why gated"), shown(record.gate_reason)),
        (_("Generation"), record.generation),
    ]


def _decisions(record: Record) -> Section:
    grants = ConsentGrant.objects.using(using()).filter(
        tenant=record.tenant, record=record.id
    )
    found = list(grants.order_by("-at", "-id")[: MOST_ROWS + 1])
    return Section(
        _("Decisions about its consent"),
        [
            (
                badge(*consent(grant)),
                grant.get_source_display() if grant.source else NOTHING,
                grant.get_label_display() if grant.label else NOTHING,
                shown(grant.actor),
                moment(grant.at),
            )
            for grant in found[:MOST_ROWS]
        ],
        headers=(_("Consent"), _("Given by"), _("Given for"), _("Who"), _("At")),
        empty=_("None yet: it is as it was assumed when the record was written."),
        note=_("Only the latest 100 are listed.") if len(found) > MOST_ROWS else "",
    )


def _times(record: Record) -> list[tuple[object, object]]:
    return [
        (_("Happened"), moment(record.happened_at)),
        (_("Created"), moment(record.created_at)),
        (_("Valid from"), moment(record.valid_from)),
        (_("Valid until"), moment(record.valid_to)),
        (_("Expires"), moment(record.expires_at)),
        (_("Retired"), moment(record.retired_at)),
    ]


def labels(tenant: str, refs: Iterable[str]) -> dict[str, str]:
    """Return kind and key by ref, for those that are records. One query."""
    rows = Record.objects.using(using()).filter(tenant=tenant, id__in=record_ids(refs))
    return {
        record_ref(row.id): f"{row.get_kind_display()} {key_label(row)}"
        for row in rows.only("id", "tenant", "kind", "key")
    }


def _lineage(
    record: Record, refs: list[str], known: dict[str, str], words: tuple[Any, Any]
) -> Section:
    title, empty = words
    return Section(
        title,
        [
            (
                shown(known[ref]) if ref in known else _("not in this memory"),
                links.ref_link(record.tenant, ref),
            )
            for ref in refs[:MOST_ROWS]
        ],
        headers=(_("What"), _("Reference")),
        empty=empty,
        note=_("Only the first 100 are listed.") if len(refs) > MOST_ROWS else "",
    )


def _tombstones(record: Record, refs: list[str]) -> Section:
    rows = Tombstone.objects.using(using()).filter(
        tenant=record.tenant, target_ref__in=refs
    )
    found = list(rows.order_by("-id")[: MOST_ROWS + 1])
    return Section(
        _("Tombstones on it and on what it derives from"),
        [tombstone_row(stone) for stone in found[:MOST_ROWS]],
        headers=(_("Reason"), _("On"), _("Because of"), _("By"), _("At"), _("Lifted")),
        empty=_("None."),
        note=_("Only the latest 100 are listed.") if len(found) > MOST_ROWS else "",
    )


def _vectors(record: Record) -> Section:
    spaces = {s.id: s for s in EmbeddingSpace.objects.using(using()).all()}
    rows = Embedding.objects.using(using()).filter(
        tenant=record.tenant, record=record.id, space__in=list(spaces)
    )
    missing = ExpressionWrapper(Q(vector__isnull=True), BooleanField())
    found = rows.annotate(missing=missing).values_list(
        "space_id", "missing", "failed_at", "attempts", "error"
    )
    return Section(
        _("Vectors"),
        [
            (
                links.anchor(links.row_page(spaces[space_id]), str(spaces[space_id])),
                _vector_badge(missing=missing, failed=failed is not None),
                attempts,
                shown(error),
            )
            for space_id, missing, failed, attempts, error in found
        ],
        headers=(_("Space"), _("State"), _("Tries"), _("Error")),
        empty=_("No embedder is configured for it."),
    )


def _vector_badge(*, missing: bool, failed: bool) -> object:
    if not missing:
        return badge(_("indexed"), "good")
    return badge(_("failed"), "bad") if failed else badge(_("waiting"), "quiet")
