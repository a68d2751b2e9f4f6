"""Take a text's disguises off, and keep track of where each character came from. Pure.

Source: Unicode Standard Annex 15 (NFKC) and Technical Standard 39 (confusables), of
which only the letters of words that mix two alphabets are taken.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Final

TAGS: Final = range(0xE0020, 0xE007F)
"""Invisible copies of ASCII: what they spell is read by models, and by nobody else."""

INVISIBLE: Final = frozenset("\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u3164\uffa0")
"""What no general category tells: soft hyphen, joiner, fillers."""

LOOKALIKES: Final = str.maketrans(
    "\u0430\u0251\u03b1\u0435\u03bf\u043e\u0440\u0441\u03c1\u0443\u03c7"
    "\u0445\u0456\u03b9\u0458\u0455\u0501\u051b\u0461\u04bb\u0578\u1d0f"
    "\u028f\u0261\u0269\u03bd\u057f\u0446\u043a\u03ba\u043c\u0442\u043d"
    "\u0432\u0433\u03b3\u0475\u0491",
    "aaaeoopcpyxxiijsdqwhnoyglvtukkmthbryvr",
)
"""Letters of other alphabets that look like Latin ones, folded."""

LIKE: Final = re.compile(f"[{''.join(map(chr, LOOKALIKES))}]")

MIXED: Final = re.compile(r"(?=\w{0,40}[a-z])\w{0,40}[^\x00-\u024f\W]\w{0,40}")

UNWRAPPED: Final = re.compile(
    r"<!--\s{0,8}-->"
    r"|</?(?:b|i|u|s|em|strong|span|code|font|a|mark|sub|sup|small|wbr|q|tt)\b[^<>]{0,80}>"
    r"|[*`~]{1,8}|\\(?=[a-z*_])|(?<!\w)_{1,3}|_{1,3}(?!\w)"
)
"""Markup inside and around words."""

TAG: Final = r"</?(?:br|p|div|li|ul|td|tr|h[1-6])\b[^<>]{0,80}>"
BREAKS: Final = re.compile(rf"(?:{TAG}|[^\S ]|\s{{2}})(?:{TAG}|\s)*+")
"""What parts words, but for the one space that is left in its place."""

SPACED: Final = re.compile(r"(?<![\w.-])\w(?:([ .\-_])\w(?:\1\w){3,48})(?!\w)")
"""Letters that stand apart: i g n o r e."""

ENTITY: Final = re.compile(r"&(?:#\d{2,7}|#x[0-9a-f]{2,6}|[a-z]{2,8});", re.IGNORECASE)


class _Letters(dict[int, str]):
    """What each character folds to, found when it is first met."""

    def __missing__(self, point: int) -> str:
        folded = _letter(chr(point))
        if len(self) < 20_000:
            self[point] = folded
        return folded


def _letter(char: str) -> str:
    if ord(char) in TAGS:
        return chr(ord(char) - 0xE0000).lower()
    if char in INVISIBLE or unicodedata.category(char) in {"Cf", "Cn", "Co"}:
        return ""
    if unicodedata.category(char) == "Cc" and char not in "\t\n\r":
        return ""
    apart = unicodedata.normalize("NFKD", char)
    bare = "".join(c for c in apart if not unicodedata.combining(c))
    folded = unicodedata.normalize("NFKC", bare).lower()
    return "".join(QUOTES.get(c, c) for c in folded if unicodedata.category(c) != "Cf")


QUOTES: Final = {
    **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u02bc\u00b4", "'"),
    **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb", '"'),
    "\u0131": "i",  # without its dot
    "\u0142": "l",
    "\u00f8": "o",
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"),
}
LETTERS: Final = _Letters()


@dataclass(frozen=True)
class Folded:
    """A text in another form.

    Args:
        text: The form.
        trace: Returns, for each of its characters, which of the original it came from.
    """

    text: str
    trace: Callable[[], list[int]]

    @cached_property
    def places(self) -> list[int]:
        """Where each character stood in the original."""
        return self.trace()

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return a span of this form as one of the original."""
        return self.places[start], self.places[max(start, end - 1)] + 1


CONTROL: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
"""What nobody sees, also of ASCII."""


def fold(text: str) -> Folded:
    """Return a text in lower case, without accents and invisible characters (NFKC)."""
    if text.isascii() and not CONTROL.search(text):
        return Folded(text.lower(), lambda: list(range(len(text))))

    def trace() -> list[int]:
        return [i for i, char in enumerate(text) for _ in LETTERS[ord(char)]]

    return _plain(Folded(text.translate(LETTERS), trace))


def _plain(folded: Folded) -> Folded:
    """Read words of two alphabets in one: which letters look alike is no accident."""
    if not LIKE.search(folded.text):
        return folded
    return replaced(folded, MIXED, lambda m: m[0].translate(LOOKALIKES))


def words(folded: Folded) -> Folded:
    """Return what a reader understands: no markup, no letters apart, in one line."""
    if "&" in folded.text:
        folded = replaced(folded, ENTITY, _character)
    folded = replaced(folded, UNWRAPPED, "")
    folded = replaced(folded, SPACED, lambda m: m[0].replace(m[1], ""))
    return replaced(folded, BREAKS, " ")


def _character(match: re.Match[str]) -> str:
    return html.unescape(match[0]).translate(LETTERS) or " "


def parted(text: str) -> str | None:
    """Return a text with a space for each invisible character; None without one.

    ``ignore<zero width space>all`` is two words to a model, and one where it is folded.
    """
    if text.isascii() and not CONTROL.search(text):
        return None
    shown = "".join(char if LETTERS[ord(char)] else " " for char in text)
    return None if shown == text else shown


def replaced(
    folded: Folded,
    pattern: re.Pattern[str],
    change: Callable[[re.Match[str]], str] | str,
) -> Folded:
    """Return a form in which each match is changed, and whose characters are traced."""
    old = folded.text
    new = pattern.sub(change, old)
    if new == old:
        return folded

    def trace() -> list[int]:
        places, kept, end = folded.places, [], 0
        for match in pattern.finditer(old):
            kept += places[end : match.start()]
            within = range(match.start(), match.end())
            put = len(change if isinstance(change, str) else change(match))
            kept += [places[within[min(i, len(within) - 1)]] for i in range(put)]
            end = match.end()
        return kept + places[end:]

    return Folded(new, trace)


def fold_pattern(pattern: str) -> str:
    """Return a regular expression without accents, as the texts are that it meets."""
    return "".join(c if c.isascii() else LETTERS[ord(c)] for c in pattern)
