"""How rules are written down, and what patterns come of it.

A phrase is words with one space between them, where a text may have commas, quotes and
the like, but not the end of a sentence::

    "DROP ..3 FORMER ..2 (rules|instruction*)"

``..3`` is up to three words of any kind, ``(a|b c)`` one of several, ``[the]`` may be
missing, ``!my`` must not come next, ``*`` ends a word in any way, ``~40`` is up to so
many characters of one sentence, and capitals name a list of words.

Words and what parts them have no character in common, and every repetition is bounded:
so the work on a text grows with its length alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from prism_memory.gate.folding import fold_pattern
from prism_memory.gate.values import Rule

GAP: Final = r"""[ ,:;"'()>#|/\[\]{}=-]{1,4}"""
"""What may stand between two words of a phrase; never the end of a sentence."""

WORD: Final = r"[^\W_]{1,24}"
TOKEN: Final = re.compile(r"(?:[^ (\[]|\([^)]*\)|\[[^\]]*\])+")
LITERAL: Final = re.compile(r"[^*?\\.\[ ]*")
SHORTEST: Final = 3


def rules(
    id: str,  # noqa: A002 - as the rule calls it
    note: str,
    *phrases: str,
    words: Mapping[str, str],
) -> tuple[Rule, ...]:
    """Return one rule for each phrase, all of one id.

    Args:
        words: What the names in capitals stand for: ``a|b c``.
    """
    return tuple(
        Rule(id, pattern(phrase, words), note, needs=_needs(phrase, words))
        for phrase in phrases
    )


def pattern(phrase: str, words: Mapping[str, str]) -> str:
    """Return a phrase as a regular expression."""
    found, parted = r"\b", True
    for token in TOKEN.findall(phrase):
        if not parted and not token.startswith("~"):
            found += GAP
        part, parted = _part(token, words)
        found += part
    return found if parted else rf"{found}\b"


def _part(token: str, words: Mapping[str, str]) -> tuple[str, bool]:
    """Return a part, and whether it brings the gap behind it, or needs none."""
    if token.startswith(".."):
        return f"(?:{WORD}{GAP}){{0,{int(token[2:])}}}?", True
    if token.startswith("~"):
        return rf"\b[^.!?]{{0,{int(token[1:])}}}?\b", True
    if token.startswith("!"):
        return rf"(?!{_either(token[1:], words)}\b)", True
    if token.startswith("["):
        return rf"(?:{_either(token[1:-1], words)}{GAP})?", True
    return _either(token, words), False


def _either(token: str, words: Mapping[str, str]) -> str:
    each = (one.replace("*", r"\w{0,12}") for one in _each(token, words))
    return f"(?:{'|'.join(one.replace(' ', GAP) for one in each)})"


def _each(token: str, words: Mapping[str, str]) -> Iterator[str]:
    for one in token.strip("()").split("|"):
        if one in words:
            yield from words[one].split("|")
        else:
            yield one


def _needs(phrase: str, words: Mapping[str, str]) -> tuple[str, ...]:
    """Return how the words of the part begin that tells most of a phrase."""
    best: tuple[str, ...] = ()
    for token in TOKEN.findall(phrase):
        if token[0] in ".~![":
            continue
        begins = tuple(
            dict.fromkeys(LITERAL.match(one)[0] for one in _each(token, words))  # type: ignore[index] # it matches nothing too
        )
        length = min(map(len, begins))
        if length >= SHORTEST and length > min(map(len, best), default=0):
            best = begins
    return tuple(map(fold_pattern, best))
