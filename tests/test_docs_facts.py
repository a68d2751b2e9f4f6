"""What the page of facts shows runs, and prints what it says."""

from __future__ import annotations

import contextlib
import io
import re
from typing import Any, Final

import pytest

from example_project.embedded import CHECKOUT

PAGE: Final = (CHECKOUT / "docs" / "facts.md").read_text("utf-8")
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
            exec(compile(code, "docs/facts.md", "exec"), names)  # noqa: S102
        assert out.getvalue() == shown, code
