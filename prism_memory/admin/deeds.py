"""What can be done to a claim or to a held-back record: each deed, and when it fits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from prism_memory import facts, lifecycle
from prism_memory.admin import fitting
from prism_memory.admin.items import Item
from prism_memory.types import Acceptance, ReviewAction, ReviewWhy

Given = Mapping[str, Any]
"""What every verb takes: ``using``, ``scope``, ``actor``, ``at``, ``reason``."""


@dataclass(frozen=True)
class Deed:
    """One thing that a person can do.

    Args:
        key: Of the keyboard.
        done: What is said once it is done.
        why_not: Returns why it cannot be done, or nothing.
        effect: Returns what it does to this one, in words.
        act: Does it.
        rights: Needed beside the one for the page.
    """

    label: Any
    question: Any
    about: Any
    done: Any
    key: str
    why_not: Callable[[Item], Any]
    effect: Callable[[Item], Sequence[object]]
    act: Callable[[Item, Given], None]
    rights: tuple[str, ...] = ()
    danger: bool = False

    def may(self, request: HttpRequest, right: str) -> bool:
        """Tell whether somebody may do it on a page whose own right this is."""
        rights = (right, *self.rights)
        return request.user.has_perms([f"prism_memory.{one}" for one in rights])


def _accepts(item: Item) -> list[object]:
    lines: list[object] = [_("Agents may rely on it from now on.")]
    if item.is_gated:
        lines = [_("It stays behind the gate until somebody validates it too.")]
    return lines + _replaces(item, blocked=item.is_gated)


def _opens(item: Item) -> list[object]:
    lines: list[object] = [_("It is recalled again, unless something else hides it.")]
    if item.is_proposal:
        lines.append(_("It stays a proposal until somebody accepts it too."))
    return lines + _replaces(item, blocked=item.is_proposal)


def _replaces(item: Item, *, blocked: bool) -> list[object]:
    if item.fact is None or item.fact.pending_supersedes is None:
        return []
    if blocked:
        return [_("The claim that it waits to replace stays in force until then.")]
    return [_("It takes the place of the claim that it waits to replace.")]


def _rejects(item: Item) -> list[object]:
    if item.fact is None:
        return [_("It stays behind the gate for good, and leaves the queue.")]
    if item.review is not None and item.review.why == ReviewWhy.QUARANTINED:
        return [_("The claim is forgotten: it is never shown again, nor its words.")]
    return [_("The claim is retracted, and what derives from it is blocked.")]


def _decide(
    action: ReviewAction, item: Item, given: Given, *, force: bool = False
) -> None:
    """Decide about what waits: the floor sees to it that this happens once."""
    if item.review is None:
        return
    facts.decide(**given, review_id=item.review.id, action=action, force=force)


def _accept(item: Item, given: Given) -> None:
    if item.review is not None:
        _decide(ReviewAction.ACCEPT, item, given)
        return
    belief = item.acceptance == Acceptance.BELIEF
    facts.accept(**given, which=item.record.id, from_belief=belief)


def _validate(item: Item, given: Given, *, force: bool = False) -> None:
    _decide(ReviewAction.VALIDATE, item, given, force=force)


def _quarantine(item: Item, given: Given) -> None:
    if item.fact is not None:
        facts.quarantine_fact(**given, which=item.record.id)
        return
    lifecycle.quarantine(**given, record_id=item.record.id)


def _retract(item: Item, given: Given) -> None:
    facts.retract(**given, which=item.record.id)


def _archive(item: Item, given: Given) -> None:
    facts.archive(**given, which=item.record.id)


def _unarchive(item: Item, given: Given) -> None:
    facts.unarchive(**given, which=item.record.id)


DEEDS: Final[Mapping[str, Deed]] = {
    "accept": Deed(
        _("Accept"),
        _("Accept this claim?"),
        _("You vouch for what it says, whoever said it first."),
        _("Accepted."),
        "a",
        fitting.no_accept,
        _accepts,
        _accept,
    ),
    "reject": Deed(
        _("Reject"),
        _("Reject it?"),
        _("It was judged, and is not to be used."),
        _("Rejected."),
        "r",
        fitting.no_reject,
        _rejects,
        partial(_decide, ReviewAction.REJECT),
        danger=True,
    ),
    "validate": Deed(
        _("Validate"),
        _("Open its gate?"),
        _("You have read it, and it gives no orders. No rule of the gate matches it."),
        _("Validated."),
        "v",
        fitting.no_validate,
        _opens,
        _validate,
        rights=("reveal_record",),
    ),
    "force": Deed(
        _("Force"),
        _("Open its gate by force?"),
        _("You have read it, and it gives no orders, although rules match."),
        _("Let through."),
        "f",
        fitting.no_force,
        _opens,
        partial(_validate, force=True),
        rights=("reveal_record", "force_record"),
        danger=True,
    ),
    "keep": Deed(
        _("Keep both"),
        _("Keep both claims?"),
        _("They say different things, and both may be so."),
        _("Both stand."),
        "b",
        fitting.no_settle,
        lambda _item: (),
        partial(_decide, ReviewAction.ADMIT),
    ),
    "replace": Deed(
        _("Replace"),
        _("Let it replace the older claim?"),
        _("The world changed: the nearest older claim ends where this one begins."),
        _("It replaces the older claim, or waits until it may."),
        "p",
        fitting.no_settle,
        lambda _item: [_("What may not be replaced yet stays in force until it may.")],
        partial(_decide, ReviewAction.SUPERSEDE),
    ),
    "same": Deed(
        _("Same"),
        _("Are they one claim?"),
        _("The new claim says what the nearest older one says."),
        _("They are one claim now."),
        "s",
        fitting.no_same,
        lambda _item: [
            _("The new one is forgotten, or replaces the old if better vouched for.")
        ],
        partial(_decide, ReviewAction.DEDUP),
        danger=True,
    ),
    "quarantine": Deed(
        _("Quarantine"),
        _("Hold it back?"),
        _("It is recalled no more, and waits until somebody validates or rejects it."),
        _("It is held back, and waits for a review."),
        "q",
        fitting.no_quarantine,
        lambda _item: [_("What derives from it is blocked until then.")],
        _quarantine,
    ),
    "retract": Deed(
        _("Retract"),
        _("Retract this claim?"),
        _("We were wrong: it was held until now, and never again. This is final."),
        _("Retracted."),
        "t",
        fitting.no_retract,
        lambda _item: [_("What derives from it is blocked.")],
        _retract,
        danger=True,
    ),
    "archive": Deed(
        _("Archive"),
        _("Put this claim aside?"),
        _("It is not recalled until somebody takes it back. Nothing is deleted."),
        _("It is archived."),
        "h",
        fitting.no_archive,
        lambda _item: [_("What waits for a decision about it waits no more.")],
        _archive,
    ),
    "unarchive": Deed(
        _("Take back"),
        _("Take this claim back?"),
        _("It is recalled again, as before it was archived."),
        _("It is taken back."),
        "h",
        fitting.no_unarchive,
        lambda _item: [_("What was not decided about it waits again.")],
        _unarchive,
    ),
}
"""By name, in the order of their buttons."""
