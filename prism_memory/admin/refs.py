"""What a ref stands for, looked up: on pages of one row, never in lists."""

from __future__ import annotations

import uuid
from typing import Final

from prism_memory.admin import links
from prism_memory.admin.using import using
from prism_memory.models import Scope, Source

LOOKED_UP: Final[dict[str, type[Scope | Source]]] = {"scope": Scope, "source": Source}


def row_of(tenant: str, ref: str) -> Scope | Source | None:
    """Return the scope or the source of a ref, if it is there. One query, or none."""
    kind, _, rest = ref.partition(":")
    model = LOOKED_UP.get(kind)
    try:
        row_id = uuid.UUID(rest.partition(":")[0])  # what follows is an export's option
    except ValueError:
        return None
    if model is None:
        return None
    rows = model._default_manager.using(using())  # noqa: SLF001 - of either
    return rows.filter(tenant=tenant, id=row_id).first()


def looked_up(tenant: str, ref: str) -> object:
    """Return a ref as such, linked where there still is a page of it."""
    row = row_of(tenant, ref)
    if row is None:
        return links.ref_link(tenant, ref)
    return links.anchor(links.row_page(row), links.code(ref))
