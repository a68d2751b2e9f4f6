"""The page on access: what it shows runs, and what it names is there."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path
from typing import Final

import pytest

from prism_memory.conf import Settings
from prism_memory.types import Authorization, DenialReason

pytestmark = pytest.mark.django_db

PAGE: Final = (Path(__file__).parents[1] / "docs" / "access.md").read_text("utf-8")


def test_the_example_runs() -> None:
    """B212, B217."""
    (example,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    exec(example, {})  # noqa: S102 - our own page


def test_each_field_and_each_reason_is_told_of() -> None:
    told = set(re.findall(r"`(\w+)`", PAGE))
    assert {field.name for field in fields(Authorization)} <= told
    assert {reason.value for reason in DenialReason} <= told
    assert Settings.ON_DENIAL.name in PAGE
