"""What the page of sources shows runs, and prints what it says."""

from __future__ import annotations

import contextlib
import io
import re
from typing import Any, Final

import pytest

from example_project.embedded import CHECKOUT
from prism_memory.ingest.reading import SUFFIXES

PAGE: Final = (CHECKOUT / "docs" / "sources.md").read_text("utf-8")
BLOCKS: Final = re.findall(
    r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?",
    PAGE,
    re.MULTILINE | re.DOTALL,
)
"""Code, and what it prints where that is shown."""


@pytest.mark.django_db
def test_the_examples_print_what_the_page_says() -> None:
    names: dict[str, Any] = {}
    for code, shown in BLOCKS:
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(code, "docs/sources.md", "exec"), names)  # noqa: S102
        assert out.getvalue() == shown, code


def test_the_table_of_formats_is_the_readers() -> None:
    rows = re.findall(r"^\| `(\w+)` \| ((?:`\.\w+`(?:, )?)+) \|", PAGE, re.MULTILINE)
    told = {
        suffix: name for name, names in rows for suffix in re.findall(r"`(.*?)`", names)
    }
    assert told == dict(SUFFIXES)
