"""What counts as a word of a question. Pure."""

from __future__ import annotations

import unicodedata
from typing import Final


def words(text: str) -> list[str]:
    """Return the words of a text: runs of letters, marks and decimal digits.

    PostgreSQL splits at everything else, an underscore and a raised two included, so it
    never makes many more of them.
    """
    return "".join(c if is_of_a_word(c) else " " for c in text).split()


def is_of_a_word(character: str) -> bool:
    """Tell whether a character is a letter, a mark on one, or a decimal digit."""
    return character.isdecimal() or unicodedata.category(character)[0] in "LM"


FUNCTION_WORDS: Final = frozenset(
    words(
        "a all am an and any are as at be been but by can could did do does for from"
        " had has have he her hers him his how i if in is it its may me might mine must"
        " my no not of on or our ours shall she should so some than that the their them"
        " then there these they this those to us was we were what when where which who"
        " whom whose why will with would yes you your yours"
    )
)
"""English words that a question holds without naming anybody of that name."""


def is_named(name: str, text: str) -> bool:
    """Tell whether a text holds a name, in whatever case, and not within a word.

    A name that is one of ``FUNCTION_WORDS`` counts only as it is written: "Where will
    she live?" names no Will.
    """
    if name.casefold() in FUNCTION_WORDS:
        return _holds(text, name)
    return _holds(text.casefold(), name.casefold())


def _holds(text: str, name: str) -> bool:
    start = text.find(name) if name else -1
    while start >= 0:
        end = start + len(name)
        if not _is_joined(text[:start][-1:]) and not _is_joined(text[end : end + 1]):
            return True
        start = text.find(name, start + 1)
    return False


def _is_joined(character: str) -> bool:
    """Tell whether what stands beside a name makes it a part of a longer one."""
    return character == "_" or (character.isalnum() or is_mark(character))


def is_mark(character: str) -> bool:
    """Tell whether a character is a mark on the letter before it."""
    return character != "" and unicodedata.category(character)[0] == "M"
