"""Domain errors as HTTP."""

from __future__ import annotations

import inspect
import json
from typing import Any

import pytest
from django.core.exceptions import RequestDataTooBig
from django.db import InterfaceError, OperationalError, connection, transaction
from django.test import Client
from rest_framework import exceptions
from rest_framework.response import Response

from prism_memory import errors
from prism_memory.api.errors import REFUSALS, STATUS, answer_error, first_message
from prism_memory.api.rendering import CompactJSONRenderer
from prism_memory.memory import Memory
from tests.api.conftest import Caller, refused

DOMAIN = [
    item
    for _, item in inspect.getmembers(errors, inspect.isclass)
    if issubclass(item, errors.PrismMemoryError) and item is not errors.PrismMemoryError
]


def answered(error: Exception) -> Response:
    response = answer_error(error, {})
    assert response is not None
    assert response.content_type == "application/problem+json"
    assert response.data["status"] == response.status_code
    return response


def test_every_domain_error_has_one_status() -> None:
    """B498."""
    assert set(STATUS) == set(DOMAIN)


@pytest.mark.parametrize(
    ("code", "statuses"),
    [
        ("validation", {400}),
        ("scope", {403}),
        ("permission", {403}),
        ("not_visible", {404}),
        ("conflict", {409}),
        ("fact_key_in_use", {409}),
        ("not_accepted", {409}),
        ("still_flagged", {409}),
        ("limit", {413, 422}),
        ("aborted", {408}),
        ("deadline", {504}),
        ("unsupported", {501}),
        ("misconfigured", {503}),
        ("embedder_mismatch", {503}),
        ("provider_unavailable", {503}),
        ("provider_rejected", {502}),
    ],
)
def test_the_table_of_statuses(code: str, statuses: set[int]) -> None:
    """B498."""
    (kind,) = [kind for kind in DOMAIN if kind.code == code]

    assert answered(kind("why", field="f")).status_code in statuses


def test_an_error_that_a_host_derives_has_its_parents_status() -> None:
    class Busy(errors.Conflict):
        """Another writer is at it."""

        code = "busy"

    response = answered(Busy())

    assert (response.status_code, response.data["type"]) == (
        409,
        "urn:prism-memory:error:busy",
    )


def test_a_deadline_of_the_callers_own_calls_no_operator(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("INFO", "prism_memory.api.errors")
    assert answered(errors.DeadlineExceeded()).status_code == 504
    assert [record.levelname for record in caplog.records] == ["INFO"]


def test_a_fault_of_the_server_keeps_its_words_for_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    response = answered(errors.Misconfigured("secret for operators", field="EMBEDDER"))

    assert "secret" not in json.dumps(response.data)
    assert "EMBEDDER" not in json.dumps(response.data)
    assert "secret for operators" in caplog.text


def test_an_unsupported_wish_names_its_field() -> None:
    response = answered(errors.Unsupported("wait=True cannot embed.", field="wait"))

    assert (response.status_code, response.data["field"]) == (501, "wait")


QUOTING = [
    exceptions.ParseError("xyzzy"),
    exceptions.AuthenticationFailed("xyzzy"),
    exceptions.NotAuthenticated("xyzzy"),
    exceptions.PermissionDenied("xyzzy"),
    exceptions.NotFound("xyzzy"),
    exceptions.MethodNotAllowed("xyzzy"),
    exceptions.NotAcceptable("xyzzy"),
    exceptions.UnsupportedMediaType("xyzzy"),
    exceptions.Throttled(9, "xyzzy"),
    exceptions.APIException("xyzzy"),
    RequestDataTooBig("xyzzy"),
    OperationalError("xyzzy"),
    InterfaceError("xyzzy"),
]
OURS = {RequestDataTooBig: 413, OperationalError: 503, InterfaceError: 503}


@pytest.mark.parametrize("error", QUOTING, ids=lambda error: type(error).__name__)
def test_what_rest_framework_refuses_takes_our_shape_and_words(error: Any) -> None:
    """B498."""
    response = answered(error)

    assert "xyzzy" not in json.dumps(response.data)
    assert response.status_code == OURS.get(type(error)) or error.status_code


def test_the_refusals_are_all_tried() -> None:
    assert set(REFUSALS) <= {type(error) for error in QUOTING}


@pytest.mark.django_db
def test_a_statement_out_of_time_is_a_503_that_may_be_tried_again(
    alice: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As are a deadlock and a failure to serialize: psycopg files them alike."""

    def slow(*args: Any, **kwargs: Any) -> None:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET LOCAL statement_timeout = 20")
            cursor.execute("SELECT pg_sleep(20)")

    monkeypatch.setattr(Memory, "list", slow)

    answer = alice.get("memories")

    refused(answer, 503, "database")
    assert answer.headers["Retry-After"] == "1"


@pytest.mark.django_db
def test_a_database_that_is_gone_is_a_503(
    alice: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Already where the key is looked up."""
    monkeypatch.setattr("prism_memory.api.auth.authenticate", gone)

    refused(alice.get("memories"), 503, "database")


def gone(**_: object) -> None:
    message = "connection to server at 10.0.0.7 failed"
    raise OperationalError(message)


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "DELETE", "OPTIONS"])
@pytest.mark.parametrize("path", ["", "memory", "memories/", "recall/", "a/b/c"])
def test_a_path_that_is_no_route_is_our_404(path: str, method: str) -> None:
    answer = Client().generic(method, f"/api/v1/{path}")

    assert answer.status_code == 404
    assert answer.headers["Content-Type"] == "application/problem+json"
    if method != "HEAD":
        refused(answer, 404, "route")


def test_any_other_error_propagates() -> None:
    assert answer_error(RuntimeError(), {}) is None


@pytest.mark.parametrize(
    ("detail", "place"),
    [
        ({"entries": [{}, {"text": ["Why."]}]}, ("entries[1].text", "Why.")),
        ({"ids": {3: ["Why."]}}, ("ids[3]", "Why.")),
        ({"non_field_errors": ["Why."]}, ("", "Why.")),
        ({"a": {"non_field_errors": ["Why."]}}, ("a", "Why.")),
        (["Why.", "Not me."], ("", "Why.")),
        ({}, ("", "The request is not acceptable.")),
    ],
)
def test_the_place_of_the_first_error(detail: Any, place: tuple[str, str]) -> None:
    assert first_message(detail) == place


def test_what_json_lacks_is_never_rendered() -> None:
    with pytest.raises(ValueError, match="JSON"):
        CompactJSONRenderer().render({"score": float("nan")})
