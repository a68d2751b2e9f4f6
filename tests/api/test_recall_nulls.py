"""Null over HTTP is None in Python: it takes a default of the search back."""

from __future__ import annotations

from types import NoneType
from typing import Any, get_args, get_type_hints

import pytest
from django.test import override_settings

from prism_memory.api.recall.inputs import DeepRecallInput, RecallInput
from prism_memory.types import (
    TRUST_OPTIONS,
    Options,
    Origin,
    Permission,
    Scoring,
    Trust,
)
from tests.api.conftest import ALICE, Caller, make_token, refused
from tests.api.test_openapi import validator
from tests.factories import make_memory
from tests.recall.providers import CONFIGURED

pytestmark = pytest.mark.django_db

NULLABLE = {
    name
    for name, kind in get_type_hints(Options).items()
    if NoneType in get_args(kind) and name in RecallInput().fields
}

COUNTED = {"top_k", "max_iterations", "threshold"}
"""May be None in Python, and are no options: they have no default of a search."""

USUAL: dict[str, Any] = {
    "kinds": ["note"],
    "tiers": ["semantic"],
    "namespaces": ["elsewhere"],
    "tags": ["x"],
    "partition": "p",
    "filter": {"n": 1},
    "ids": [],
    "as_of": "2001-01-01T00:00:00Z",
    "known_at": "2001-01-01T00:00:00Z",
    "weights": {"text": 0, "vector": 0.1},
    "rrf_k": 1,
    "blend": 0.9,
    "candidates": 1,
    "max_bytes": 1,
    "max_tokens": 1,
    "context": False,
    "scoring": {"importance_weight": 1},
    "decay_days": 1,
    "reranker": "opinion",
    "diversity": 0,
    "multi_query": 2,
    "transformer": "words",
    "message_range": 1,
    "deadline_seconds": 1e-9,
}
"""A value of each that may be a default."""

RECALL_ALONE = {"message_range", "max_bytes", "max_tokens"}
"""Options that deep recall does not take."""

FROM = "2010-01-01T00:00:00Z"

NARROW = {
    *("kinds", "tiers", "namespaces", "tags", "partition", "filter", "ids"),
    *("as_of", "known_at"),
}
"""Of these, the value leaves nothing to find."""


def test_there_is_a_value_of_every_option_that_may_be_null() -> None:
    assert set(USUAL) == NULLABLE - TRUST_OPTIONS


@pytest.mark.parametrize("form", [RecallInput, DeepRecallInput])
def test_what_may_be_none_in_python_may_be_null_and_nothing_else(form: Any) -> None:
    fields = form().fields

    nullable = {name for name, field in fields.items() if field.allow_null}

    assert nullable == (NULLABLE | COUNTED) & set(fields)
    assert {"legs", "fusion", "hyde", "trust_weighting"} < set(fields) - nullable


@pytest.mark.parametrize("path", ["recall", "recall/deep"])
def test_null_takes_a_default_of_the_search_back(alice: Caller, path: str) -> None:
    """B369: each; it was there if it hid what else is found."""
    for text in ("tea of May", "green tea", "Is it cold?", "tea, and then more tea"):
        alice.remember(text, importance=0.1, valid_from=FROM, wait=True)
    asked = {"query": "tea", "top_k": 3}

    def hits(**given: Any) -> list[tuple[str, float]]:
        answer = alice.post(path, {**asked, **given})
        assert answer.status_code == 200, answer.content
        return [(hit["id"], hit["score"]) for hit in answer.json()["hits"]]

    with override_settings(PRISM_MEMORY=CONFIGURED):
        plain = hits()
    assert len(plain) == 3
    for name in sorted({*USUAL} - (RECALL_ALONE if path == "recall/deep" else set())):
        usual = {**CONFIGURED, "SEARCH_DEFAULTS": in_python(name)}
        with override_settings(PRISM_MEMORY=usual):
            assert name not in NARROW or hits() == [], name
            assert hits(**{name: None}) == plain, name


def in_python(name: str) -> dict[str, Any]:
    """Return a default as a host writes it, from what a caller sends."""
    form = RecallInput(data={"query": "tea", name: USUAL[name]})
    with override_settings(PRISM_MEMORY=CONFIGURED):
        form.is_valid(raise_exception=True)
    value = form.validated_data[name]
    return {name: Scoring(**value) if name == "scoring" else value}


def test_the_document_takes_null_too() -> None:
    question = {"query": "tea", **dict.fromkeys(NULLABLE | {"top_k"})}

    validator("RecallInput").validate(question)
    for name in RECALL_ALONE:
        del question[name]
    question |= dict.fromkeys(COUNTED)
    validator("DeepRecallInput").validate(question)


def test_all_of_them_null_is_a_plain_question(alice: Caller) -> None:
    alice.remember("tea", wait=True)

    nulls = dict.fromkeys(NULLABLE | {"top_k"})
    assert alice.recalls("tea", **nulls) == ["tea"]
    nulls = dict.fromkeys((NULLABLE | COUNTED) - RECALL_ALONE)
    (hit,) = alice.post("recall/deep", {"query": "tea", **nulls}).json()["hits"]
    assert hit["text"] == "tea"


@pytest.mark.parametrize("path", ["recall", "recall/deep"])
def test_only_a_governor_puts_strangers_words_level_with_the_users(
    alice: Caller, path: str
) -> None:
    """B371: the discount is loosened by name, and by whom the operator lets."""
    make_memory(ALICE).remember("tea of a tool", origin=Origin(Trust.TOOL, "search"))
    wish = {"query": "tea", "trust_weighting": False}

    def factor(caller: Caller, **given: Any) -> Any:
        (hit,) = caller.post(path, {"query": "tea", **given}).json()["hits"]
        return hit["signals"].get("trust", 1.0)

    for more in ((), (Permission.WRITE,)):
        agent = Caller(make_token(ALICE, (Permission.READ, *more)))
        refused(agent.post(path, wish), 403, "permission", "trust_weighting")
        assert factor(agent) == factor(agent, trust_weighting=True) == 0.8
    assert factor(alice, trust_weighting=False) == 1.0
