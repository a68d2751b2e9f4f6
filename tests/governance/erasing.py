"""What tests of erasure share: an owner who has everything, and how to erase."""

from __future__ import annotations

import uuid
from typing import Any

from django.utils import timezone

from prism_memory import lifecycle
from prism_memory.governance import erasure
from prism_memory.models import Record
from prism_memory.types import (
    Actor,
    Entry,
    Erased,
    Kind,
    Lineage,
    Permission,
    Scope,
    SourceRef,
)
from tests.factories import make_memory, make_trace

OPERATOR = Actor("user:operator")
ADA = Scope("acme", owner="ada")
CHAT = Scope("acme", owner="ada", agent="support", thread="chat-1")


def erase(scope: Scope = ADA, **given: Any) -> Erased:
    fields: dict[str, Any] = {"actor": OPERATOR, "at": timezone.now(), **given}
    return erasure.erase(using="default", scope=scope, **fields)


def furnish(scope: Scope, word: str, *, wait: bool = True) -> list[uuid.UUID]:
    """Put a row into every table that content can lead to, all bearing a word.

    Two entries, one derived from the other; a turn of a stream; traces, strengths,
    consents, a share with another thread, a key.
    """
    memory = make_memory(scope)
    rich = Entry(
        f"{word} one",
        key=f"{word}-key",
        namespace=f"{word}-space",
        metadata={"tags": [word], "title": word},
        lexical_text=f"{word} lexical",
        embed_text=f"{word} embedded",
    )
    first = memory.remember(rich, wait=wait).accepted[0]
    derived = Entry(f"{word} two", lineage=Lineage((f"record:{first}", f"m-{word}")))
    turn = Entry(
        f"{word} three",
        kind=Kind.TURN,
        source=SourceRef(f"{word}-stream", 1, f"https://example.org/{word}"),
    )
    ids = [first, *memory.remember([derived, turn], wait=wait).accepted]
    memory.set_consent(first, visible=True, reason="asked")
    lifecycle.reinforce(
        using="default",
        tenant=scope.tenant,
        ids=ids,
        query_sha256=bytes(32),
        at=timezone.now(),
    )
    lifecycle.write_trace(using="default", trace=make_trace(*ids, scope=scope))
    lifecycle.create_key(
        using="default",
        scope=scope,
        actor=OPERATOR,
        label=f"{word} label",
        permissions=[Permission.READ],
        at=timezone.now(),
    )
    if scope.thread:
        child = Scope(scope.tenant, scope.owner, scope.agent, f"{scope.thread}-b")
        lifecycle.share_with(
            using="default",
            scope=scope,
            actor=OPERATOR,
            child=child,
            ids=[first],
            at=timezone.now(),
        )
    return ids


def texts(scope: Scope | None = None) -> set[str]:
    """Return the stored texts, of a tenant's owner if given."""
    rows = Record.objects.all()
    if scope is not None:
        rows = rows.filter(tenant=scope.tenant, scope__owner=scope.owner)
    return set(rows.values_list("text", flat=True))
