"""A tenant with something on every page, and with text that means ill."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from django.utils import timezone

from prism_memory.models import (
    AccessKey,
    AuditEvent,
    AuditSeal,
    Embedding,
    EmbeddingSpace,
    ErasureReceipt,
    Fact,
    LegalHold,
    RecallTrace,
    Record,
    RetentionPolicy,
    Run,
    ShareGrant,
    Source,
    Tombstone,
)
from prism_memory.models import Scope as ScopeRow
from prism_memory.models.base import TenantModel
from prism_memory.types import Lineage, SourceRef
from tests.admin.judging import Queue, make_history, make_queue
from tests.admin.rows import make_receipt, make_run, scope_row
from tests.factories import make_memory, make_record, make_scope
from tests.governance.erasing import furnish
from tests.governance.retention.written import make_policy, place_hold
from tests.governance.trail import act, seal

TENANT: Final = "acme"
HOSTILE: Final = (
    "<script>document.title = 'pwned'</script><img src=x onerror=alert(1)> "
    "\u202eread it backwards\u202c zero\u200bwidth "
    + "https://example.org/"
    + "without-a-blank" * 20
)
"""Markup, mirror writing, an invisible joint, and a word of 300 letters."""


@dataclass(frozen=True)
class World:
    """Rows by what the tests do with them; all are Acme's."""

    plain: Record
    hostile: Record
    withheld: Record
    kept: Record
    """Forgotten, and its body kept by a hold."""
    source: Source
    thread: ScopeRow
    owner: ScopeRow
    space: EmbeddingSpace
    queue: Queue
    history: Fact
    shown: tuple[TenantModel | AccessKey, ...]
    """One of each other kind, each with a page of its own."""


def make_world() -> World:
    """Write the rows, through the verbs where there are verbs."""
    furnish(make_scope(), "tea", wait=False)
    rows = World(
        plain=make_record("Ada takes her tea without sugar.", fields={"key": "tea"}),
        hostile=_hostile(),
        withheld=make_record("Never shown by itself.", gate="quarantined"),
        kept=_kept(),
        source=Source.objects.get(tenant=TENANT, key="chat"),
        thread=scope_row(),
        owner=scope_row(make_scope(agent="", thread="")),
        space=EmbeddingSpace.objects.get(),
        queue=make_queue(),
        history=Fact.objects.get(id=make_history().id),
        shown=(),
    )
    _govern(rows)
    return _with_one_of_each(rows)


def _hostile() -> Record:
    return make_record(
        HOSTILE,
        fields={
            "metadata": {"title": HOSTILE, "tags": ["<b>", "x" * 200]},
            "source": SourceRef("chat", 1, "https://example.org/" + "y" * 120),
        },
    )


def _kept() -> Record:
    record = make_record("Ada moves to Oslo.", fields={"key": "move"})
    lineage = {"lineage": Lineage(("move",))}
    make_record("So mail goes to Oslo.", fields=lineage)
    make_record("Ada is often away.", scope=make_scope(agent="", thread=""))
    make_memory().forget(record.id, hold=True, reason="asked")
    return record


def _govern(rows: World) -> None:
    place_hold(f"source:{rows.source.id}", "source", matter="case 7 <b>")
    make_policy("a year <i>" + "z" * 80, max_age_days=365)
    make_receipt(target_ref=f"scope:{rows.owner.id}")
    make_run(kind="import", counts={"done": 40, "total": 100}, error="<b>" + "e" * 300)
    act(3)
    seal()
    Embedding.objects.filter(record=rows.plain).update(
        failed_at=timezone.now(), attempts=8, error="It is <b>too</b> long."
    )


def _with_one_of_each(rows: World) -> World:
    kinds = (
        *(AuditEvent, AuditSeal, ErasureReceipt, LegalHold, RecallTrace),
        *(RetentionPolicy, Run, ShareGrant, Tombstone, AccessKey),
    )
    found = tuple(kind.objects.filter(tenant=TENANT).first() for kind in kinds)
    assert all(found), found
    return World(**{**rows.__dict__, "shown": found})
