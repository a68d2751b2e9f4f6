"""What an installation tells of itself."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import OperationalError
from django.test import Client, override_settings

from prism_memory.api.health import readiness
from prism_memory.conf import Settings
from prism_memory.db import queries
from tests.api.conftest import Caller


@pytest.mark.django_db
@override_settings(PRISM_MEMORY={"TOP_K": 7}, DATA_UPLOAD_MAX_MEMORY_SIZE=12_345)
def test_limits_tell_the_value_in_force_and_the_hard_cap(alice: Caller) -> None:
    """B499, B30."""
    found = alice.get("limits").json()

    limits = {limit["name"]: limit for limit in found["limits"]}
    declared = {s.name.lower(): s for s in Settings.declared() if s.limit}
    assert limits.keys() == declared.keys()
    for name, limit in limits.items():
        assert limit["hard_cap"] == declared[name].maximum
    assert (limits["top_k"]["value"], limits["top_k"]["minimum"]) == (7, 0)
    assert found["body_bytes"] == 12_345


@pytest.mark.django_db
def test_caps_of_the_api_are_the_hard_caps(alice: Caller) -> None:
    """B499: a page of a list as well as the hits of a recall."""
    limits = {limit["name"]: limit for limit in alice.get("limits").json()["limits"]}
    rows, hits = limits["list_rows"]["hard_cap"], limits["top_k"]["hard_cap"]

    assert alice.get("memories", f"?limit={rows}").status_code == 200
    assert alice.get("memories", f"?limit={rows + 1}").status_code == 422
    for top_k, status in ((hits, 200), (hits + 1, 422)):
        body = {"query": "a", "top_k": top_k}
        assert alice.post("recall", body).status_code == status


def ready() -> tuple[int, dict[str, bool], str]:
    answer = Client().get("/api/v1/health/ready")
    found = {check["name"]: check["ready"] for check in answer.json()["checks"]}
    assert answer.json()["ready"] is all(found.values())
    return answer.status_code, found, answer.content.decode()


ALL = {"database": True, "extension": True, "migrations": True, "embedder": True}


def test_live_asks_no_database() -> None:
    answer = Client().get("/api/v1/health/live")

    assert (answer.status_code, answer.json()) == (200, {"live": True})


@pytest.mark.django_db
def test_ready_when_all_is_there(django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(3):  # alive, extension, migrations
        status, found, _ = ready()

    assert (status, found) == (200, ALL)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("statement", "missing"),
    [("vector_extension", "extension"), ("applied_migrations", "migrations")],
)
def test_not_ready_when_a_part_is_missing(
    monkeypatch: pytest.MonkeyPatch, statement: str, missing: str
) -> None:
    asked = readiness._asked
    monkeypatch.setattr(
        readiness, "_asked", lambda name: [] if name == statement else asked(name)
    )

    status, found, _ = ready()

    assert (status, found) == (503, ALL | {missing: False})


def test_not_ready_without_a_database_and_silent_about_why(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def down(*_: Any) -> None:
        message = "connection to 10.0.0.7 as postgres:secret refused"
        raise OperationalError(message)

    monkeypatch.setattr(queries, "fetch", down)

    status, found, text = ready()

    assert status == 503
    assert found == {
        "database": False,
        "extension": False,
        "migrations": False,
        "embedder": True,
    }
    assert "secret" not in text
    assert "10.0.0.7" not in text
    assert "The database does not answer." in text


@pytest.mark.django_db
@pytest.mark.parametrize(
    "embedders", [{}, {"default": {"BACKEND": "secret.module.Nothing"}}]
)
def test_not_ready_without_an_embedder(embedders: dict[str, Any]) -> None:
    with override_settings(PRISM_MEMORY={"EMBEDDERS": embedders}):
        status, found, text = ready()

    assert (status, found) == (503, ALL | {"embedder": False})
    assert "secret" not in text


@pytest.mark.django_db
def test_probes_take_a_head_request_and_any_query() -> None:
    assert Client().head("/api/v1/health/ready").status_code == 200
    assert Client().get("/api/v1/health/live?probe=1").status_code == 200


def test_known_migrations_are_those_of_the_app() -> None:
    assert "0001_initial" in readiness.known_migrations()
