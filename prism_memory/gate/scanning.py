"""Match rules against a text. No Django."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final

from prism_memory.gate.folding import Folded, fold, parted, words
from prism_memory.gate.values import Marker, Rule, View, compiled

MOST: Final = 64
"""Markers of one text: a person needs no more to judge it."""

MOST_WORDS: Final = 20_000
"""Whose rules are kept in mind: texts cannot fill memory."""

RUN: Final = re.compile(r"\w{1,64}")


class Ruleset:
    """Rules, laid out so that a text is matched against few of them.

    Args:
        rules: See ``Rule``. Compiled when they are first needed.
    """

    def __init__(self, rules: Iterable[Rule]) -> None:
        self.rules = tuple(rules)
        self._patterns: dict[int, re.Pattern[str]] = {}
        self._known: dict[str, tuple[int, ...]] = {}
        self._starting: dict[str, list[int]] = {}
        self.anywhere: dict[View, list[int]] = {view: [] for view in View}
        for number, rule in enumerate(self.rules):
            if rule.view is View.WORDS and rule.starts:
                for start in rule.starts:
                    self._starting.setdefault(start, []).append(number)
            else:
                self.anywhere[rule.view].append(number)

    def pattern(self, number: int) -> re.Pattern[str]:
        """Return a rule's pattern, compiled once."""
        if number not in self._patterns:
            self._patterns[number] = compiled(self.rules[number])
        return self._patterns[number]

    def at(self, word: str) -> tuple[int, ...]:
        """Return the rules whose matches may begin with a word."""
        if (known := self._known.get(word)) is not None:
            return known
        found: dict[int, None] = {}
        for end in range(len(word) + 1):
            found |= dict.fromkeys(self._starting.get(word[:end], ()))
        if len(self._known) < MOST_WORDS:
            self._known[word] = tuple(found)
        return tuple(found)


def scan(text: str, rules: Ruleset) -> tuple[Marker, ...]:
    """Return where rules match a text, in the order of its characters.

    The time grows with the length of the text, not faster.
    """
    found: dict[Marker, None] = {}
    for view, form in _forms(text):
        found |= dict.fromkeys(islice(_matches(view, form, rules), MOST))
    return tuple(sorted(found, key=lambda m: (m.start, m.end, m.rule))[:MOST])


def _forms(text: str) -> Iterator[tuple[View, Folded]]:
    marks = fold(text)
    plain = words(marks)
    yield View.RAW, Folded(text, lambda: list(range(len(text))))
    yield View.MARKS, marks
    yield View.WORDS, plain
    if (shown := parted(text)) is not None:
        apart = words(fold(shown))
        if apart.text != plain.text:
            yield View.WORDS, apart


def _matches(view: View, form: Folded, rules: Ruleset) -> Iterator[Marker]:
    for number in rules.anywhere[view]:
        rule = rules.rules[number]
        if rule.needs and not any(need in form.text for need in rule.needs):
            continue
        for match in rules.pattern(number).finditer(form.text):
            if match[0]:
                yield Marker(rule.id, *form.span(*match.span()))
    if view is View.WORDS:
        yield from _anchored(form, rules)


def _anchored(form: Folded, rules: Ruleset) -> Iterator[Marker]:
    for run in RUN.finditer(form.text):
        for number in rules.at(run[0]):
            match = rules.pattern(number).match(form.text, run.start())
            if match and match[0]:
                yield Marker(rules.rules[number].id, *form.span(*match.span()))
