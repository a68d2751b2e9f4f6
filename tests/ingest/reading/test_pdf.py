"""PDF: pages of words, or a refusal."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given

from prism_memory.errors import LimitExceeded
from prism_memory.ingest.reading import Unreadable, read
from prism_memory.ingest.reading import pdf as reading
from tests.ingest.reading.files import DAMAGE, pdf

SOUND = pdf("Words of a page", "and another", title="Title")


def test_each_page_with_words_is_a_section():
    found = read(pdf("First\n# line", "", "Third", title="A  report"), "pdf")
    assert found.text == "## Page 1\n\nFirst\n\\# line\n\n## Page 3\n\nThird"
    assert found.form == "markdown"
    assert found.metadata == {"format": "pdf", "pages": 3, "title": "A report"}


def test_a_password_is_asked_for_and_an_owners_alone_is_not():
    with pytest.raises(Unreadable, match="has a password"):
        read(pdf("secret", password="word"), "pdf")
    assert "open" in read(pdf("open", password=""), "pdf").text


def test_a_scan_and_a_broken_file_are_refused():
    with pytest.raises(Unreadable, match="none of its 2 pages holds words"):
        read(pdf("", ""), "pdf")
    for content in (b"", b"PK\x03\x04", b"%PDF-1.7\n", pdf("words")[:300]):
        with pytest.raises(Unreadable, match="broken, or no PDF"):
            read(content, "pdf")


def test_too_many_pages_or_words_are_refused(monkeypatch):
    monkeypatch.setattr(reading, "PAGES", 2)
    with pytest.raises(LimitExceeded, match="over 2 pages"):
        read(pdf("a", "b", "c"), "pdf")
    monkeypatch.setattr(reading, "TEXT_CHARACTERS", 30)
    with pytest.raises(LimitExceeded, match="over 30 characters"):
        read(pdf("many words", "and more"), "pdf")


@given(DAMAGE)
def test_bytes_that_changed_on_the_way_never_surprise(changes):
    """Whatever is damaged: words or a refusal, never another error."""
    damaged = bytearray(SOUND)
    for place, byte in changes:
        damaged[place % len(damaged)] = byte
    with contextlib.suppress(Unreadable, LimitExceeded):
        read(bytes(damaged), "pdf")
