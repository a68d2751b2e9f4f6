"""What a line of an export says of a fact beside its statement."""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from prism_memory.governance.moments import moment
from prism_memory.lifecycle.own_words import own_words_of
from prism_memory.models import Fact, FactVersion, Record
from prism_memory.redaction import Redaction
from prism_memory.types import JSON, Kind

PLAIN: Final = ("confidence", "provenance", "principal", "sensitivity", "closing")
WORDS: Final = ("subject", "predicate", "value", "closing_reason")
LINKS: Final = ("supersedes", "superseded_by", "pending_supersedes")
TIMES: Final = ("valid_from", "valid_to", "recorded_from", "recorded_to")


@dataclass(frozen=True)
class Told:
    """A fact with its versions, the oldest first. What it cites is its lineage.

    Args:
        own_words: The record of its bare words, which it alone cites. They are those of
            its statement, and in nobody's sight.
    """

    fact: Fact
    versions: Sequence[FactVersion]
    own_words: uuid.UUID | None = None

    def fields(self, redaction: Redaction) -> JSON:
        """Return it as JSON, redacted once more."""
        fact = self.fact
        return {
            "key": redaction.mask(fact.key),
            **{name: redaction.text(getattr(fact, name)) for name in WORDS},
            **{name: getattr(fact, name) for name in PLAIN},
            **{name: _id(getattr(fact, name)) for name in LINKS},
            "own_words": _id(self.own_words),
            "closed_at": moment(fact.closed_at),
            "closing_actor": redaction.mask(fact.closing_actor),
            "versions": [_version(one, redaction) for one in self.versions],
        }


def facts_told(
    *, using: str, tenant: str, records: Iterable[Record]
) -> Mapping[uuid.UUID, Told]:
    """Return facts whose statements are among some records. Three queries, or none."""
    ids = [record.id for record in records if record.kind == Kind.FACT]
    if not ids:
        return {}
    versions: dict[uuid.UUID, list[FactVersion]] = defaultdict(list)
    rows = FactVersion.objects.using(using).filter(tenant=tenant, fact_id__in=ids)
    for version in rows.order_by("fact_id", "recorded_from"):
        versions[version.fact_id].append(version)
    facts = Fact.objects.using(using).filter(tenant=tenant, id__in=ids)
    own = own_words_of(using=using, tenant=tenant, ids=ids)
    return {fact.id: Told(fact, versions[fact.id], own.get(fact.id)) for fact in facts}


def _version(version: FactVersion, redaction: Redaction) -> JSON:
    return {
        "acceptance": version.acceptance,
        "gate": version.gate,
        **{name: moment(getattr(version, name)) for name in TIMES},
        "cause": version.cause,
        "actor": redaction.mask(version.actor),
        "reason": redaction.text(version.reason),
    }


def _id(value: uuid.UUID | None) -> str | None:
    return None if value is None else str(value)
