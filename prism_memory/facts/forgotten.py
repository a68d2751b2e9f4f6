"""Words that were forgotten do not come back by what takes notes of them."""

from __future__ import annotations

from typing import Final

from prism_memory.acceptance import VOUCHED
from prism_memory.facts.conflict import folded_sha256
from prism_memory.facts.vouching import quarantined
from prism_memory.facts.writing import Prepared
from prism_memory.models import Fact
from prism_memory.types import Closing, Scope

FORGOTTEN: Final = "forgotten"


def hold_forgotten(*, using: str, scope: Scope, prepared: Prepared) -> Prepared:
    """Hold back words that were forgotten here, unless a person or a document says so.

    Else what consolidates, imports or takes notes would bring them back (C12). Who
    writes counts, not what is cited: an agent can cite whatever it sees. One query, or
    none.
    """
    trust, verdict = prepared.row.origin.trust, prepared.row.verdict
    if trust in VOUCHED or verdict.flagged:
        return prepared
    words = folded_sha256(prepared.claim.statement)
    if not were_forgotten(using=using, scope=scope, words=words):
        return prepared
    return quarantined(prepared, FORGOTTEN)


def were_forgotten(*, using: str, scope: Scope, words: bytes) -> bool:
    """Tell whether a fact of the same words was forgotten or retracted here. One query.

    Args:
        words: See ``folded_sha256``.
    """
    gone = Fact.objects.using(using).filter(
        tenant=scope.tenant,
        scope_id=scope.id,
        folded_sha256=words,
        closing__in=[Closing.FORGOTTEN, Closing.RETRACTED],
    )
    return gone.exists()
