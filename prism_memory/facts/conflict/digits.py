"""Whether two texts count and date alike. Pure.

To an embedder "invoice 4711" and "invoice 4712" are one. Whoever drops a text because
it is near another asks here first. When in doubt they differ: ``3`` is not ``three``.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from typing import Final

TOKEN: Final = re.compile(r"[-+−]?\d[\w.,:/%-]*|\w+")  # noqa: RUF001 - a minus sign
TRAILING: Final = ".,:/-"


def quantities(text: str, words: Collection[str]) -> tuple[str, ...]:
    """Return what a text counts and dates with, in its order.

    Args:
        words: Those that count or date without a digit, folded: ``three``, ``monday``.
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    tokens = (match.group().rstrip(TRAILING) for match in TOKEN.finditer(folded))
    return tuple(token for token in tokens if token in words or _counts(token))


def _counts(token: str) -> bool:
    return any(character.isnumeric() for character in token)


def differ(one: str, other: str, words: Collection[str]) -> bool:
    """Tell whether two texts differ in numbers or dates (B357)."""
    return quantities(one, words) != quantities(other, words)
