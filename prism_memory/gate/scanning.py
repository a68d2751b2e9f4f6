"""Match rules against a text. No Django."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Final

from prism_memory.gate.folding import Folded, fold, parted, words
from prism_memory.gate.values import Marker, Rule, View, expression

MOST: Final = 8
"""Markers of one rule and text: a person needs no more to judge it."""


def scan(text: str, rules: Sequence[Rule]) -> tuple[Marker, ...]:
    """Return where rules match a text, in the order of its characters.

    The time grows with the length of the text, not faster.

    Args:
        rules: See ``RULES``.
    """
    found: dict[Marker, None] = {}
    for view, form in _forms(text):
        for rule in rules:
            if rule.view is view:
                found |= dict.fromkeys(_matches(rule, form))
    return tuple(sorted(found, key=lambda m: (m.start, m.end, m.rule)))


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


def _matches(rule: Rule, form: Folded) -> Iterable[Marker]:
    if rule.needs and not any(need in form.text for need in rule.needs):
        return
    matches = expression(rule).finditer(form.text)
    for match in islice((m for m in matches if m[0]), MOST):
        yield Marker(rule.id, *form.span(*match.span()))
