"""Files that hang or burst cost themselves, not the run."""

from __future__ import annotations

import pytest

from prism_memory.errors import Invalid
from prism_memory.ingest.reading import BoundedReader, Unreadable, bounded_reader
from tests.ingest.reading.files import docx, styled

SLOW = docx(styled("A sentence of some words.") * 20_000)


def test_a_file_that_takes_too_long_is_given_up_and_the_next_is_read():
    with bounded_reader(seconds=30) as reader:
        assert reader.read("<p>héllo".encode(), "html").text == "héllo"
        with pytest.raises(Unreadable, match="holds no words"):
            reader.read(b"<p>", "html")
        with pytest.raises(Invalid, match="no such encoding"):
            reader.read(b"<p>a", "html", encoding="nonsense")
        process = reader._process
        reader.seconds = 0.2
        with pytest.raises(Unreadable, match=r"over 0\.2 s"):
            reader.read(SLOW, "docx")
        reader.seconds = 30
        assert reader.read(b"<p>next", "html").text == "next"
        assert reader._process is not process
        _kill(reader)
        with pytest.raises(Unreadable, match="broke down"):
            reader.read(b"<p>next", "html")
        assert reader.read(b"<p>next", "html").text == "next"
    assert reader._process is None


def _kill(reader: BoundedReader) -> None:
    assert reader._process is not None
    reader._process.kill()


def test_plain_words_need_no_process():
    with bounded_reader() as reader:
        assert reader.read(b"words", "text").text == "words"
        assert reader._process is None
