"""DOCX: read as far as it is sound, refused clearly where it is not."""

from __future__ import annotations

import contextlib
import io
import zipfile

import pytest
from hypothesis import given

from prism_memory.errors import LimitExceeded
from prism_memory.ingest.reading import Unreadable, read
from tests.ingest.reading.files import DAMAGE, docx, styled, word_table

SOUND = docx(styled("Chapter", "Heading1") + styled("words") + word_table(["a"]))

CORE = (
    '<p:coreProperties xmlns:p="urn:p" xmlns:dc="http://purl.org/dc/elements/1.1/">'
    "<dc:title>My &lt;title&gt;</dc:title></p:coreProperties>"
)


def test_headings_and_tables_become_markdown():
    body = (
        styled("Chapter", "Heading1")
        + styled("Fünf &lt;Wörter&gt;")
        + styled("Part", "Heading2")
        + word_table(["a|b", "c"], ["1", "2"])
    )
    found = read(docx(body, more={"docProps/core.xml": CORE}), "docx")
    assert found.text == (
        "# Chapter\n\nFünf <Wörter>\n\n## Part\n\n"
        "| a\\|b | c |\n| --- | --- |\n| 1 | 2 |"
    )
    assert found.metadata == {"format": "docx", "title": "My <title>"}


def test_no_entity_of_the_file_is_followed():
    """Neither a file of this machine nor a billion laughs."""
    entities = [
        '<!DOCTYPE d [<!ENTITY x SYSTEM "file:///etc/hostname">]>',
        '<!DOCTYPE d SYSTEM "http://127.0.0.1:9/x.dtd">',
        '<!DOCTYPE d [<!ENTITY a "aa"><!ENTITY x "&a;&a;">]>',
    ]
    for doctype in entities:
        with pytest.raises(Unreadable, match="document type"):
            read(docx(styled("words"), doctype=doctype), "docx")


def test_what_unpacks_to_too_much_is_refused_unopened(monkeypatch):
    bomb = docx("", more={"word/styles.xml": " " * 40_000_000})
    assert len(bomb) < 100_000
    with pytest.raises(LimitExceeded, match="33,554,432 bytes of XML"):
        read(bomb, "docx")
    many = docx("", more={f"x{n}.xml": "" for n in range(5_000)})
    with pytest.raises(LimitExceeded, match="5,000 parts"):
        read(many, "docx")
    with pytest.raises(LimitExceeded, match="deeper than 200"):
        read(docx("<w:sdt>" * 300 + "</w:sdt>" * 300), "docx")


def test_a_part_that_claims_to_be_small_gives_no_more_than_that():
    honest = docx(styled("words " * 100_000))
    with zipfile.ZipFile(io.BytesIO(honest)) as file:
        size = file.getinfo("word/document.xml").file_size
    at = honest.index(b"PK\x01\x02")  # the directory: sizes stand there
    claimed = honest[at:].replace(size.to_bytes(4, "little"), bytes([64, 0, 0, 0]))
    assert claimed != honest[at:]
    with pytest.raises(Unreadable, match="broken"):
        read(honest[:at] + claimed, "docx")


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "no DOCX"),
        (b"%PDF-1.7", "no DOCX"),
        (bytes.fromhex("d0cf11e0a1b11ae1") + b"\0" * 500, "has a password"),
        (docx(styled("words"))[:-40], "broken"),
        (docx("<w:p>"), "broken"),
        (docx(""), "holds no words"),
    ],
)
def test_a_broken_one_is_refused(content, told):
    with pytest.raises(Unreadable, match=told):
        read(content, "docx")


@given(DAMAGE)
def test_bytes_that_changed_on_the_way_never_surprise(changes):
    """Whatever is damaged: words or a refusal, never another error."""
    damaged = bytearray(SOUND)
    for place, byte in changes:
        damaged[place % len(damaged)] = byte
    with contextlib.suppress(Unreadable, LimitExceeded):
        read(bytes(damaged), "docx")
