"""The page on rerankers says what the code does."""

from __future__ import annotations

import re

import pytest
from django.utils.module_loading import import_string

from example_project.embedded import CHECKOUT
from prism_memory.backends import Reranker
from prism_memory.conf import Settings
from prism_memory.recall.rerank import BUSY, FAILED, LATE, REJECTED, UNAVAILABLE

PAGE = (CHECKOUT / "docs" / "rerankers.md").read_text("utf-8")
BACKENDS = re.findall(r"^\| `(reranker_\w+\.\w+)` \|", PAGE, re.MULTILINE)
IMPORTS = re.findall(r"^from (prism_memory\S+) import (\w+)$", PAGE, re.MULTILINE)
BOUNDS = re.findall(r"^\| `(\w+)` \| ([\d,]+)\D* \| ([\d,]+) \|", PAGE, re.MULTILINE)


@pytest.mark.parametrize("path", BACKENDS)
def test_a_backend_on_the_page_is_one(path: str) -> None:
    assert issubclass(import_string(f"prism_memory.backends.{path}"), Reranker)


@pytest.mark.parametrize(("module", "name"), IMPORTS)
def test_what_is_imported_on_the_page_is_there(module: str, name: str) -> None:
    assert import_string(f"{module}.{name}")


@pytest.mark.parametrize(("name", "default", "cap"), BOUNDS)
def test_the_bounds_on_the_page_are_the_declared_ones(
    name: str, default: str, cap: str
) -> None:
    """B231: 64/256 KiB, 2/10 s, 2/8."""
    setting = getattr(Settings, name)
    stated = tuple(float(value.replace(",", "")) for value in (default, cap))
    assert stated == (setting.default, setting.maximum)


def test_the_page_names_all_there_is() -> None:
    assert len(BACKENDS) == 2
    assert len(IMPORTS) == 4
    assert {name for name, *_ in BOUNDS} == {
        s.name for s in Settings.declared() if s.name.startswith("RERANK_")
    }
    page = " ".join(PAGE.split())
    for reason in (BUSY, LATE, UNAVAILABLE, REJECTED, FAILED):
        assert reason.removeprefix("the reranker ") in page
