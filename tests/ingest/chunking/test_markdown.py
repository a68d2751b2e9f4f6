"""Where Markdown is cut."""

from __future__ import annotations

from prism_memory.ingest.chunking import MarkdownChunker


def cut(text: str, size: int = 1_200) -> list[tuple[str, tuple[int, int]]]:
    found = MarkdownChunker(size).chunks(text)
    return [(chunk.text, (chunk.line_start, chunk.line_end)) for chunk in found]


def test_each_section_is_a_chunk_with_its_path_of_headings():
    """B291."""
    text = "Before.\n\n# Guide\n\nHello.\n\n## Set up ##\nRun it.\n\nEnd\n===\nBye.\n"
    found = MarkdownChunker().chunks(text)
    assert [(chunk.heading, chunk.text) for chunk in found] == [
        ((), "Before."),
        (("Guide",), "# Guide\n\nHello."),
        (("Guide", "Set up"), "## Set up ##\nRun it."),
        (("End",), "End\n===\nBye."),
    ]
    assert [(chunk.line_start, chunk.line_end) for chunk in found] == [
        *((1, 1), (3, 5), (7, 8), (10, 12))
    ]


def test_fenced_code_that_fits_stays_whole():
    """B291."""
    code = "```py\na = 1\n\n# no heading\n\nb = 2\n```"
    text = f"# A\n\n{'word ' * 8}\n\n{code}\n\nthe last"
    assert cut(text, 45) == [
        (f"# A\n\n{'word ' * 8}", (1, 3)),
        (code, (5, 11)),
        ("the last", (13, 13)),
    ]


def test_a_fence_that_does_not_fit_is_cut_at_its_lines():
    """B291."""
    text = "~~~\n" + "\n".join(f"line {n}" for n in range(6)) + "\n~~~"
    assert [chunk for chunk, _ in cut(text, 20)] == [
        "~~~\nline 0\nline 1",
        "line 2\nline 3\nline 4",
        "line 5\n~~~",
    ]


def test_only_the_same_mark_that_is_as_long_closes_a_fence():
    text = "````\n```\n# a\n~~~~\n````\n# B"
    assert [chunk for chunk, _ in cut(text)] == ["````\n```\n# a\n~~~~\n````", "# B"]


def test_a_fence_that_nothing_closes_goes_on_to_the_end():
    assert [chunk for chunk, _ in cut("# A\n```\n# b\n# c")] == ["# A\n```\n# b\n# c"]


def test_a_long_section_is_cut_at_blank_lines_and_packed():
    """B291."""
    assert cut("aaaa\n\nbbbb\n\n\ncccc\ndddd\n\neeee", 11) == [
        ("aaaa\n\nbbbb", (1, 3)),
        ("cccc\ndddd", (6, 7)),
        ("eeee", (9, 9)),
    ]


def test_line_ends_are_kept_as_they_are():
    assert cut("# A\r\n\r\nx\r\ny\r\n") == [("# A\r\n\r\nx\r\ny", (1, 4))]


def test_what_only_looks_like_a_heading_is_none():
    text = (
        "---\ntitle: x\n---\n\n#no\n\n    # code\n\n- item\n---\n\n"
        "two lines\nof words\n---\n\n| a |\n---\n\n> q\n==="
    )
    assert [chunk.heading for chunk in MarkdownChunker().chunks(text)] == [()]


def test_a_very_long_line_is_cut_at_a_space():
    """case_C21: a line of a million characters."""
    text = "word " * 200_000
    found = MarkdownChunker().chunks(text)
    assert all(len(chunk.text) <= 16_384 for chunk in found)
    assert {chunk.line_start for chunk in found} == {1}
    assert "".join(chunk.text for chunk in found) == text.rstrip() + " "


def test_a_heading_is_a_label_and_not_a_text():
    (chunk,) = MarkdownChunker().chunks(f"# a\t {'b' * 500}\nx")
    assert chunk.heading == ("a " + "b" * 198,)
