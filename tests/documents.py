"""Documents that not all may read, and who asks for them."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any, Final

from prism_memory.memory import Memory
from prism_memory.models import Source
from prism_memory.types import (
    AccessGrant,
    Authorization,
    Kind,
    Lineage,
    Open,
    Origin,
    Scope,
    SourceRef,
    Trust,
)
from tests.factories import make_memory, remember

ADA: Final = Authorization("ada", open=Open.ALLOW)
BOB_OF_HR: Final = Authorization("bob", ["sales", "hr"], open=Open.ALLOW)
ADA_ALONE: Final = Authorization("ada")
"""Who sees nothing but what a grant speaks of."""

EVE: Final = Authorization("eve", ["sales"], open=Open.ALLOW)
ADA_LATER: Final = Authorization("ada", ["hr"], access_version=2, open=Open.ALLOW)
GROUP_AS_ADA: Final = Authorization("hr", ["ada"], open=Open.ALLOW)

STRANGERS: Final[dict[str, Authorization | None]] = {
    "without an authorization": None,
    "another principal, of another group": EVE,
    "of a version that was not granted": ADA_LATER,
    "a group's name as a principal's, and the other way round": GROUP_AS_ADA,
}
READERS: Final = {"its principal": ADA, "one of its group": BOB_OF_HR}

GRANTS: Final = [AccessGrant("ada"), AccessGrant(group="hr")]


def memory_of(who: Authorization | None, scope: Scope | None = None) -> Memory:
    return make_memory(
        scope, authorization=who, origin=Origin(Trust.DOCUMENT, "intranet")
    )


def document(
    key: str,
    *texts: str,
    scope: Scope | None = None,
    grants: Sequence[AccessGrant] | None = None,
    **fields: Any,
) -> list[uuid.UUID]:
    """Store a document's chunks, restricted where grants are given; return the ids."""
    given = {"kind": Kind.CHUNK, "source": SourceRef(key), "wait": True, **fields}
    ids = remember(*texts, scope=scope, **given)
    if grants is not None:
        make_memory(scope).sources.set_access({key: grants})
    return ids


def derived(text: str, *sources: uuid.UUID, **fields: Any) -> uuid.UUID:
    """Remember a note that was derived from records; return its id."""
    lineage = Lineage(tuple(f"record:{source}" for source in sources))
    (made,) = remember(text, kind=Kind.NOTE, lineage=lineage, wait=True, **fields)
    return made


def source_id(key: str, tenant: str = "acme") -> uuid.UUID:
    return Source.objects.get(tenant=tenant, key=key).id
