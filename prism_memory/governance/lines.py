"""A record as a line of an export: all that it takes to restore it elsewhere."""

from __future__ import annotations

import datetime as dt
import json
import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from prism_memory.access import Reader, visible
from prism_memory.governance.fact_lines import Told, facts_told
from prism_memory.governance.moments import moment
from prism_memory.lifecycle.restricting import restricting
from prism_memory.models import LineageEdge, Record
from prism_memory.redaction import Redaction
from prism_memory.types import (
    JSON,
    PORTABLE,
    SAID_KINDS,
    SOURCE,
    Kind,
    ReadMode,
    Scope,
    SourceKind,
    record_ids,
    record_ref,
)

LEVELS: Final = ("tenant", "owner", "agent", "thread")
TIMES: Final = (
    "created_at",
    "changed_at",
    "happened_at",
    "expires_at",
    "valid_from",
    "valid_to",
)
WORDS: Final = ("text", "lexical_text", "embed_text")
PLAIN: Final = ("kind", "tier", "language", "importance", "uses", "sequence", "trust")
SPANS: Final = ("line_start", "line_end", "offset_start", "offset_end")
NAMES: Final = ("namespace", "partition", "key", "writer")


@dataclass(frozen=True)
class Sight:
    """What one export may hold.

    Args:
        root: All of it lies here or below.
        strict: Only what was consented to.
        exactly: Nothing below ``root``.
        facts: Facts too, and the chunks of documents, not only what was said (B151).
    """

    root: Scope
    strict: bool = True
    exactly: bool = False
    facts: bool = False

    @property
    def said(self) -> tuple[Kind, ...]:
        """What it may hold beside facts."""
        return (*SAID_KINDS, Kind.CHUNK) if self.facts else SAID_KINDS

    def holds(self, scope: Scope) -> bool:
        """Tell whether records of a scope belong to it."""
        return scope == self.root if self.exactly else self.root.opens(scope)

    def reader(
        self,
        scope: Scope,
        at: dt.datetime,
        *,
        mode: ReadMode = ReadMode.EXACT,
        ids: Collection[uuid.UUID] | None = None,
        facts: bool = False,
    ) -> Reader:
        """Return who reads one scope for it.

        Args:
            facts: Only facts, also those that others superseded; else what was said.
        """
        return Reader(
            scope=scope,
            mode=mode,
            strict=self.strict,
            at=at,
            kinds=(Kind.FACT,) if facts else self.said,
            include_superseded=facts,
            include_restricted=True,
            ids=ids,
        )


@dataclass(frozen=True)
class Writing:
    """What the lines of one page need beside their records.

    Args:
        sources: Refs that each record is derived from, in order.
        known: Records among them that the export holds too, by ref.
        facts: Those whose statements are among the records, each with its versions.
        restricted: Ids of restricted documents that each draws upon through what the
            export does not hold.
    """

    redaction: Redaction
    sources: Mapping[uuid.UUID, Sequence[str]] = field(default_factory=dict)
    known: Mapping[str, Record] = field(default_factory=dict)
    facts: Mapping[uuid.UUID, Told] = field(default_factory=dict)
    restricted: Mapping[uuid.UUID, Collection[str]] = field(default_factory=dict)

    def line(self, record: Record) -> str:
        """Return one record as JSON without a line end, redacted once more."""
        return json.dumps(
            self._fields(record),
            ensure_ascii=False,
            allow_nan=False,
            separators=(",", ":"),
        )

    def _fields(self, record: Record) -> JSON:
        return {
            "format": PORTABLE,
            "id": str(record.id),
            "scope": self._scope(record.scope.value),
            **{name: getattr(record, name) for name in PLAIN},
            **{name: self._name(getattr(record, name)) for name in NAMES},
            **{name: self._words(getattr(record, name)) for name in WORDS},
            "metadata": self.redaction.shown(record.metadata),
            "consent": _consent(record),
            "source": self._source(record),
            "lineage": [
                self._ref(ref, record) for ref in self.sources.get(record.id, ())
            ],
            **self._restricted(record),
            **{name: moment(getattr(record, name)) for name in TIMES},
            **self._fact(record),
            **self._chunk(record),
        }

    def _chunk(self, record: Record) -> JSON:
        """Return where a chunk stands in its document, and its key within that."""
        if record.kind != Kind.CHUNK:
            return {}
        places = {name: getattr(record, name) for name in SPANS}
        return {
            "key": self._name(name_in_document(record)),
            "chunk": places | {"generation": record.generation},
        }

    def _restricted(self, record: Record) -> JSON:
        found = self.restricted.get(record.id)
        return {"restricted_to": sorted(found)} if found else {}

    def _fact(self, record: Record) -> JSON:
        told = self.facts.get(record.id)
        return {} if told is None else {"fact": told.fields(self.redaction)}

    def _words(self, value: str | None) -> str | None:
        return None if value is None else self.redaction.text(value)

    def _name(self, value: str) -> str:
        """A name is an identity: only what must never be shown is taken out."""
        return self.redaction.mask(value)

    def _scope(self, scope: Scope) -> dict[str, str]:
        return {level: self._name(getattr(scope, level)) for level in LEVELS}

    def _source(self, record: Record) -> JSON | None:
        if record.source is None:
            return None
        return {
            "key": self._name(record.source.key),
            "uri": self._words(record.source.uri),
            "ordinal": record.ordinal,
            **_document(record),
            **({"restricted": True} if record.source.restricted else {}),
        }

    def _ref(self, ref: str, record: Record) -> JSON:
        """Return what a record is derived from, so that it is found elsewhere too."""
        kind, _, name = ref.partition(":")
        if kind == "ext":
            place, _, outside = name.partition(":")
            level = _level(place, record.scope.value)
            return {"external": self._name(outside), "level": level}
        source = self.known.get(ref)
        if source is None:  # not in this export: its id says nothing
            return {"record": name}
        named: JSON = {
            "key": self._name(source.key),
            "kind": source.kind,
            "namespace": self._name(source.namespace),
            "partition": self._name(source.partition),
            "level": _level(str(source.scope_id), record.scope.value),
        }
        if source.kind == Kind.CHUNK and source.source is not None:
            named |= {
                "key": self._name(name_in_document(source)),
                "source": self._name(source.source.key),
            }
        return named


