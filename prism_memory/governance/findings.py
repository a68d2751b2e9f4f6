"""What a look at the trail and at the records found wrong. No database here."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

LISTED_AT_MOST: Final = 1_000


class Wrong(StrEnum):
    """Kinds of what is found."""

    EVENTS_CHANGED = "events_changed"
    EVENTS_MISSING = "events_missing"
    EVENTS_ADDED = "events_added"
    EVENTS_OF_NO_SEAL = "events_of_no_seal"
    PRUNED_UNTOLD = "pruned_untold"
    SEAL_CHANGED = "seal_changed"
    SEAL_MISSING = "seal_missing"
    SEAL_UNLINKED = "seal_unlinked"
    SEAL_FORGED = "seal_forged"
    SEAL_UNSIGNED = "seal_unsigned"
    HEAD_MISSING = "head_missing"
    HEAD_DIFFERS = "head_differs"
    MANIFEST_CHANGED = "manifest_changed"
    RECORD_VANISHED = "record_vanished"
    RECORD_BACK = "record_back"
    UNLISTED = "unlisted"
    RECORD_SET_BACK = "record_set_back"
    RECORD_CHANGED = "record_changed"
    RECORD_UNSIGNED = "record_unsigned"
    RECORD_UNKNOWN_KEY = "record_unknown_key"


MEANINGS: Final = {
    Wrong.EVENTS_CHANGED: "events under the seal were edited, swapped or reordered",
    Wrong.EVENTS_MISSING: "events under the seal were removed",
    Wrong.EVENTS_ADDED: "events were inserted under the seal",
    Wrong.EVENTS_OF_NO_SEAL: "events name a seal that is not there",
    Wrong.PRUNED_UNTOLD: "it says that its events were pruned; no event bears it out",
    Wrong.SEAL_CHANGED: "the seal was edited",
    Wrong.SEAL_MISSING: "the seal was removed",
    Wrong.SEAL_UNLINKED: "the seal does not follow the one before it",
    Wrong.SEAL_FORGED: "the seal's signature is not its own",
    Wrong.SEAL_UNSIGNED: "the seal should be signed by a key that is known here",
    Wrong.HEAD_MISSING: "the chain ends before the head that was kept outside",
    Wrong.HEAD_DIFFERS: "the chain is not the one of the head that was kept outside",
    Wrong.MANIFEST_CHANGED: "the list of records is not the one that was sealed",
    Wrong.RECORD_VANISHED: "no deletion accounts for it",
    Wrong.RECORD_BACK: "it was deleted, and is there again",
    Wrong.UNLISTED: "it is older than the list of records, and not on it",
    Wrong.RECORD_SET_BACK: "it is at an earlier version than was sealed",
    Wrong.RECORD_CHANGED: "its signature is not its own",
    Wrong.RECORD_UNSIGNED: "it has no signature",
    Wrong.RECORD_UNKNOWN_KEY: "it is signed by a key that is not known here",
}


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong.

    Args:
        ref: ``seal:`` and its number, ``record:`` and its id, or ``manifest``.
    """

    wrong: Wrong
    tenant: str
    ref: str

    def as_json(self) -> dict[str, str]:
        """Return it as the command prints it."""
        meaning = MEANINGS[self.wrong]
        return {"wrong": str(self.wrong), "tenant": self.tenant, "ref": self.ref} | {
            "meaning": meaning
        }


@dataclass
class Findings:
    """What is wrong with one tenant's trail or records: counted, and the first listed.

    Args:
        tenant: Whose.
        count: How many there are.
        listed: The first 1,000 of them.
    """

    tenant: str
    count: int = 0
    listed: list[Finding] = field(default_factory=list)

    def add(self, wrong: Wrong, ref: str) -> None:
        """Note one."""
        self.count += 1
        if len(self.listed) < LISTED_AT_MOST:
            self.listed.append(Finding(wrong, self.tenant, ref))

    def as_json(self) -> dict[str, Any]:
        """Return them as the command prints them."""
        return {"wrong": self.count, "findings": [one.as_json() for one in self.listed]}
