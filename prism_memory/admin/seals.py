"""The seals over one tenant's audit, or the installation's."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from prism_memory.admin import links
from prism_memory.admin.badges import Tone, badges, moment, number
from prism_memory.admin.characters import shown
from prism_memory.admin.filters import FilterForm
from prism_memory.admin.keyset import Order
from prism_memory.admin.parts import Section
from prism_memory.admin.tenanted import TenantAdmin
from prism_memory.governance.chain import mac_state
from prism_memory.integrity import State, keyring
from prism_memory.models import AuditEvent, AuditSeal

STATES: dict[State, tuple[object, Tone]] = {
    State.INTACT: (_("signed"), "good"),
    State.UNSIGNED: (_("not signed"), "quiet"),
    State.UNKNOWN_KEY: (_("signed by a key not known here"), "warn"),
    State.CHANGED: (_("signature is not its own"), "bad"),
}


class SealFilter(FilterForm):
    number = forms.IntegerField(
        label=_("Number"), required=False, min_value=1, max_value=2**63 - 1
    )
    exact = {"number": "number"}


@admin.register(AuditSeal)
class SealsAdmin(TenantAdmin):
    """Newest first. What a seal is worth, the command ``prism_memory_audit`` says."""

    installation = True
    order = Order(("number",), descending=True)
    filters = SealFilter
    list_display = ("which", "made", "over", "states", "found", "hash_of")
    empty = _("Nothing is sealed yet.")
    intro = _(
        "Each seal holds a hash over a run of events and over the seal before it."
        " prism_memory_audit verify tells whether all of them still fit."
    )

    @admin.display(description=_("Seal"))
    def which(self, row: AuditSeal) -> object:
        return links.anchor(links.row_page(row), number(row.number))

    @admin.display(description=_("Made"))
    def made(self, row: AuditSeal) -> object:
        return moment(row.at)

    @admin.display(description=_("Events"))
    def over(self, row: AuditSeal) -> object:
        if row.pruned_at is not None or not row.events:
            return number(row.events)
        wish = links.tenant_wish(row.tenant)
        address = links.list_page(AuditEvent, **wish, seal=row.number)
        return links.anchor(address, number(row.events))

    @admin.display(description=_("State"))
    def states(self, row: AuditSeal) -> object:
        labels: list[tuple[Any, Tone]] = [_signature(row)]
        if row.content is not None:
            labels.append((_("records sealed"), "quiet"))
        if row.pruned_at is not None:
            labels.append((_("events pruned"), "quiet"))
        return badges(labels)

    @admin.display(description=_("Violations"))
    def found(self, row: AuditSeal) -> object:
        if not row.violations:
            return ""
        return badges([(number(row.violations), "bad")])

    @admin.display(description=_("SHA-256"))
    def hash_of(self, row: AuditSeal) -> object:
        return links.code(bytes(row.sha256).hex()[:16])

    def sections(self, request: HttpRequest, row: AuditSeal) -> list[Section]:
        del request
        content = bytes(row.content).hex() if row.content is not None else ""
        pairs = [
            (_("Seal"), number(row.number)),
            (_("State"), self.states(row)),
            (_("Events"), self.over(row)),
            (_("Violations"), self.found(row)),
            (_("Made"), moment(row.at)),
            (_("First event"), moment(row.first_at)),
            (_("Last event"), moment(row.last_at)),
            (_("Pruned"), moment(row.pruned_at)),
            (_("Signed with key"), shown(row.mac_key or "")),
        ]
        hashes = [
            (_("Of this seal"), links.code(bytes(row.sha256).hex())),
            (_("Of the seal before"), links.code(bytes(row.previous).hex())),
            (_("Of the events"), links.code(bytes(row.digest).hex())),
            (_("Of the records"), links.code(content) if content else ""),
        ]
        return [Section(_("Seal"), pairs), Section(_("SHA-256"), hashes)]


def _signature(row: AuditSeal) -> tuple[object, Tone]:
    """Return what the seal's own signature says, or only whether it has one."""
    keys = keyring()
    if keys is None:
        return (_("signed"), "quiet") if row.mac is not None else STATES[State.UNSIGNED]
    facts = {"sha256": bytes(row.sha256), "mac": row.mac, "mac_key": row.mac_key}
    return STATES[mac_state(keys, row.tenant, facts)]
