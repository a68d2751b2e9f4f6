"""C25, for people: nothing in stored text is invisible to the one who reviews it."""

from __future__ import annotations

import pytest
from django.utils.safestring import mark_safe

from prism_memory.admin.characters import is_hidden, marked, shown


@pytest.mark.parametrize(
    "character",
    [
        *"\u200b\u200d\u202e\u2066\ufeff\x00\x1f\x7f\x85\r\u2028\u00ad",
        *"\ufe0f\u3164\u115f\u2800\ue000\U000e0041\U000e0100\u0378\ud800",
    ],
)
def test_what_draws_nothing_is_marked(character: str) -> None:
    assert is_hidden(character)
    assert marked(f"a{character}b") == f"a⟦U+{ord(character):04X}⟧b"
    assert f">U+{ord(character):04X}</span>" in shown(character)


@pytest.mark.parametrize(
    "text", ["plain\n\ttext", "Grüße", "日本語", "🙂", "שלום", "…"]
)
def test_what_can_be_seen_stays(text: str) -> None:
    assert marked(text) == text
    assert shown(text) == text


def test_text_is_escaped_even_if_somebody_calls_it_safe() -> None:
    assert shown(mark_safe("<b>&")) == "&lt;b&gt;&amp;"
