"""Plain text and Markdown."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prism_memory.errors import Invalid, LimitExceeded, Misconfigured
from prism_memory.ingest.reading import Unreadable, format_of, read, values

WORDS = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0﻿"), min_size=1
).filter(str.strip)


@given(WORDS, st.sampled_from(["utf-8-sig", "utf-16", "utf-32", "utf-8"]))
def test_text_comes_back_verbatim_whatever_mark_it_bears(words, encoding):
    """Line ends, blanks at the end and odd characters too."""
    assert read(words.encode(encoding), "text").text == words
    assert read(words.encode(encoding), "markdown").text == words


@pytest.mark.parametrize(
    ("content", "encoding", "told"),
    [
        (b"caf\xe9", None, r"not UTF-8 at byte 3. Say its encoding."),
        (b"\xff\xfea\0\xd8", None, "not UTF-16-LE at byte 2"),
        (b"abc\0def", None, "NUL at character 3: not a text"),
        ("ab".encode("utf-16-le"), None, "NUL"),
        (b"\xe4", "ascii", "not ASCII"),
        (b" \n\t", None, "holds no words"),
        (b"", None, "holds no words"),
    ],
)
def test_what_is_no_text_is_refused_and_not_guessed(content, encoding, told):
    with pytest.raises(Unreadable, match=told):
        read(content, "text", encoding=encoding)


@pytest.mark.parametrize("name", ["nonsense", "rot13", "hex", "a\0b"])
def test_an_encoding_that_python_lacks_is_refused(name):
    with pytest.raises(Invalid, match="no such encoding") as refused:
        read(b"words", "text", encoding=name)
    assert refused.value.field == "encoding"


def test_an_encoding_that_is_told_is_taken():
    assert read(b"caf\xe9", "text", encoding="latin-1").text == "café"


def test_limits_are_named_before_anything_is_parsed(monkeypatch):
    with pytest.raises(LimitExceeded, match="8,388,608 characters"):
        read(b"a" * (values.TEXT_CHARACTERS + 1), "text")
    monkeypatch.setattr("prism_memory.ingest.reading.choosing.FILE_BYTES", 10)
    for format_ in ("text", "markdown", "html", "pdf", "docx"):
        with pytest.raises(LimitExceeded, match="over 10 bytes"):
            read(b"a" * 11, format_)


def test_the_name_says_the_format():
    assert format_of("a/b.PDF") == "pdf"
    assert format_of("b.tar.md") == "markdown"
    assert format_of("b.exe") is None
    assert format_of(".txt") is None
    with pytest.raises(Invalid, match="one of text, markdown, html, pdf, docx"):
        read(b"x", "rtf")


@pytest.mark.parametrize(
    ("format_", "module"),
    [("html", "selectolax.lexbor"), ("pdf", "pypdf"), ("docx", "mammoth")],
)
def test_a_missing_library_is_named_with_its_extra(monkeypatch, format_, module):
    monkeypatch.setitem(sys.modules, module, None)
    told = r'not installed: pip install "django-prism-memory\[files\]"'
    with pytest.raises(Misconfigured, match=told):
        read(b"words", format_)
