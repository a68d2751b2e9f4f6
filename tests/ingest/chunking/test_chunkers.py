"""What holds of every chunker, whatever the text."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prism_memory.errors import LimitExceeded
from prism_memory.ingest.chunking import (
    DOCUMENT_CHARACTERS,
    DOCUMENT_CHUNKS,
    Chunk,
    Chunker,
    MarkdownChunker,
    MarkdownWindowChunker,
    TextChunker,
)

PIECES: Final = [
    *(
        "# A",
        "## B b",
        "### C #",
        "Title",
        "===",
        "---",
        "```",
        "```py",
        "~~~",
        "    x",
    ),
    *("\n", "\n\n", "\r\n", "\r", " ", "\t", "- a", "> q", "word", "é\u0301", "\u3000"),
    *("a longer line of words.", "\u2028", "|a|b|"),
]
TEXTS: Final = st.lists(st.sampled_from(PIECES), max_size=60).map("".join)
CHUNKERS: Final = st.one_of(
    st.integers(1, 40).map(MarkdownChunker),
    st.builds(
        lambda kind, size, overlap: kind(size, min(overlap, size - 1)),
        st.sampled_from([TextChunker, MarkdownWindowChunker]),
        st.integers(1, 40),
        st.integers(0, 10),
    ),
)


def words(text: str) -> str:
    return "".join(text.split())


def line_of(text: str, offset: int) -> int:
    return text.count("\n", 0, offset) + 1


@given(TEXTS, CHUNKERS)
def test_every_chunk_slices_back_and_stands_in_order(text: str, chunker: Chunker):
    """B233, B272, B291."""
    found = chunker.chunks(text)
    assert [chunk.ordinal for chunk in found] == list(range(len(found)))
    for chunk in found:
        assert text[chunk.offset_start : chunk.offset_end] == chunk.text
        assert chunk.text.strip()
        assert chunk.line_start == line_of(text, chunk.offset_start)
        assert chunk.line_end == line_of(text, chunk.offset_end - 1)
    starts = [chunk.offset_start for chunk in found]
    assert starts == sorted(set(starts))


@given(TEXTS, CHUNKERS)
def test_no_word_is_lost(text: str, chunker: Chunker):
    """B291; and blank input gives none (B235)."""
    covered = set[int]()
    for chunk in chunker.chunks(text):
        covered.update(range(chunk.offset_start, chunk.offset_end))
    left = "".join(mark for i, mark in enumerate(text) if i not in covered)
    assert words(left) == ""
    assert bool(covered) == bool(text.strip())


@given(TEXTS, CHUNKERS)
def test_the_same_text_gives_the_same_chunks(text: str, chunker: Chunker):
    """B235."""
    assert chunker.chunks(text) == chunker.chunks(text)


@given(TEXTS, st.integers(1, 40))
def test_markdown_chunks_are_whole_lines_and_never_overlap(text: str, size: int):
    """B291."""
    lines = text.replace("\r\n", "\n").split("\n")
    last = 0
    for chunk in MarkdownChunker(size).chunks(text):
        assert chunk.line_start > last
        last = chunk.line_end
        theirs = lines[chunk.line_start - 1 : last]
        assert chunk.text.replace("\r\n", "\n") == "\n".join(theirs)
        assert len(chunk.text) <= size or chunk.line_start == last


@given(TEXTS, st.integers(1, 40), st.integers(0, 10))
def test_windows_keep_to_their_size_and_overlap(text: str, size: int, overlap: int):
    """B233."""
    overlap = min(overlap, size - 1)
    found = TextChunker(size, overlap).chunks(text)
    assert all(len(chunk.text) <= size for chunk in found)
    for one, other in pairwise(found):
        shared = one.offset_end - other.offset_start
        assert shared <= overlap or other.offset_start == one.offset_start + 1


def texts(chunks: Sequence[Chunk]) -> list[str]:
    return [chunk.text for chunk in chunks]


def test_a_window_ends_before_a_heading_rather_than_at_a_blank_line():
    """B234."""
    text = "aaaa bbbb cc\n# H\n\ndddd eeee"
    assert texts(MarkdownWindowChunker(20, 0).chunks(text))[0] == "aaaa bbbb cc"
    assert texts(TextChunker(20, 0).chunks(text))[0] == "aaaa bbbb cc\n# H"
    assert texts(TextChunker(12, 0).chunks("aaaa bbbb cccc")) == ["aaaa bbbb", "cccc"]
    assert texts(TextChunker(4, 0).chunks("aaaabbbb")) == ["aaaa", "bbbb"]


def test_no_separator_counts_before_the_middle_of_the_window():
    """B234."""
    assert texts(TextChunker(10, 0).chunks("a\n\nbbbbbbbbbbbb")) == [
        "a\n\nbbbbbbb",
        "bbbbb",
    ]


@pytest.mark.parametrize(
    ("size", "overlap", "field"),
    [
        (0, 0, "size"),
        (16_385, 0, "size"),
        (10, 10, "overlap"),
        (9_000, 4_097, "overlap"),
        (10, -1, "overlap"),
        (True, 0, "size"),
    ],
)
def test_a_size_out_of_its_bounds_is_refused(size: int, overlap: int, field: str):
    """B233."""
    with pytest.raises(LimitExceeded) as refused:
        TextChunker(size, overlap)
    assert refused.value.field == field


def test_too_much_for_a_document_is_refused_and_never_cut_short():
    """B235; the limits are named."""
    for chunker in (MarkdownChunker(1), TextChunker(2, 0)):
        with pytest.raises(LimitExceeded, match="8,192 chunks"):
            chunker.chunks("a\n\n" * (DOCUMENT_CHUNKS + 1))
        assert len(chunker.chunks("a\n\n" * DOCUMENT_CHUNKS)) == DOCUMENT_CHUNKS
        with pytest.raises(LimitExceeded, match="8,388,608 characters"):
            chunker.chunks(" " * (DOCUMENT_CHARACTERS + 1))


def test_other_options_are_another_identity():
    chunkers: list[Chunker] = [
        *(MarkdownChunker(), MarkdownChunker(5), TextChunker(), TextChunker(900)),
        *(TextChunker(1_000, 99), MarkdownWindowChunker()),
    ]
    assert len({chunker.identity for chunker in chunkers}) == len(chunkers)