def name_in_document(record: Record) -> str:
    """Return the key of a chunk without its source's id, which is of one installation.

    What a caller stored as a chunk of a stream has a key of its own.
    """
    return str(record.key).removeprefix(f"{record.source_id}:")


def writing(
    *,
    using: str,
    sight: Sight,
    scope: Scope,
    records: Sequence[Record],
    redaction: Redaction,
    at: dt.datetime,
) -> Writing:
    """Return what the lines of these records of one scope need.

    One to three queries, and three for facts.
    """
    if not records:
        return Writing(redaction)
    facts = facts_told(using=using, tenant=scope.tenant, records=records)
    sources: dict[uuid.UUID, list[str]] = {}
    edges = LineageEdge.objects.using(using).filter(
        tenant=scope.tenant, record_id__in=[record.id for record in records]
    )
    for edge in edges.order_by("record_id", "position"):
        sources.setdefault(edge.record_id, []).append(edge.source_ref)
    refs = {ref for given in sources.values() for ref in given}
    outlived = {
        record_id: {r.removeprefix(SOURCE) for r in given if r.startswith(SOURCE)}
        for record_id, given in sources.items()
    }
    sources = {
        record_id: [ref for ref in given if not ref.startswith(SOURCE)]
        for record_id, given in sources.items()
    }
    ids = record_ids(refs)
    if not ids:
        return Writing(redaction, sources, facts=facts, restricted=outlived)
    reader = sight.reader(scope, at, mode=ReadMode.CHAIN, ids=ids)
    found = visible(using=using, reader=reader).select_related("scope", "source")
    columns = ("tenant", "kind", "namespace", "partition", "key", "scope", "source")
    known = {
        record_ref(source.id): source
        for source in found.only(*columns)
        if sight.holds(source.scope.value)
    }
    for ref, source_id in _beyond(using, scope.tenant, refs - known.keys()):
        for record_id, given in sources.items():
            if ref in given:
                outlived[record_id].add(str(source_id))
    return Writing(redaction, sources, known, facts, outlived)


def _beyond(
    using: str, tenant: str, refs: Collection[str]
) -> list[tuple[str, uuid.UUID]]:
    """Return the restricted sources that what is not exported draws upon.

    One query; none without refs.
    """
    if not (ids := record_ids(refs)):
        return []
    pairs = restricting(using=using, tenant=tenant, ids=ids)
    return [(record_ref(record_id), source_id) for record_id, source_id in pairs]


def _consent(record: Record) -> JSON | None:
    if record.visible is None:
        return None
    return {
        "source": record.consent_source,
        "label": record.consent_scope,
        "visible": record.visible,
        "granted_at": moment(record.granted_at),
    }


def _document(record: Record) -> JSON:
    source = record.source
    if source is None or source.kind != SourceKind.DOCUMENT:
        return {}
    return {"kind": source.kind, "chunker": source.chunker}


def _level(scope_id: str, scope: Scope) -> str:
    """Return which level of a chain a scope is; the narrowest where it is none."""
    for place in scope.chain():
        if str(place.id) == scope_id:
            return next((name for name in reversed(LEVELS) if getattr(place, name)), "")
    return next(name for name in reversed(LEVELS) if getattr(scope, name))
