"""From what a caller gives to rows that can be stored. No database."""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, replace
from itertools import islice
from typing import Any, Final

from django.utils.module_loading import import_string

from prism_memory.conf import Limits, settings
from prism_memory.db.languages import LANGUAGES
from prism_memory.errors import Conflict, Invalid, LimitExceeded
from prism_memory.gate import Verdict, judge
from prism_memory.lifecycle.situating import index_texts
from prism_memory.redaction import Redaction
from prism_memory.types import (
    SAID_KINDS,
    Consent,
    ConsentSource,
    Entry,
    Kind,
    Lineage,
    Origin,
    Restored,
    SourceRef,
    Trust,
    check_finite,
    is_chunk_key,
    to_json,
    uuid7,
)

Given = str | Entry | Mapping[str, Any]
Identity = tuple[str, str, str, str]
ImportanceFrom = Callable[[Mapping[str, Any]], float]

FIELDS: Final = frozenset(field.name for field in fields(Entry)) - {"origin"}
"""What a mapping may name. Not the origin: content never vouches for itself (C27)."""

TEXTS: Final = ("text", "lexical_text", "embed_text")

NESTED: Final[Mapping[str, type]] = {
    "consent": Consent,
    "lineage": Lineage,
    "source": SourceRef,
}

CONSENT_OF: Final = {
    Trust.USER: ConsentSource.USER,
    Trust.AGENT: ConsentSource.AGENT,
    Trust.SUBAGENT: ConsentSource.AGENT,
}


@dataclass(frozen=True)
class Row:
    """An entry as it is stored.

    Args:
        lexical_text: What full text indexes; None where it is the text itself.
        embed_text: What is embedded; None as above.
        verdict: What the gate says of the words and the metadata.
    """

    id: uuid.UUID
    entry: Entry
    key: str
    origin: Origin
    language: str
    sha256: bytes
    embed_sha256: bytes
    metadata_json: str
    lexical_text: str | None
    embed_text: str | None
    verdict: Verdict

    @property
    def identity(self) -> Identity:
        """What makes it one record in its scope."""
        entry = self.entry
        return (entry.kind.value, entry.namespace, entry.partition, self.key)

    @property
    def said(self) -> tuple[object, ...]:
        """What two rows of one record must agree on.

        The metadata as its text, in one order: to Python 1 and True are equal.
        """
        metadata = json.dumps(json.loads(self.metadata_json), sort_keys=True)
        return (replace(self.entry, metadata={}), self.origin, metadata)

    @property
    def default_consent(self) -> str:
        """Consent source when none is given; empty where none is assumed."""
        assumed = self.entry.kind in SAID_KINDS and not isinstance(self.entry, Restored)
        if not assumed:
            return ""
        return consent_source(self.origin.trust).value


def consent_source(trust: Trust) -> ConsentSource:
    """Return who consents when a writer of this trust class does not say."""
    return CONSENT_OF.get(trust, ConsentSource.SYSTEM)


def read(given: Given | Iterable[Given], *, limits: Limits) -> tuple[Entry, ...]:
    """Return the entries of a call, one or many.

    Raises:
        Invalid: An item is no entry; the error names the field.
        LimitExceeded: More than ``batch_entries`` of them.
    """
    one = isinstance(given, str | bytes | Entry | Mapping)
    many: object = [given] if one else given
    if not isinstance(many, Iterable):
        message = "Entries are a text, an Entry, a mapping, or an iterable of them."
        raise Invalid(message, field="entries")
    most = limits.batch_entries
    items = list(islice(many, most + 1))
    if len(items) > most:
        message = f"One call takes {most} entries (batch_entries)."
        raise LimitExceeded(message, field="entries")
    return tuple(_read_one(item) for item in items)


