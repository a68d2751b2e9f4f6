"""The page of recall names every option; what it and the README show runs."""

# ruff: noqa: ARG002 - backends with the signatures of the contract

from __future__ import annotations

import ast
import contextlib
import io
import os
import re
import sys
from collections.abc import Sequence
from dataclasses import fields
from types import ModuleType
from typing import Any, Final

import pytest

from example_project.embedded import CHECKOUT
from prism_memory.api.recall.inputs import DeepRecallInput, RecallInput
from prism_memory.backends import Grader, QueryTransformer
from prism_memory.recall.engine import RERANKED_AT_LEAST
from prism_memory.recall.question import Question
from prism_memory.types import (
    TRUST_OPTIONS,
    DeepRecalled,
    Explanation,
    Grade,
    Hit,
    Item,
    Options,
    Recalled,
    Scoring,
)
from tests.rerankers import OVERLAP

PAGE: Final = (CHECKOUT / "docs" / "recall.md").read_text("utf-8")
README: Final = (CHECKOUT / "README.md").read_text("utf-8")
BLOCKS: Final = re.findall(
    r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?",
    PAGE,
    re.MULTILINE | re.DOTALL,
)
"""Code, and what it prints where that is shown."""

CONFIGURED: Final = {
    "EMBEDDERS": {
        "default": {"BACKEND": "prism_memory.backends.minilm.MiniLMEmbedder"}
    },
    "RERANKERS": {"cross": {"BACKEND": OVERLAP}},
    "TRANSFORMERS": {
        "small": {"BACKEND": "tests.test_docs_recall.Words"},
        "house": {"BACKEND": "docs_recall_page.Thesaurus"},
    },
    "GRADERS": {
        "small": {"BACKEND": "tests.test_docs_recall.Content"},
        "house": {"BACKEND": "docs_recall_page.WantsTheTown"},
    },
    "GRADER": "small",
}


class Words(QueryTransformer):
    """Stands for the chat model of the page."""

    def __init__(self) -> None:
        super().__init__(provider="tests", model="words")

    def variants(self, query: str, n: int, *, timeout_seconds: float) -> Sequence[str]:
        return [f"{query} ({place})" for place in range(n)]

    def passage(self, query: str, *, timeout_seconds: float) -> str:
        return "I moved to Lisbon."


class Content(Grader):
    """Finds every answer good."""

    def __init__(self) -> None:
        super().__init__(provider="tests", model="content")

    def grade(
        self, question: str, passages: Sequence[str], *, timeout_seconds: float
    ) -> Grade:
        return Grade(sufficient=True)


def rows(page: str) -> list[tuple[set[str], str]]:
    """Return the rows of the tables: the names in the first cell, and the rest."""
    found = re.findall(r"^\| (`[^|]*`) \| (.*) \|$", page, re.MULTILINE)
    return [({*re.findall(r"`(\w+)`", cell)}, rest) for cell, rest in found]


def section(title: str) -> str:
    return re.split(r"^#+ ", PAGE.partition(f" {title}\n")[2], flags=re.MULTILINE)[0]


def options_used() -> set[str]:
    """Return the options that the code gives to a recall."""
    calls = (
        node
        for code, _ in BLOCKS
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    )
    return {
        str(keyword.arg)
        for call in calls
        if isinstance(call.func, ast.Attribute) and call.func.attr == "recall"
        for keyword in call.keywords
    }


@pytest.mark.parametrize("option", Options.__annotations__)
def test_every_option_has_a_row_and_an_example(option: str) -> None:
    told = [rest for names, rest in rows(PAGE) if names == {option}]

    assert len(told) == 1
    assert told[0].endswith(". Trust") == (option in TRUST_OPTIONS)
    assert option in options_used()


def test_no_option_is_told_of_that_is_none() -> None:
    titles = (
        "What may be found",
        "How it is ranked",
        "What comes back, and how long it may take",
    )
    told = {
        name for title in titles for names, _ in rows(section(title)) for name in names
    }

    assert told == {*Options.__annotations__}


@pytest.mark.parametrize(
    ("title", "answer", "base"),
    [
        ("What comes back", Recalled, {"hits"}),
        ("What comes back", Hit, {field.name for field in fields(Item)}),
        ("Why a hit is there", Explanation, set()),
        ("Deep recall", DeepRecalled, set()),
    ],
)
def test_every_field_of_an_answer_is_told_of(
    title: str, answer: Any, base: set[str]
) -> None:
    told = {name for names, _ in rows(section(title)) for name in names}

    assert told >= {field.name for field in fields(answer)} - base


def test_the_page_tells_how_many_candidates_each_leg_lists() -> None:
    row = re.compile(r"^\| (\d+) to (\d+) \| (\d+) \| (\d+) \|$", re.MULTILINE)
    told = [tuple(map(int, cells)) for cells in row.findall(PAGE)]

    assert [k for a, b, _, _ in told for k in range(a, b + 1)] == [*range(1, 33)]
    for first, last, plain, reordered in told:
        for k in range(first, last + 1):
            assert Question("?", k).candidate_rows == plain
            for asked in (
                Question("?", k, decay_days=1),
                Question("?", k, diversity=0.5),
                Question("?", k, scoring=Scoring(importance_weight=0.1)),
            ):
                assert asked.candidate_rows == reordered
    assert f"With a reranker they are {RERANKED_AT_LEAST} at least." in PAGE


def test_what_may_not_be_null_over_http_is_listed() -> None:
    page = (CHECKOUT / "docs" / "rest.md").read_text("utf-8")
    listed = page.partition("cannot be null here:")[2].partition("and what stands")[0]

    fields_of = {**RecallInput().fields, **DeepRecallInput().fields}
    refused = {name for name, field in fields_of.items() if not field.allow_null}
    assert {*re.findall(r"`(\w+)`", listed)} == refused


@pytest.mark.django_db(transaction=True)
def test_the_page_runs_and_prints_what_it_shows(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.PRISM_MEMORY = CONFIGURED
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    page = ModuleType("docs_recall_page")  # where the settings find its classes
    monkeypatch.setitem(sys.modules, page.__name__, page)
    names = vars(page)
    names["os"] = os
    compared = 0

    for code, shown in BLOCKS:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, "docs/recall.md", "exec"), names)  # noqa: S102 - ours
        if shown or printed.getvalue():
            assert printed.getvalue() == shown
            compared += 1

    assert compared == PAGE.count("```text")


@pytest.mark.django_db(transaction=True)
def test_the_tour_of_the_readme_finds_what_it_remembered(settings: Any) -> None:
    settings.PRISM_MEMORY = CONFIGURED
    names: dict[str, Any] = {}

    for code in re.findall(
        r"^```python\n(.*?)^```\n", README, re.MULTILINE | re.DOTALL
    ):
        if re.search(r"memory\.(remember|recall)\(", code):
            exec(compile(code, "README.md", "exec"), names)  # noqa: S102 - ours

    assert [hit.text for hit in names["found"]] == ["I moved to Porto in May."]
    assert len(names["found"].explanations) == 1
