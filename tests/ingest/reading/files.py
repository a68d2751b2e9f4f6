"""Small files of each format, made by hand."""

from __future__ import annotations

import io
import zipfile

import pypdf
from hypothesis import strategies as st

TYPES = (
    '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Override PartName="/word/document.xml" ContentType="application/vnd.'
    'openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>'
)
RELATIONS = (
    "<Relationships"
    ' xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    '<Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/'
    '2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>'
)
DAMAGE = st.lists(
    st.tuples(st.integers(0, 2**16), st.integers(0, 255)), min_size=1, max_size=6
)
"""Places and the bytes that stand there instead."""

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def styled(words: str, style: str = "Normal") -> str:
    return (
        f'<w:p><w:pPr><w:pStyle w:val="{style}"/></w:pPr>'
        f'<w:r><w:t xml:space="preserve">{words}</w:t></w:r></w:p>'
    )


def word_table(*rows: list[str]) -> str:
    lines = ("".join(f"<w:tc>{styled(cell)}</w:tc>" for cell in row) for row in rows)
    return f"<w:tbl>{''.join(f'<w:tr>{line}</w:tr>' for line in lines)}</w:tbl>"


def docx(body: str, *, doctype: str = "", more: dict[str, str] | None = None) -> bytes:
    """A Word document of these paragraphs."""
    document = (
        f'{doctype}<w:document xmlns:w="{WORD}"><w:body>{body}</w:body></w:document>'
    )
    parts = {
        "[Content_Types].xml": TYPES,
        "_rels/.rels": RELATIONS,
        "word/document.xml": document,
        **(more or {}),
    }
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as file:
        for name, xml in parts.items():
            file.writestr(name, xml)
    return packed.getvalue()


def pdf(*pages: str, title: str = "", password: str | None = None) -> bytes:
    """A PDF with these words on its pages; an empty page has no words."""
    writer = pypdf.PdfWriter()
    for words in pages:
        page = writer.add_blank_page(300, 300)
        if words:
            _say(writer, page, words)
    if title:
        writer.add_metadata({"/Title": title})
    if password is not None:
        writer.encrypt(password, "owner", algorithm="RC4-128")
    written = io.BytesIO()
    writer.write(written)
    return written.getvalue()


def _say(writer: pypdf.PdfWriter, page: pypdf.PageObject, words: str) -> None:
    name, dictionary = pypdf.generic.NameObject, pypdf.generic.DictionaryObject
    font = dictionary(
        {
            name("/Type"): name("/Font"),
            name("/Subtype"): name("/Type1"),
            name("/BaseFont"): name("/Helvetica"),
        }
    )
    fonts = dictionary({name("/F1"): writer._add_object(font)})
    page[name("/Resources")] = dictionary({name("/Font"): fonts})
    lines = " T* ".join(f"({line}) Tj" for line in words.split("\n"))
    content = pypdf.generic.DecodedStreamObject()
    content.set_data(f"BT /F1 12 Tf 14 TL 20 250 Td {lines} ET".encode())
    page[name("/Contents")] = writer._add_object(content)
