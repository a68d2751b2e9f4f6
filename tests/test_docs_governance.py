"""What the page of governance shows runs, and prints what it says."""

from __future__ import annotations

import contextlib
import io
import re
from typing import Any, Final

import pytest

from example_project.embedded import CHECKOUT

PAGE: Final = (CHECKOUT / "docs" / "governance.md").read_text("utf-8")
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
            exec(compile(code, "docs/governance.md", "exec"), names)  # noqa: S102
        assert out.getvalue() == shown, code


def test_every_page_that_is_named_is_there() -> None:
    for name in re.findall(r"\]\(([\w./]+\.md)", PAGE):
        assert (CHECKOUT / "docs" / name).is_file(), name
