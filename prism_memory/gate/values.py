"""What a rule, a match and a judgement are. No Django."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Any, Final

from prism_memory.errors import Invalid
from prism_memory.gate.folding import fold_pattern

NAME: Final = re.compile(r"[a-z][a-z0-9-]{0,63}")


class View(StrEnum):
    """What of a text a rule is matched against.

    WORDS is what a reader understands: folded, without markup, in one line. MARKS is
    folded and keeps markup and lines. RAW is the text as it is.
    """

    WORDS = "words"
    MARKS = "marks"
    RAW = "raw"


@dataclass(frozen=True)
class Rule:
    """One thing that no honest memory says.

    Args:
        id: Lower-case letters, digits and hyphens; what markers and the audit tell.
        pattern: A regular expression over the view: lower case, without accents. Every
            repetition in it should be bounded: texts are long, and not ours.
        note: What it is about, for people.
        needs: Some strings, one of which each match holds. A text with none of them is
            not matched, which is much faster. Empty: always matched.

    Raises:
        Invalid: The id or the pattern is none.
    """

    id: str
    pattern: str
    note: str
    needs: tuple[str, ...] = ()
    view: View = View.WORDS

    def __post_init__(self) -> None:
        if not (isinstance(self.id, str) and NAME.fullmatch(self.id)):
            message = "The id of a rule is lower-case letters, digits and hyphens."
            raise Invalid(message, field="id")
        try:
            expression(self)
        except (re.error, TypeError):
            message = f"The pattern of the rule {self.id} is no regular expression."
            raise Invalid(message, field="pattern") from None


@lru_cache(maxsize=1_024)
def expression(rule: Rule) -> re.Pattern[str]:
    """Return a rule's pattern, compiled."""
    folded = rule.pattern if rule.view is View.RAW else fold_pattern(rule.pattern)
    return re.compile(folded)


@dataclass(frozen=True)
class Marker:
    """Where a rule matched.

    Args:
        rule: Its id.
        start: First character of it in the original text, from 0.
        end: The one after its last.
        field: ``text`` or ``metadata``; there the span is empty.
    """

    rule: str
    start: int
    end: int
    field: str = "text"

    def as_json(self) -> dict[str, Any]:
        """Return it as it is stored."""
        return {
            "rule": self.rule,
            "start": self.start,
            "end": self.end,
            "field": self.field,
        }

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Marker:
        """Return what ``as_json`` gave."""
        return cls(
            stored["rule"], stored["start"], stored["end"], stored.get("field", "text")
        )


@dataclass(frozen=True)
class Verdict:
    """What the gate says of one text.

    Args:
        flagged: It shall wait for a person.
        reason: ``injection`` or ``classifier``; empty where it is not flagged.
        markers: Where rules matched; of a classifier alone an empty span.
    """

    flagged: bool = False
    reason: str = ""
    markers: tuple[Marker, ...] = ()

    @property
    def rules(self) -> list[str]:
        """Ids of what matched, each once, in order."""
        return list(dict.fromkeys(marker.rule for marker in self.markers))

    def as_json(self) -> list[dict[str, Any]]:
        """Return the markers as they are stored."""
        return [marker.as_json() for marker in self.markers]
