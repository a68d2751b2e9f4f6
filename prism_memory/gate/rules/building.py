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

from prism_memory.gate.values import Rule

GAP: Final = r"""[ ,:;"'()>#|/\[\]{}=-]{1,4}"""
"""What may stand between two words of a phrase; never the end of a sentence."""

WORD: Final = r"[^\W_]{1,24}"
TOKEN: Final = re.compile(r"(?:[^ (\[]|\([^)]*\)|\[[^\]]*\])+")
LITERAL: Final = re.compile(r"[^*?\\.\[ ]*")


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
        Rule(id, pattern(phrase, words), note, starts=_starts(phrase, words))
        for phrase in phrases
    )


def pattern(phrase: str, words: Mapping[str, str]) -> str:
    """Return a phrase as a regular expression."""
    found, parted = r"\b", True
    for token in TOKEN.findall(phrase):
        if token.startswith("!"):
            behind = "" if parted else GAP
            found += rf"(?!{behind}{_either(token[1:], words)}\b)"
            continue
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
        return rf"\b(?:[^.!?]|\.(?=\w)){{0,{int(token[1:])}}}?\b", True
    if token.startswith("["):
        return rf"(?:{_either(token[1:-1], words)}{GAP})?", True
    return _either(token, words), False


def _either(token: str, words: Mapping[str, str]) -> str:
    return f"(?:{'|'.join(_one(one, words) for one in _each(token, words))})"


def _one(one: str, words: Mapping[str, str]) -> str:
    named = (words.get(w, w.replace("*", r"\w{0,12}")) for w in one.split(" "))
    return GAP.join(named)


def _each(token: str, words: Mapping[str, str]) -> Iterator[str]:
    for one in token.strip("()").split("|"):
        if one in words:
            yield from words[one].split("|")
        else:
            yield one


def _starts(phrase: str, words: Mapping[str, str]) -> tuple[str, ...]:
    """Return how the first word of a phrase begins; nothing where that is open."""
    first = TOKEN.findall(phrase)[0]
    if first[0] in ".~![":
        return ()
    begins = (LITERAL.match(words.get(o, o)) for o in _each(first, words))
    found = tuple(dict.fromkeys(begin[0] for begin in begins if begin))
    return found if all(found) else ()
