"""Words in a new claim that say that an older one is so no more. Pure."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from typing import Final

from prism_memory.facts.conflict.packs import Marker, Pack

APOSTROPHES: Final = str.maketrans(dict.fromkeys("’‘ʼ´`", "'"))  # noqa: RUF001 - these


def folded(text: str) -> str:
    """Return a text as markers are searched in: of one case, space and apostrophe."""
    plain = unicodedata.normalize("NFKC", text.translate(APOSTROPHES)).lower()
    return " ".join(plain.split())


def find_marker(text: str, packs: Iterable[Pack]) -> str:
    """Return the surest marker of a text as ``language:name``, or an empty text.

    Markers of something new come before those of something that ended; of equally sure
    ones the first counts (S3).
    """
    packs = tuple(packs)
    words = folded(text)
    known = [(pack, one) for pack in packs for one in pack.supersedes]
    known += [(pack, one) for pack in packs for one in pack.negations]
    found = [(pack, one) for pack, one in known if one.compiled.search(words)]
    if not found:
        return ""
    pack, best = max(found, key=_confidence)
    return f"{pack.language}:{best.name}"


def _confidence(found: tuple[Pack, Marker]) -> float:
    return found[1].confidence
