"""Show stored text so that nothing in it is invisible. Pure but for Django's escaping.

Invisible characters can hide orders to an agent from the person who reviews a record.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from typing import Any, Final

from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe

_HIDDEN_CATEGORIES: Final = frozenset({"Cc", "Cf", "Co", "Cn", "Cs", "Zl", "Zp"})
_HIDDEN_LETTERS: Final = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u2800\u3164\uffa0"
)
"""Characters that draw nothing, though Unicode calls them letters, marks, symbols.
Source: Unicode's Default_Ignorable_Code_Point, and the blank Braille pattern."""

_CANDIDATES: Final = re.compile(r"[^\n\t\x20-\x7e]")
_NEW_LINES: Final = frozenset("\n\t")


def is_hidden(character: str) -> bool:
    """Tell whether a reader would not see ``character``."""
    if character in _NEW_LINES:
        return False
    number = ord(character)
    selector = 0xFE00 <= number <= 0xFE0F or 0xE0000 <= number <= 0xE0FFF
    return (
        selector
        or character in _HIDDEN_LETTERS
        or unicodedata.category(character) in _HIDDEN_CATEGORIES
    )


def marked(text: str) -> str:
    """Return ``text`` with every hidden character written as ``⟦U+200B⟧``."""
    return _replaced(text, lambda character: f"⟦U+{ord(character):04X}⟧")


def shown(text: str) -> SafeString:
    """Return ``text`` as HTML: escaped, with every hidden character as a small mark."""
    return mark_safe(_replaced(str(escape(text)), _mark))  # noqa: S308 - escaped above


def _mark(character: str) -> str:
    name = unicodedata.name(character, "")
    return format_html(
        '<span class="pm-hidden" title="{}">U+{}</span>', name, f"{ord(character):04X}"
    )


def _replaced(text: str, write: Callable[[str], str]) -> str:
    def one(match: re.Match[str]) -> Any:  # noqa: ANN401 - what re.sub takes
        character = match.group()
        return write(character) if is_hidden(character) else character

    return _CANDIDATES.sub(one, text)