def _read_one(given: object) -> Entry:
    if isinstance(given, Entry):
        return given
    if isinstance(given, str):
        return Entry(given)
    if not isinstance(given, Mapping):
        message = f"An entry is a text or an Entry, not {type(given).__name__}."
        raise Invalid(message, field="entries")
    unknown = sorted(str(name) for name in given if name not in FIELDS)
    if unknown:
        message = f"An entry has no field {', '.join(unknown)}."
        raise Invalid(message, field=unknown[0])
    if "text" not in given:
        message = "An entry needs a text."
        raise Invalid(message, field="text")
    return Entry(**{name: _nested(name, value) for name, value in given.items()})


def _nested(name: str, value: Any) -> Any:  # noqa: ANN401 - any field
    kind = NESTED.get(name)
    if kind is None or not isinstance(value, Mapping):
        return value
    known = {field.name: field.default is MISSING for field in fields(kind)}
    unknown = sorted(str(key) for key in value if key not in known)
    if unknown:
        message = f"{name} has no field {', '.join(unknown)}."
        raise Invalid(message, field=name)
    for missing in (key for key, needed in known.items() if needed):
        if missing not in value:
            message = f"{name} needs a {missing}."
            raise Invalid(message, field=f"{name}.{missing}")
    return kind(**value)


def prepare(
    entries: Iterable[Entry],
    *,
    origin: Origin | None,
    limits: Limits,
    redaction: Redaction,
    importance_from: ImportanceFrom | None = None,
    judges: bool = True,
) -> tuple[Row, ...]:
    """Redact, derive and check; nothing is stored yet, so one error stores nothing.

    Args:
        judges: Ask the gate of each; else whoever calls does, of those it stores.

    Raises:
        Invalid: No origin, blank after redaction, an importance that is not finite.
        LimitExceeded: A text or an entry is too long; the error names the limit.
        Conflict: Two different entries of the batch are the same record.
    """
    derive = importance_from or _configured_importance()
    rows = [_prepare_one(e, origin, limits, redaction, derive, judges) for e in entries]
    return _distinct(rows)


def _configured_importance() -> ImportanceFrom | None:
    path = settings.IMPORTANCE_FROM
    return import_string(path) if path else None


def _prepare_one(
    entry: Entry,
    origin: Origin | None,
    limits: Limits,
    redaction: Redaction,
    derive: ImportanceFrom | None,
    judges: bool,
) -> Row:
    written_by = entry.origin or origin
    if written_by is None:
        message = "An entry needs an origin: who vouches for it, and who wrote it."
        raise Invalid(message, field="origin")
    _refuse_secret_names(entry, written_by, redaction)
    _refuse_chunk_key(entry)
    return _row(entry, written_by, limits, redaction, derive, judges=judges)


def reworded(
    entry: Entry,
    *,
    origin: Origin,
    limits: Limits,
    redaction: Redaction,
    classify: bool = True,
) -> Row:
    """Return what is stored already, with other words, as ``prepare`` returns it.

    Its names stand since it was remembered, so they are not asked again.

    Args:
        classify: Ask the host's classifier too; never in a transaction.

    Raises:
        Invalid: Blank after redaction.
        LimitExceeded: The text or the entry is too long; the error names the limit.
    """
    return _row(entry, origin, limits, redaction, None, classify=classify)


def _row(
    entry: Entry,
    origin: Origin,
    limits: Limits,
    redaction: Redaction,
    derive: ImportanceFrom | None,
    *,
    classify: bool = True,
    judges: bool = True,
) -> Row:
    clean = _redacted(entry, redaction, derive)
    _check_limits(clean, limits)  # of what the caller gave: ours may be longer
    lexical, embed = _index_texts(clean, origin, redaction)
    sha256 = hashlib.sha256(clean.text.encode())
    return Row(
        id=uuid7(),
        entry=clean,
        key=clean.key or sha256.hexdigest(),
        origin=origin,
        language=_language(clean.language),
        sha256=sha256.digest(),
        embed_sha256=hashlib.sha256((embed or clean.text).encode()).digest(),
        metadata_json=to_json(clean.metadata, "metadata"),
        lexical_text=lexical,
        embed_text=embed,
        verdict=judge(clean.text, clean.metadata, classify=classify)
        if judges
        else Verdict(),
    )


