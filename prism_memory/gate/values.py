"""What a rule, a match and a judgement are. No Django."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
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
    """One way to say one thing that no honest memory says.

    Args:
        id: Lower-case letters, digits and hyphens; what markers and the audit tell.
            Several rules may have one id.
        pattern: A regular expression over the view: lower case, without accents. Every
            repetition in it should be bounded: texts are long, and not ours.
        note: What it is about, for people.
        starts: How the word begins that a match begins with, in the view of words: one
            of these. There alone it is matched, which is much faster. Empty: anywhere.
        needs: Strings, one of which each match holds. A text with none of them is not
            matched. Empty: any text is.

    Raises:
        Invalid: The id is none.
    """

    id: str
    pattern: str
    note: str
    needs: tuple[str, ...] = ()
    view: View = View.WORDS
    starts: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        identifier: object = self.id
        if not (isinstance(identifier, str) and NAME.fullmatch(identifier)):
            message = "The id of a rule is lower-case letters, digits and hyphens."
            raise Invalid(message, field="id")
        if self.view is not View.RAW:
            object.__setattr__(self, "needs", tuple(map(fold_pattern, self.needs)))
            object.__setattr__(self, "starts", tuple(map(fold_pattern, self.starts)))


def compiled(rule: Rule) -> re.Pattern[str]:
    """Return a rule's pattern, compiled.

    Raises:
        Invalid: It is no regular expression.
    """
    folded = rule.pattern if rule.view is View.RAW else fold_pattern(rule.pattern)
    try:
        return re.compile(folded)
    except (re.error, TypeError):
        message = f"The pattern of the rule {rule.id} is no regular expression."
        raise Invalid(message, field="pattern") from None


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
