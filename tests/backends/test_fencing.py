"""What a passage holds cannot end the fence around it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prism_memory.backends.fencing import fenced, quoted, tag_of

FULL_WIDTH = {ord(digit): ord(digit) + 0xFEE0 for digit in "0123456789abcdef"}


def test_a_passage_that_holds_the_tag_gets_another() -> None:
    known = tag_of("a passage")

    for written in (known, known.upper(), known.translate(FULL_WIDTH)):
        shown = fenced([written], longest_characters=99).split("\n")
        assert shown[0][3:19] != known
    assert tag_of("a passage") == known


def test_a_tag_that_the_content_holds_is_passed_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tags = iter(["aa", "bb", "cc"])
    monkeypatch.setattr(
        "prism_memory.backends.fencing.sha256_start", lambda _: next(tags)
    )

    assert tag_of("AA and \N{FULLWIDTH LATIN SMALL LETTER B}b") == "cc"


def test_no_passages_leave_an_empty_fence() -> None:
    opening, content, closing = fenced([], longest_characters=9).split("\n")

    assert content == ""
    assert opening[3:19] == closing[:16]


@given(st.lists(st.text()))
def test_every_passage_is_one_line_that_reads_back(passages: list[str]) -> None:
    lines = fenced(passages, longest_characters=1_000).splitlines()

    texts = [json.loads(line)["text"] for line in lines[1:-1] if line]
    assert texts == passages
    assert sum(lines[0][3:19] in line for line in lines) == 2


@given(st.text())
def test_a_quoted_text_is_one_line_that_reads_back(text: str) -> None:
    assert json.loads(quoted(text)) == text
    assert len(quoted(text).splitlines()) == 1
