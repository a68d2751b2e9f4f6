"""What full text and the embedder see of a record besides its words. Pure.

The words alone often do not say who speaks, when, and of what. What is stored as
``text`` stays verbatim and comes back verbatim; only the two index texts get more.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from prism_memory.types import Entry
from prism_memory.types.dates import date_in_words

FULL_TEXT: Final = "lexical_text"
VECTOR: Final = "embed_text"
BOTH: Final = frozenset({FULL_TEXT, VECTOR})

SEEN_BY: Final[Mapping[str, frozenset[str]]] = {
    "speaker": BOTH,
    "title": BOTH,
    "subject": BOTH,
    "topics": BOTH,
    "caption": BOTH,
    # Shown to the embedder too, it costs both legs together .016 of recall@10.
    "date": frozenset({FULL_TEXT}),
}
"""Which index text shows which field."""

MOST_CHARACTERS: Final = 512
"""Of what is put before a text, and of what is put after it: an embedder reads only so
far, and a long title must not push the words out of its sight."""

CONTROLS: Final = dict.fromkeys([*range(0x20), *range(0x7F, 0xA0)], " ")


def index_texts(entry: Entry, *, speaker: str = "") -> dict[str, str]:
    """Return the index texts that differ from the text, by the entry's field.

    One that the entry gives itself is left out: the caller's wins.

    Args:
        entry: Its ``happened_at`` and, of its metadata, ``title``, ``subject`` (with
            ``predicate`` and ``object``), ``topics``, ``tags`` and ``caption`` count.
        speaker: Who said it; empty for what nobody said.
    """
    fields = _fields(entry, speaker)
    if not fields:
        return {}
    texts = {
        name: _situated(entry.text, _seen(fields, name))
        for name in (FULL_TEXT, VECTOR)
        if getattr(entry, name) is None
    }
    return {name: text for name, text in texts.items() if text != entry.text}


def _fields(entry: Entry, speaker: str) -> dict[str, str]:
    """Return the fields that say something. A time that nobody gave is none (B351)."""
    metadata = entry.metadata
    fields = {
        "speaker": _clean(speaker),
        "date": date_in_words(entry.happened_at) if entry.happened_at else "",
    }
    if metadata:
        fields |= {
            "title": _clean(metadata.get("title")),
            "subject": _claim(metadata),
            "topics": ", ".join(_topics(metadata)),
            "caption": _clean(metadata.get("caption")),
        }
    return {name: value for name, value in fields.items() if value}


def _seen(fields: Mapping[str, str], name: str) -> dict[str, str]:
    return {field: value for field, value in fields.items() if name in SEEN_BY[field]}


def _claim(metadata: Mapping[str, Any]) -> str:
    """Return subject, predicate and object, or of half a claim what it speaks of."""
    subject, predicate, other = (
        _clean(metadata.get(name)) for name in ("subject", "predicate", "object")
    )
    if not subject:  # an "object" alone may be anything
        return ""
    parts = (subject, predicate, other) if predicate and other else (subject, other)
    return " ".join(filter(None, parts))


def _topics(metadata: Mapping[str, Any]) -> list[str]:
    lists = (metadata.get(name) for name in ("topics", "tags"))
    topics = (_clean(topic) for given in lists for topic in _listed(given))
    return list(dict.fromkeys(filter(None, topics)))


def _listed(given: object) -> list[Any] | tuple[Any, ...]:
    return given if isinstance(given, list | tuple) else ()


def _clean(value: object) -> str:
    """Return a text on one line, without control characters; empty for other types."""
    if not isinstance(value, str):
        return ""
    return " ".join(value.translate(CONTROLS).split())


def _situated(text: str, fields: Mapping[str, str]) -> str:
    spoken = f"{fields['speaker']}: " if "speaker" in fields else ""
    about = [fields[name] for name in ("title", "subject") if name in fields]
    topics = [f"topics: {fields['topics']}"] if "topics" in fields else []
    date = fields.get("date", "")
    if about or topics or not spoken:
        when = [f"as of {date}"] if date else []
        before = _context([*about, *when, *topics], spoken)
    else:
        before = f"{date} {spoken}" if date else spoken
    caption = _cut(fields.get("caption", ""), MOST_CHARACTERS - len(" []"))
    return f"{before}{text} [{caption}]" if caption else f"{before}{text}"


def _context(parts: list[str], spoken: str) -> str:
    """Return the line of S3's ``late-chunk`` (B350), and who speaks after it."""
    if not parts:
        return spoken
    frame = len("[Context: ]\n") + len(spoken)
    inside = _cut("; ".join(dict.fromkeys(parts)), MOST_CHARACTERS - frame)
    return f"[Context: {inside}]\n{spoken}"


def _cut(text: str, most: int) -> str:
    """Return at most so many characters, cut between two words where there are any."""
    if len(text) <= most:
        return text
    head, space, _ = text[: most + 1].rpartition(" ")
    return head.rstrip(",;: ") if space else text[:most]
