"""The OpenAPI document, and its pages."""

from __future__ import annotations

import io
import re
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest
import yaml
from django.contrib.staticfiles import finders
from django.core.management import call_command
from django.test import Client

from example_project.embedded import CHECKOUT
from prism_memory.api.openapi import document
from tests.api.conftest import Caller, refused
from tests.api.test_memories import FULL

FACT_VERBS = (
    *("supersede", "retract", "accept", "validate", "quarantine"),
    *("forget", "purge", "archive", "unarchive"),
)
GENERATE = {
    "urlconf": "prism_memory.api.urls",
    "generator_class": "prism_memory.api.openapi.Generator",
    "validate": True,
    "fail_on_warn": True,
}


def test_the_committed_document_is_the_present_one() -> None:
    """After a change, ``make docs`` writes it anew."""
    out = io.StringIO()
    call_command("spectacular", stdout=out, **GENERATE)

    written = (CHECKOUT / "docs" / "openapi.yaml").read_text()
    assert yaml.safe_load(out.getvalue()) == yaml.safe_load(written)


def test_a_hosts_whole_document_has_no_warning() -> None:
    out = io.StringIO()

    call_command("spectacular", validate=True, fail_on_warn=True, stdout=out)

    assert "/api/v1/recall" in yaml.safe_load(out.getvalue())["paths"]


OPERATIONS = [
    pytest.param(path, operation, id=operation["operationId"])
    for path, methods in document("/api/v1")["paths"].items()
    for operation in methods.values()
]


@pytest.mark.parametrize(("path", "operation"), OPERATIONS)
def test_every_operation_is_described(path: str, operation: dict[str, Any]) -> None:
    assert operation["summary"].endswith(".")
    answers = operation["responses"]
    good = [status for status in answers if status < "300"]
    stood = operation["operationId"] in {"place_hold", "remember_fact"}
    assert len(good) == 1 or stood
    for status, answer in answers.items():
        assert answer["description"]
        assert status == "204" or answer["content"], answer
    if path.startswith("/health"):
        assert operation["security"] == [{}]
        return
    assert operation["security"] == [{"accessKey": []}]
    assert {"400", "401", "403", "422", "429", "503"} <= answers.keys()
    headers = {
        item["name"] for item in operation["parameters"] if item["in"] == "header"
    }
    assert headers == {"Prism-Owner", "Prism-Agent", "Prism-Thread"}
    names_others = path in {"/memories", "/shares", "/exports", "/holds"}
    names_others |= path in {"/facts", "/facts/remember"}
    names_others |= path in {"/retention/preview", "/retention/runs"}
    names_others |= path.startswith("/source")
    assert ("_id}" in path) == ("404" in answers) or names_others


def test_no_input_takes_more_than_it_names() -> None:
    for name, schema in document("")["components"]["schemas"].items():
        if name.endswith("Input"):
            assert schema["additionalProperties"] is False


def validator(name: str) -> jsonschema.Draft4Validator:
    found = document("/api/v1")

    def plain(value: Any) -> Any:
        """OpenAPI 3.0 says nullable where JSON schema has null among the types."""
        if isinstance(value, list):
            return [plain(item) for item in value]
        if not isinstance(value, dict):
            return value
        read = {key: plain(item) for key, item in value.items() if key != "nullable"}
        return {"anyOf": [{"type": "null"}, read]} if value.get("nullable") else read

    root = plain(found["components"])
    return jsonschema.Draft4Validator(
        {"$ref": f"#/components/schemas/{name}", "components": root}
    )


@pytest.mark.django_db
def test_what_is_sent_and_answered_fits_the_document(alice: Caller) -> None:
    validator("RememberOneInput").validate(FULL)
    remembered = alice.post("memories", FULL | {"wait": True}).json()
    validator("RememberedOutput").validate(remembered)
    memory_id = remembered["accepted"][0]
    question = {"query": "Porto", "kinds": ["turn"], "top_k": 3, "filter": {"n": 1}}
    validator("RecallInput").validate(question)
    recalled = alice.post("recall", question).json()
    assert recalled["hits"]
    validator("RecalledOutput").validate(recalled)
    for path, name in (
        (f"memories/{memory_id}", "MemoryOutput"),
        ("memories", "MemoryPageOutput"),
        ("shares", "SharePageOutput"),
        ("memories/export", "ExportPageOutput"),
        ("pending", "PendingOutput"),
        ("limits", "LimitsOutput"),
        ("health/live", "LiveOutput"),
        ("health/ready", "ReadyOutput"),
        ("memories/x", "ProblemOutput"),
    ):
        validator(name).validate(alice.get(path).json())


def test_the_document_is_served_for_where_it_is_mounted() -> None:
    found = Client().get("/api/v1/schema")

    assert found.headers["Content-Type"] == "application/json"
    assert found.json()["servers"] == [{"url": "/api/v1"}]
    assert set(found.json()["paths"]) == {
        "/memories",
        "/memories/export",
        "/memories/forget",
        "/memories/forget-thread",
        "/memories/release-forgotten",
        "/memories/{memory_id}",
        "/memories/{memory_id}/consent",
        "/memories/{memory_id}/correction",
        "/memories/{memory_id}/quarantine",
        "/memories/{memory_id}/validate",
        "/recall",
        "/recall/deep",
        "/facts",
        "/facts/remember",
        "/facts/timeline",
        "/facts/{fact_id}",
        "/facts/{fact_id}/history",
        *(f"/facts/{{fact_id}}/{verb}" for verb in FACT_VERBS),
        "/conflicts",
        "/conflicts/{conflict_id}/settle",
        "/entities",
        "/entities/{entity_id}",
        "/entities/{entity_id}/merge",
        "/entities/{entity_id}/unmerge",
        "/reviews",
        "/reviews/{review_id}/decide",
        "/holds",
        "/holds/{hold_id}",
        "/tombstones",
        "/generations",
        "/sources",
        "/source",
        *(f"/source/{verb}" for verb in ("status", "chunks", "retire", "restore")),
        "/shares",
        "/retention/policies",
        "/retention/policies/{policy_id}",
        "/retention/preview",
        "/retention/runs",
        "/audit",
        "/erasures",
        "/erasures/preview",
        "/erasures/{erasure_id}",
        "/exports",
        "/exports/{export_id}",
        "/exports/{export_id}/manifest",
        "/exports/{export_id}/parts/{part}",
        "/pending",
        "/pending/failed",
        "/pending/retry",
        "/runs",
        "/runs/{run_id}",
        "/runs/{run_id}/cancel",
        "/runs/{run_id}/retry",
        "/limits",
        "/metrics",
        "/health/live",
        "/health/ready",
    }


@pytest.mark.parametrize("page", ["docs", "redoc"])
def test_a_page_whose_parts_are_not_installed_says_so(
    page: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("prism_memory.api.docs.views.PARTS", ("one", "another"))

    answer = Client().get(f"/api/v1/{page}")

    refused(answer, 501, "unsupported")
    assert "one and another in INSTALLED_APPS" in answer.json()["detail"]


@pytest.mark.parametrize("page", ["docs", "redoc"])
def test_a_page_loads_nothing_from_elsewhere(page: str) -> None:
    text = Client().get(f"/api/v1/{page}").content.decode()

    loaded = re.findall(r"(?:src|href|spec-url)=\"([^\"]+)\"", text)
    assert loaded
    assert not [url for url in loaded if re.match(r"(?:[a-z]+:)?//", url)]
    for url in loaded:
        if url.startswith("/static/"):
            assert finders.find(url.removeprefix("/static/")), url
    assert '"schema"' in text
