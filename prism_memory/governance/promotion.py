"""Open the gate of facts that a model made, once they have proven of use.

Off until the setting ``PROMOTE`` is on. Each goes through ``validate``: rules that
match keep it where it is, and nothing is ever forced.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Any, Final

from django.utils import timezone

from prism_memory.conf import settings
from prism_memory.db import queries
from prism_memory.db.queries import named
from prism_memory.db.tenancy import for_tenant
from prism_memory.errors import Conflict, Misconfigured, NotVisible, StillFlagged
from prism_memory.facts import validate_fact
from prism_memory.facts.vouching import SYNTHETIC
from prism_memory.types import SYNTHESIZED, Actor, Scope

RECALLS: Final = 3
QUESTIONS: Final = 2
AGE: Final = dt.timedelta(hours=24)
MOST: Final = 10
"""Source: S3: recalls, different questions, age, and how many one run promotes."""

LOOKED_AT: Final = 200
"""Facts of one run: those that rules still match must not keep the others waiting."""

REASON: Final = "promoted: recalled often enough"


@dataclass(frozen=True)
class Promoted:
    """What a run did.

    Args:
        promoted: Gates opened.
        refused: Those that rules of the gate match still.
    """

    promoted: int = 0
    refused: int = 0


@for_tenant
def promote(
    *, using: str, tenant: str, actor: Actor, at: dt.datetime | None = None
) -> Promoted:
    """Open the gates of at most ten facts of one tenant; nothing when it is off (B434).

    Synthesized only, written a day ago, recalled three times by two questions; each in
    a transaction of its own.

    Raises:
        Misconfigured: ``PROMOTE`` is on and the gate is off: nothing would look at
            what is promoted.
    """
    if settings.PROMOTE == "off":
        return Promoted()
    if settings.GATE == "off":
        message = "PROMOTE needs GATE to be on."
        raise Misconfigured(message, field="PROMOTE")
    at = at or timezone.now()
    promoted = refused = 0
    for row in _promotable(using, tenant, at):
        scope = Scope(
            tenant, owner=row["owner"], agent=row["agent"], thread=row["thread"]
        )
        try:
            validate_fact(
                using=using,
                scope=scope,
                actor=actor,
                which=row["id"],
                at=timezone.now(),
                reason=REASON,
            )
        except StillFlagged:
            refused += 1
        except (Conflict, NotVisible):
            continue  # it was closed, or went, meanwhile
        else:
            promoted += 1
        if promoted == MOST:
            break
    return Promoted(promoted, refused)


def _promotable(using: str, tenant: str, at: dt.datetime) -> list[dict[str, Any]]:
    given = {
        "tenant": tenant,
        "provenances": [str(one) for one in SYNTHESIZED],
        "reason": SYNTHETIC,
        "written_before": at - AGE,
        "recalls": RECALLS,
        "questions": QUESTIONS,
        "rows": LOOKED_AT,
    }
    return queries.fetch(using, named("facts")["promotable"], given)
