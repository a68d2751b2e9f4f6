"""When two names are one. Pure."""

from __future__ import annotations

import unicodedata
from typing import Final

from prism_memory.types.checks import NAME_BYTES

WORD: Final = "LN"
"""First letters of the Unicode categories of letters and digits."""


def fold(name: str) -> str:
    """Return a name as it is compared (B389); folded once more it stays the same.

    Compatible forms, case and runs of white space are one; characters that nobody sees
    are left out; what is no letter or digit goes from both ends. Marks on the last
    letter stay: in many scripts they are its vowel.

    Returns:
        At most 256 bytes of UTF-8; empty where no letter or digit is left, or where
        more is: such a name is no entity.

    Source: Unicode Standard, 3.13, toNFKC_Casefold.
    """
    text, before = name, ""
    while text != before:  # a compatible form may be made of others
        before = text
        text = unicodedata.normalize("NFKC", text).casefold()
    seen = "".join(c for c in text if unicodedata.category(c) != "Cf")
    folded = _trimmed(unicodedata.normalize("NFKC", " ".join(seen.split())))
    return folded if len(folded.encode()) <= NAME_BYTES else ""


def _trimmed(text: str) -> str:
    places = [i for i, c in enumerate(text) if unicodedata.category(c)[0] in WORD]
    if not places:
        return ""
    end = places[-1] + 1
    while end < len(text) and unicodedata.category(text[end])[0] == "M":
        end += 1
    return text[places[0] : end]
