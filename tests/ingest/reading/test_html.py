"""HTML to Markdown: what is seen, and nothing else."""

from __future__ import annotations

import pytest

from prism_memory.errors import LimitExceeded
from prism_memory.ingest.reading import Unreadable, read

PAGE = """<!doctype html><title>A
 page</title><nav hidden>menu</nav>
<h1>One <em>and</em> only</h1>
<p>See <a href="https://example.org/x">the site</a>, <a href="javascript:x()">run</a>,
<code>a_b</code>.<br># no heading
<ul><li>first<li>second<ol><li>inner<p>more<li>next</ol><li>third</ul>
<blockquote><p>said</blockquote>
<pre><code>def f():
    return "```"
</code></pre>
<table><caption>Prices</caption><tr><th>What<th>a|b<tr><td>Tea<td><ul><li>1<li>2</ul>
</table>
<table><tr><td><h2>Only placed</h2>left<td>right</table><p>---
"""
MARKDOWN = """# One and only

See [the site](https://example.org/x), run, `a_b`.
\\# no heading

- first
- second
  1. inner
     more
  2. next
- third

> said

````
def f():
    return "```"
````

Prices

| What | a\\|b |
| --- | --- |
| Tea | 1 2 |

## Only placed

left

right

\\---"""


def text_of(html: str) -> str:
    return read(html.encode(), "html").text


def test_headings_lists_code_and_tables_stay_what_they_are():
    found = read(PAGE.encode(), "html")
    assert found.text == MARKDOWN
    assert found.form == "markdown"
    assert found.metadata == {"format": "html", "title": "A page"}


def test_what_a_person_is_not_shown_is_left_out():
    unseen = [
        "<script>x</script>",
        "<style>x</style>",
        "<template><p>x</template>",
        "<noscript>x</noscript>",
        "<p hidden>x</p>",
        "<div aria-hidden=TRUE>x<p>x</p></div>",
        "<span style='color:red;DISPLAY :none'>x</span>",
        "<span style='font-size:0px'>x</span>",
        "<!-- x -->",
        "<svg><text>x</text></svg>",
    ]
    for html in unseen:
        assert text_of(f"<p>a</p>{html}<p>b</p>") == "a\n\nb", html
    assert text_of("<p style='font-size:0.9em'>small</p>") == "small"


def test_deep_nesting_is_refused_and_unclosed_items_are_not():
    """A parser's work on it grows with the square: 8 MB would take hours."""
    with pytest.raises(LimitExceeded, match="deeper than 500"):
        text_of("<div>" * 501 + "words")
    assert text_of("<ul>" + "<li>x" * 1_000).count("- x") == 1_000
    assert text_of("<div>" * 500 + "words") == "words"


@pytest.mark.parametrize(
    ("content", "encoding"),
    [
        (b"<meta charset=iso-8859-1><p>caf\xe9 \x80", None),  # by that, cp1252 is meant
        (b"<?xml version='1.0' encoding='windows-1252'?><p>caf\xe9 \x80", None),
        (b"<meta charset=utf-8><p>caf\xe9 \x80", "cp1252"),
        ("﻿<meta charset=latin1><p>café €".encode(), "ascii"),
        ("﻿<p>café €".encode("utf-16-be"), None),
        ("<meta charset=nonsense><p>café €".encode(), None),
    ],
)
def test_a_page_is_read_by_what_it_says_of_itself(content, encoding):
    assert read(content, "html", encoding=encoding).text == "café €"


def test_a_page_that_is_not_what_it_says_is_refused():
    with pytest.raises(Unreadable, match="not UTF-8 at byte 6"):
        read(b"<p>caf\xe9", "html")