def _index_texts(
    entry: Entry, origin: Origin, redaction: Redaction
) -> tuple[str | None, str | None]:
    """Return what full text and the embedder see: the caller's own, or ours."""
    if settings.SITUATE == "off":
        return entry.lexical_text, entry.embed_text
    turn = entry.kind is Kind.TURN
    speaker = redaction.text(origin.writer) if turn else ""
    found = index_texts(entry, speaker=speaker)
    # Once more: what was put together could spell a secret that no part holds.
    masked = {name: redaction.mask(text) for name, text in found.items()}
    return (
        masked.get("lexical_text", entry.lexical_text),
        masked.get("embed_text", entry.embed_text),
    )


def _refuse_secret_names(entry: Entry, origin: Origin, redaction: Redaction) -> None:
    if not redaction.secrets:
        return
    names = {
        "key": entry.key,
        "namespace": entry.namespace,
        "partition": entry.partition,
        "writer": origin.writer,
        "source.key": entry.source.key if entry.source else None,
    }
    redaction.check_names(names)
    for name in entry.lineage.source_ids if entry.lineage else ():
        redaction.check_names({"lineage.source_ids": name})


def _refuse_chunk_key(entry: Entry) -> None:
    """Keep the keys of documents' chunks to documents: others could take a place."""
    if entry.kind is Kind.CHUNK and is_chunk_key(entry.key or ""):
        message = "Keys of that form are of documents, which are ingested."
        raise Invalid(message, field="key")


def _redacted(
    entry: Entry, redaction: Redaction, derive: ImportanceFrom | None
) -> Entry:
    texts = {
        name: redaction.text(value)
        for name in TEXTS
        if (value := getattr(entry, name)) is not None
    }
    return replace(
        entry,
        **texts,  # type: ignore[arg-type] # mypy takes each for any field
        metadata=redaction.json(entry.metadata, "metadata"),
        source=_redacted_source(entry.source, redaction),
        importance=_importance(entry, redaction, derive),
        reflection=None,
    )


def _redacted_source(
    source: SourceRef | None, redaction: Redaction
) -> SourceRef | None:
    if source is None or not source.uri:
        return source
    return replace(source, uri=redaction.text(source.uri))


def _importance(
    entry: Entry, redaction: Redaction, derive: ImportanceFrom | None
) -> float | None:
    if entry.importance is not None or entry.reflection is None or derive is None:
        return entry.importance
    reflection = redaction.json(entry.reflection, "reflection")
    value = check_finite(derive(reflection), "importance")
    return min(1.0, max(0.0, value))


def _check_limits(entry: Entry, limits: Limits) -> None:
    for name in TEXTS:
        if len(getattr(entry, name) or "") > limits.text_characters:
            most = limits.text_characters
            message = f"{name} is over {most} characters (text_characters)."
            raise LimitExceeded(message, field=name)
    uri = entry.source.uri if entry.source else ""
    payload = [*(getattr(entry, name) for name in TEXTS), entry.metadata, uri]
    if len(to_json(payload, "metadata").encode()) > limits.payload_bytes:
        message = f"An entry is over {limits.payload_bytes} bytes (payload_bytes)."
        raise LimitExceeded(message, field="metadata")
    if entry.lineage and len(entry.lineage.source_ids) > limits.lineage_sources:
        most = limits.lineage_sources
        message = f"lineage.source_ids holds more than {most} (lineage_sources)."
        raise LimitExceeded(message, field="lineage.source_ids")


def _language(given: str | None) -> str:
    language = settings.LANGUAGE if given is None else given
    if language not in LANGUAGES:
        message = f"language must be one of {', '.join(LANGUAGES)}."
        raise Invalid(message, field="language")
    return language


def _distinct(rows: Sequence[Row]) -> tuple[Row, ...]:
    seen: dict[Identity, Row] = {}
    for row in rows:
        first = seen.setdefault(row.identity, row)
        if first is not row and first.said != row.said:
            message = "Two entries of the batch have the same key and differ."
            raise Conflict(message, field="key")
    return tuple(seen[row.identity] for row in rows)
