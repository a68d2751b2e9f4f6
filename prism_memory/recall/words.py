"""What counts as a word of a question. Pure."""

from __future__ import annotations

import unicodedata


def words(text: str) -> list[str]:
    """Return the words of a text: runs of letters, marks and decimal digits.

    PostgreSQL splits at everything else, an underscore and a raised two included, so it
    never makes many more of them.
    """
    return "".join(c if is_of_a_word(c) else " " for c in text).split()


def is_of_a_word(character: str) -> bool:
    """Tell whether a character is a letter, a mark on one, or a decimal digit."""
    return character.isdecimal() or unicodedata.category(character)[0] in "LM"
