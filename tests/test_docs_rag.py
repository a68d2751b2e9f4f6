"""The page of RAG: what it shows runs, and names every argument and field."""

from __future__ import annotations

import contextlib
import inspect
import io
import re
from dataclasses import fields
from typing import Any, Final

import pytest

from example_project.embedded import CHECKOUT
from prism_memory.conf import Settings
from prism_memory.rag import DocumentStore
from prism_memory.rag.asking import RRF_K_AT_MOST, SCOPES_AT_MOST
from prism_memory.rag.searching import Wishes
from prism_memory.types import Passage, PassageProvenance, Retrieved, TrustLabels

PAGE: Final = (CHECKOUT / "docs" / "rag.md").read_text("utf-8")
BLOCKS: Final = re.findall(
    r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", PAGE, re.M | re.S
)
"""Code, and what it prints where that is shown."""


@pytest.mark.django_db
def test_the_page_runs_and_prints_what_it_shows() -> None:
    names: dict[str, Any] = {}
    for code, shown in BLOCKS:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, "docs/rag.md", "exec"), names)  # noqa: S102 - ours
        assert printed.getvalue() == shown
    assert sum(bool(shown) for _, shown in BLOCKS) == PAGE.count("```text")


def named(table: str) -> set[str]:
    cells = re.findall(r"^\| ([^|]*) \|", table, re.MULTILINE)
    return {*re.findall(r"`(\w+)(?:\([^`]*\))?`", "\n".join(cells))}


def section(title: str) -> str:
    return PAGE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def test_every_argument_and_option_is_told_of() -> None:
    assert named(PAGE.partition("## Write")[0]) == {
        *inspect.signature(DocumentStore).parameters
    }
    assert named(section("Ask")) >= {*Wishes.__annotations__}


def test_every_method_is_told_of() -> None:
    methods = {
        name
        for name, method in inspect.getmembers(DocumentStore, inspect.isfunction)
        if not name.startswith("_") and not inspect.iscoroutinefunction(method)
    }
    assert {name for name in methods if f"`{name}" in PAGE or f".{name}(" in PAGE} == (
        methods
    )


@pytest.mark.parametrize("value", [Passage, PassageProvenance, Retrieved, TrustLabels])
def test_every_field_of_a_passage_is_told_of(value: Any) -> None:
    told = {*re.findall(r"`(\w+)`", section("Ask"))}
    places = {"line_start", "line_end", "offset_start", "offset_end"}
    assert told >= {field.name for field in fields(value)} - places - {"passages"}


def test_the_caps_are_those_of_the_code() -> None:
    rows = re.findall(r"^\| `(\w+)` \| ([^|]*) \| ([\d,]+) \|", section("Ask"), re.M)
    told = {name: (usual, int(cap.replace(",", ""))) for name, usual, cap in rows}
    settings = {
        "top_k": Settings.TOP_K,
        "candidates": Settings.CANDIDATES,
        "max_bytes": Settings.RESULT_BYTES,
        "max_tokens": Settings.CONTEXT_TOKENS,
    }
    assert told.pop("rrf_k") == ("60", RRF_K_AT_MOST)
    assert told.pop("scopes")[1] == SCOPES_AT_MOST
    assert told == {
        name: (f"{one.default:,}", one.maximum) for name, one in settings.items()
    }
