"""Why something cannot be done to a claim or a held-back record, in words."""

from __future__ import annotations

from typing import Any, Final

from django.utils.translation import gettext_lazy as _

from prism_memory.admin.characters import marked
from prism_memory.admin.items import Item
from prism_memory.types import Acceptance, Closing, ReviewWhy

Why = Any
"""A lazy translation, or nothing."""

CLOSED: Final = {
    Closing.SUPERSEDED: _("It was superseded already."),
    Closing.RETRACTED: _("It was retracted already."),
    Closing.FORGOTTEN: _("It was forgotten already."),
}
HELD: Final = _("A legal hold keeps it.")
WITHHELD: Final = _("Its words are withheld, so nobody here can vouch for them.")


def _closed(item: Item) -> Why:
    return CLOSED.get(Closing(item.fact.closing)) if item.fact else ""


def _ended(item: Item) -> Why:
    """Return why nothing of it is held any more, if so."""
    version = item.version
    return _closed(item) if version and version.recorded_to is not None else ""


def _decided(item: Item) -> Why:
    review = item.review
    if review is None or review.decided_at is None:
        return ""
    told = {
        "decision": review.get_decision_display().lower(),
        "who": marked(review.actor),
    }
    return _("It was decided already: %(decision)s, by %(who)s.") % told


def no_accept(item: Item) -> Why:
    """Return why it cannot be accepted."""
    if decided := _decided(item):
        return decided
    if item.review is not None and item.review.why != ReviewWhy.PROPOSAL:
        return _("It does not wait as a proposal.")
    if item.fact is None:
        return _("It is no fact: nothing is claimed.")
    state = _accepted(item) or _closed(item)
    return state or ("" if item.words else WITHHELD)


def _accepted(item: Item) -> Why:
    if item.acceptance == Acceptance.ACCEPTED:
        return _("It is accepted already.")
    if item.fact is not None and item.fact.archived_at is not None:
        return _("It is archived: take it back first.")
    if item.is_proposal and item.review is None:
        return _("It waits as a proposal: it is decided where it waits.")
    return ""


def no_reject(item: Item) -> Why:
    """Return why it cannot be rejected."""
    if decided := _decided(item):
        return decided
    gated = item.review is not None and item.review.why == ReviewWhy.QUARANTINED
    if not gated and item.fact is None:
        return _("It is no fact: nothing is claimed.")
    if item.review is not None and item.review.why == ReviewWhy.CONFLICT:
        return _("It waits for a decision between claims.")
    if gated:  # a quarantined fact is forgotten
        return HELD if item.fact is not None and item.is_held else ""
    return _closed(item)


def no_force(item: Item) -> Why:
    """Return why its gate cannot be opened, whatever its words are."""
    if decided := _decided(item):
        return decided
    if not item.is_gated:
        return _("Its gate is open.")
    if item.review is not None and item.review.why != ReviewWhy.QUARANTINED:
        return _("That is decided where it waits as quarantined.")
    return _ended(item) or ("" if item.words else WITHHELD)


def no_validate(item: Item) -> Why:
    """Return why its gate cannot be opened by its words."""
    if problem := no_force(item):
        return problem
    rules = item.words.rules_now() if item.words else []
    if not rules:
        return ""
    return _("Rules match still: %s.") % ", ".join(rules)


def no_quarantine(item: Item) -> Why:
    """Return why it cannot be held back."""
    if item.is_gated:
        return _("It is held back already.")
    return _ended(item)


def no_retract(item: Item) -> Why:
    """Return why it cannot be retracted."""
    return _("It is no fact: nothing is claimed.") if not item.fact else _closed(item)


def no_archive(item: Item) -> Why:
    """Return why it cannot be put aside."""
    if item.fact is None:
        return _("It is no fact: nothing is claimed.")
    if item.fact.archived_at is not None:
        return _("It is archived already.")
    return _ended(item) or (HELD if item.is_held else "")


def no_unarchive(item: Item) -> Why:
    """Return why it cannot be taken back."""
    if item.fact is None or item.fact.archived_at is None:
        return _("It is not archived.")
    return _ended(item)


def no_settle(item: Item) -> Why:
    """Return why there is nothing to settle between claims."""
    if decided := _decided(item):
        return decided
    if item.review is None or item.review.why != ReviewWhy.CONFLICT:
        return _("It waits for no decision between claims.")
    if item.conflict is None:
        return _("The conflict was settled already.")
    return _closed(item) or ("" if item.words else WITHHELD)


def no_same(item: Item) -> Why:
    """Return why it cannot be taken for another claim: one of them is forgotten."""
    return no_settle(item) or (HELD if item.is_held else "")
