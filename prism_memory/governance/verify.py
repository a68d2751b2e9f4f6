"""Look whether trail and records are as the app wrote them. Changes nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from prism_memory.db.tenancy import for_tenant
from prism_memory.governance import accounts, manifest, pages, pruned
from prism_memory.governance.chain import (
    NOTHING_BEFORE,
    Row,
    digest_of,
    mac_state,
    sha256_of,
)
from prism_memory.governance.findings import Findings, Wrong
from prism_memory.governance.heads import Head
from prism_memory.governance.pages import snapshot
from prism_memory.integrity import Keyring, State, keyring
from prism_memory.integrity.checking import statement
from prism_memory.models import AuditEvent
from prism_memory.types import MAX, NIL, record_ref

BROKEN = {
    State.CHANGED: Wrong.RECORD_CHANGED,
    State.UNSIGNED: Wrong.RECORD_UNSIGNED,
    State.UNKNOWN_KEY: Wrong.RECORD_UNKNOWN_KEY,
}


@dataclass
class Verified:
    """What a look found.

    Args:
        findings: What is wrong.
        seals: How many were followed.
        signed: How many of them are signed by a key that is known here.
        events: How many events were looked at under them.
        pruned_through: Number of the last seal whose events were pruned; 0: none.
        unsealed: Events that no seal is over yet: an edit of those is not found.
        violations: How many records earlier seals found removed or set back; each is
            told of by an event ``audit.violation``.
        records: How many records were looked at; None where that was not asked.
        unlisted: Those that no manifest holds yet: one that vanishes is not missed.
    """

    findings: Findings
    seals: int = 0
    signed: int = 0
    events: int = 0
    pruned_through: int = 0
    unsealed: int = 0
    violations: int = 0
    records: int | None = None
    unlisted: int = 0

    def as_json(self) -> dict[str, Any]:
        """Return it as the command prints it."""
        own = {k: v for k, v in vars(self).items() if k != "findings"}
        return {"tenant": self.findings.tenant, **own, **self.findings.as_json()}


@for_tenant
def verify(
    *, using: str, tenant: str, heads: Sequence[Head] = (), content: bool = False
) -> Verified:
    """Follow a tenant's chain from its first seal, with all events under it.

    Reads every event, in pages, as of one moment. What is not sealed yet cannot be
    judged, and is counted.

    Args:
        tenant: Empty for the installation's.
        heads: Ends of the chain that were kept outside the database. Without them, one
            that was cut short or set back whole looks well.
        content: Look at the records too: beside the manifest that was sealed, and,
            where a key is set, at the signature of each.
    """
    found = Verified(Findings(tenant))
    with snapshot(using):
        chain = _Chain(using, tenant, found, heads)
        chain.follow()
        open_events = AuditEvent.objects.using(using).filter(tenant=tenant)
        found.unsealed = open_events.filter(seal__isnull=True).count()
        if content:
            _content(using, tenant, found)
    return found


@dataclass
class _Chain:
    using: str
    tenant: str
    found: Verified
    heads: Sequence[Head]
    keys: Keyring | None = field(default_factory=keyring)
    previous: bytes = NOTHING_BEFORE
    number: int = 0
    last_state: State = State.UNSIGNED
    was_signed: bool = False
    all_pruned: bool = True

    def follow(self) -> None:
        runs = _Runs(self.using, self.tenant)
        through = pruned.through(self.using, self.tenant, self.keys)
        for seal in pages.seals(self.using, self.tenant):
            for number in runs.before(seal["number"]):
                self._wrong(Wrong.EVENTS_OF_NO_SEAL, number)
            self._link(seal)
            self._sign(seal)
            self._events(seal, runs, through)
            self._head(seal)
            self.previous, self.number = bytes(seal["sha256"]), seal["number"]
            self.found.seals += 1
            self.found.violations += seal["violations"]
        for number in runs.before(2**63):
            self._wrong(Wrong.EVENTS_OF_NO_SEAL, number)
        if self.keys and self.found.seals and self.last_state is not State.INTACT:
            self._wrong(Wrong.SEAL_UNSIGNED, self.number)
        for head in self.heads:
            if head.tenant == self.tenant and head.number > self.number:
                self._wrong(Wrong.HEAD_MISSING, head.number)

    def _link(self, seal: Row) -> None:
        number = seal["number"]
        if number != self.number + 1:
            last = number - 1
            self._wrong(Wrong.SEAL_MISSING, self.number + 1, last)
        elif bytes(seal["previous"]) != self.previous:
            self._wrong(Wrong.SEAL_UNLINKED, number)
        if sha256_of(self.tenant, seal) != bytes(seal["sha256"]):
            self._wrong(Wrong.SEAL_CHANGED, number)

    def _sign(self, seal: Row) -> None:
        if self.keys is None:
            return
        self.last_state = mac_state(self.keys, self.tenant, seal)
        if self.last_state is State.INTACT:
            self.found.signed += 1
            self.was_signed = True
        elif self.last_state is State.CHANGED:
            self._wrong(Wrong.SEAL_FORGED, seal["number"])
        elif self.last_state is State.UNSIGNED and self.was_signed:
            self._wrong(Wrong.SEAL_UNSIGNED, seal["number"])

    def _events(self, seal: Row, runs: _Runs, through: int) -> None:
        count, digest = runs.at(seal["number"], self.tenant)
        self.found.events += count
        if seal["pruned"]:
            self.found.pruned_through = seal["number"]
            if count:
                self._wrong(Wrong.EVENTS_ADDED, seal["number"])
            if seal["number"] > through or not self.all_pruned:
                self._wrong(Wrong.PRUNED_UNTOLD, seal["number"])
            return
        self.all_pruned = False
        if count < seal["events"]:
            self._wrong(Wrong.EVENTS_MISSING, seal["number"])
        elif count > seal["events"]:
            self._wrong(Wrong.EVENTS_ADDED, seal["number"])
        elif digest != bytes(seal["digest"]):
            self._wrong(Wrong.EVENTS_CHANGED, seal["number"])

    def _head(self, seal: Row) -> None:
        for head in self.heads:
            same = (head.tenant, head.number) == (self.tenant, seal["number"])
            if same and head.sha256 != bytes(seal["sha256"]).hex():
                self._wrong(Wrong.HEAD_DIFFERS, seal["number"])

    def _wrong(self, wrong: Wrong, number: int, last: int | None = None) -> None:
        ref = f"seal:{number}"
        if last is not None and last > number:
            ref += f"-{last}"
        self.found.findings.add(wrong, ref)


class _Runs:
    """The events under seals, run by run, each read once."""

    def __init__(self, using: str, tenant: str) -> None:
        rows = pages.sealed_events(using, tenant)
        self._groups = groupby(rows, key=lambda row: int(row["seal"]))
        self._next = next(self._groups, None)

    def before(self, number: int) -> Iterator[int]:
        """Yield and pass over the numbers of runs before one."""
        while self._next is not None and self._next[0] < number:
            yield self._next[0]
            self._next = next(self._groups, None)

    def at(self, number: int, tenant: str) -> tuple[int, bytes]:
        """Return how many events are under a seal, and the digest over them."""
        rows: Iterable[Row] = ()
        is_here = self._next is not None and self._next[0] == number
        if self._next is not None and is_here:
            rows = self._next[1]
        digest = digest_of(tenant, rows)
        if is_here:
            self._next = next(self._groups, None)
        return digest.events, digest.value


def _content(using: str, tenant: str, found: Verified) -> None:
    look = manifest.look_of(using, tenant, found.findings)
    manifest.check_root(using, tenant, found.findings)
    last = NIL
    for block, _ in manifest.looked_at(using, tenant, look):
        last = block.ids[-1]  # what is wrong is noted as it goes
    found.records = 0
    keys = keyring()
    for page in pages.records(using, tenant, statement("between"), NIL, MAX):
        found.records += len(page)
        ids = [row["id"] for row in page]
        look.note_later(record_id for record_id in ids if record_id > last)
        for record_id in accounts.back(using, tenant, ids):
            found.findings.add(Wrong.RECORD_BACK, record_ref(record_id))
        for row in page if keys else ():
            state = keys.state_of_record(tenant, row) if keys else State.INTACT
            if state is not State.INTACT:
                found.findings.add(BROKEN[state], record_ref(row["id"]))
    found.unlisted = look.later
