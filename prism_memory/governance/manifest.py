"""The list of a tenant's records that is sealed: what must be found again.

Blocks of about a thousand ids and versions. A block covers all ids up to its last, so
that one that is changed changes no other.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from prism_memory.db.queries import named
from prism_memory.governance import accounts, pages
from prism_memory.governance.findings import Findings, Wrong
from prism_memory.integrity.macs import FORMAT, canonical
from prism_memory.models import AuditSeal, ManifestBlock
from prism_memory.types import MAX, NIL, record_ref

BLOCK_ROWS: Final = 1_000

SLACK: Final = dt.timedelta(minutes=10)
"""How long a transaction may take to commit an id that it made."""

UUID_TIMED: Final = 7
"""Version of the ids that this app makes: their time comes first."""

Versions = dict[uuid.UUID, int]


def block_sha256(
    tenant: str, ids: Sequence[uuid.UUID], versions: Iterable[int]
) -> bytes:
    """Return the hash over a block, 32 bytes."""
    pairs = (
        record_id.bytes + version.to_bytes(8, signed=True)
        for record_id, version in zip(ids, versions, strict=False)
    )
    start = canonical("prism_memory.manifest.block", FORMAT, tenant, len(ids))
    return hashlib.sha256(start + b"".join(pairs)).digest()


class Root:
    """A hash over blocks, added in their order."""

    def __init__(self, tenant: str) -> None:
        start = canonical("prism_memory.manifest", FORMAT, tenant)
        self._hash = hashlib.sha256(start)
        self.blocks = 0

    def add(self, sha256: bytes) -> None:
        """Add a block."""
        self._hash.update(sha256)
        self.blocks += 1

    @property
    def value(self) -> bytes:
        """The hash over what was added so far, 32 bytes."""
        return self._hash.digest()


@dataclass
class Look:
    """The manifest beside the records.

    Args:
        findings: What is wrong.
        records: How many there are.
        later: How many of them the manifest does not hold yet.
        listed_before: Ids up to here would be in it, had they been there when it was
            sealed.
    """

    findings: Findings
    records: int = 0
    later: int = 0
    listed_before: uuid.UUID = NIL

    def note_later(self, record_ids: Iterable[uuid.UUID]) -> None:
        """Note records that the manifest does not hold: new ones, or old ones again."""
        for record_id in record_ids:
            self.later += 1
            timed = record_id.version == UUID_TIMED
            if timed and record_id < self.listed_before:
                self.findings.add(Wrong.UNLISTED, record_ref(record_id))


def look_of(using: str, tenant: str, findings: Findings) -> Look:
    """Return a look that knows how old a record that is not listed may be."""
    seals = AuditSeal.objects.using(using).filter(tenant=tenant, content__isnull=False)
    at = seals.order_by("-number").values_list("at", flat=True).first()
    if at is None:
        return Look(findings)
    milliseconds = int((at - SLACK).timestamp() * 1000)
    return Look(findings, listed_before=uuid.UUID(int=max(milliseconds, 0) << 80))


def sealed_root(using: str, tenant: str) -> bytes | None:
    """Return the root that was sealed last, or None."""
    seals = AuditSeal.objects.using(using).filter(tenant=tenant, content__isnull=False)
    last = seals.order_by("-number").values_list("content", flat=True).first()
    return None if last is None else bytes(last)


def check_root(using: str, tenant: str, findings: Findings) -> None:
    """Find whether the manifest is the one that was sealed last."""
    root, sealed = Root(tenant), sealed_root(using, tenant)
    for block in pages.blocks(using, tenant):
        root.add(block_sha256(tenant, block.ids, block.versions))
        if len(block.ids) != len(block.versions):
            findings.add(Wrong.MANIFEST_CHANGED, f"manifest:{block.number}")
    if sealed is None and not root.blocks:
        return
    if root.value != sealed:
        findings.add(Wrong.MANIFEST_CHANGED, "manifest")


def compare(
    using: str,
    tenant: str,
    block: ManifestBlock,
    now: Mapping[uuid.UUID, int],
    look: Look,
) -> None:
    """Find what of a block is not there any more, or at an earlier version."""
    before = dict(zip(block.ids, block.versions, strict=False))
    gone = [record_id for record_id in before if record_id not in now]
    for record_id in accounts.unaccounted(using, tenant, gone):
        look.findings.add(Wrong.RECORD_VANISHED, record_ref(record_id))
    for record_id, version in before.items():
        if now.get(record_id, version) < version:
            look.findings.add(Wrong.RECORD_SET_BACK, record_ref(record_id))
    look.note_later(record_id for record_id in now if record_id not in before)


@dataclass
class Taking:
    """A manifest that is being brought up to what is there now.

    Args:
        number: Of the last block that was put.
    """

    using: str
    tenant: str
    root: Root = field(init=False)
    number: int = 0

    def __post_init__(self) -> None:
        self.root = Root(self.tenant)

    def put(self, block: ManifestBlock | None, now: Versions) -> None:
        """Write a block as it is now; one that is as it was stays untouched."""
        ids, versions = list(now), list(now.values())
        if not ids:
            if block is not None:
                block.delete(using=self.using)
            return
        sha256 = block_sha256(self.tenant, ids, versions)
        self.root.add(sha256)
        if block is None:
            block = ManifestBlock(tenant=self.tenant, number=self.number + 1)
        self.number = block.number
        if (block.ids, block.versions) != (ids, versions):
            block.ids, block.versions, block.sha256 = ids, versions, sha256
            block.save(using=self.using)


def take(*, using: str, tenant: str) -> tuple[Root, Look]:
    """Bring the manifest up to what is there now; return its root, and what is wrong.

    Reads each record's id and version once, in pages.
    """
    look = look_of(using, tenant, Findings(tenant))
    check_root(using, tenant, look.findings)
    taking = Taking(using, tenant)
    if look.findings.count:  # an edit: what it says is compared, and made anew
        for _ in looked_at(using, tenant, look):
            pass
        edited = ManifestBlock.objects.using(using).filter(tenant=tenant)
        edited._raw_delete(using)  # noqa: SLF001 - Django's own would load them
        fresh: tuple[ManifestBlock | None, Versions] = (None, {})
        _take_tail(taking, Look(Findings(tenant)), fresh, NIL)
        return taking.root, look
    last: tuple[ManifestBlock | None, Versions] = (None, {})
    after = NIL
    for block, now in looked_at(using, tenant, look):
        taking.put(*last)
        last = (block, now)
        after = block.ids[-1]
    _take_tail(taking, look, last, after)
    return taking.root, look


def _take_tail(
    taking: Taking,
    look: Look,
    last: tuple[ManifestBlock | None, Versions],
    after: uuid.UUID,
) -> None:
    """Put what is newer than the manifest: first into its last block."""
    block, now = last
    statement = named("integrity")["versions"]
    for page in pages.records(taking.using, taking.tenant, statement, after, MAX):
        look.records += len(page)
        look.note_later(row["id"] for row in page)
        now |= _versions(page)
        while len(now) >= BLOCK_ROWS:
            full = list(now.items())
            taking.put(block, dict(full[:BLOCK_ROWS]))
            block, now = None, dict(full[BLOCK_ROWS:])
    taking.put(block, now)


def looked_at(
    using: str, tenant: str, look: Look
) -> Iterator[tuple[ManifestBlock, Versions]]:
    """Yield each block with what is there now of its ids, compared."""
    after = NIL
    statement = named("integrity")["versions"]
    for block in pages.blocks(using, tenant):
        if not block.ids:  # an edit: none is stored empty
            continue
        now: Versions = {}
        for page in pages.records(using, tenant, statement, after, block.ids[-1]):
            now |= _versions(page)
        look.records += len(now)
        compare(using, tenant, block, now, look)
        yield block, now
        after = block.ids[-1]


def _versions(page: Iterable[Mapping[str, Any]]) -> Versions:
    return {row["id"]: row["version"] for row in page}
