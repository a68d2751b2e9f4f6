"""What was counted, in words for people: the one place that knows them."""

from __future__ import annotations

from typing import Final

from django.apps import apps
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _

from prism_memory.admin.badges import number
from prism_memory.admin.characters import shown

WORDS: Final[dict[str, object]] = {
    "accepted": _("accepted"),
    "broken": _("left out, signature not its own"),
    "changed": _("changed"),
    "deleted": _("records deleted"),
    "derived": _("derived records"),
    "done": _("done"),
    "entries": _("entries read"),
    "exports": _("exports whose files were removed"),
    "facts": _("facts"),
    "failed": _("failed"),
    "held": _("left out, hidden for a hold"),
    "kept": _("kept by holds"),
    "no_consent": _("left out, no consent given"),
    "other_kind": _("left out, of another kind"),
    "parts": _("files"),
    "rebuilt": _("vectors built"),
    "records": _("records"),
    "rejected": _("rejected"),
    "revoked": _("left out, consent revoked"),
    "rotated": _("signed with the new key"),
    "scopes": _("scopes"),
    "signed": _("records signed"),
    "sources": _("sources"),
    "spared": _("facts that stand on other evidence"),
    "total": _("in all"),
    "withheld": _("left out, withheld"),
    "wrong": _("signature not its own"),
}


def named(name: str) -> object:
    """Return what a count is of; a table by what its rows are called."""
    if name in WORDS:
        return WORDS[name]
    for model in apps.get_app_config("prism_memory").get_models():
        if model._meta.db_table == name:  # noqa: SLF001 - Django's own way
            return model._meta.verbose_name_plural  # noqa: SLF001
    return shown(name.replace("_", " "))


def label(name: str) -> str:
    """Return it as a label."""
    return str(capfirst(str(named(name))))


def counted(value: object) -> str:
    """Return how much, where it is a number."""
    whole = isinstance(value, int) and not isinstance(value, bool)
    return number(value) if whole else str(value)  # type: ignore[arg-type]
