"""Hosts with settings of their own, and real HTTP."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import httpx
import pytest
from django.db import connections, transaction
from django.test import override_settings

from example_project.embedded import CHECKOUT
from prism_memory.api.openapi import document
from prism_memory.api.urls import urlpatterns
from tests.api.conftest import ALICE, BOB, Caller, make_token, refused


@pytest.mark.django_db(transaction=True)
def test_nothing_that_the_host_sets_for_its_own_api_reaches_ours(
    child_environment: dict[str, str],
) -> None:
    """Also: under ATOMIC_REQUESTS a call can wait, since it commits by itself."""
    ran = subprocess.run(
        [sys.executable, "-m", "tests.api.hostile_host", make_token(ALICE)],
        cwd=CHECKOUT,
        env=child_environment
        | {"DJANGO_SETTINGS_MODULE": "tests.api.hostile_settings"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert ran.returncode == 0, ran.stderr
    found: dict[str, Any] = json.loads(ran.stdout)
    assert found["atomic"] is True
    status, media_type, remembered = found["remembered"]
    assert (status, media_type) == (201, "application/json")
    assert remembered["pending"] is False
    status, _, recalled = found["recalled"]
    assert status == 200
    assert [hit["text"] for hit in recalled["hits"]] == ["Tee, kein Käffchen"]
    assert recalled["hits"][0]["created_at"].endswith("Z")
    status, media_type, problem = found["refused"]
    assert (status, media_type) == (400, "application/problem+json")
    assert problem["field"] == "tenant"
    assert len(found["listed"]["items"]) == 1
    assert found["anonymous"] == [401, 401, 401]
    assert found["pages"] == [200, 200]
    assert found["schema"] == document("/api/v1")


def test_every_view_is_kept_out_of_atomic_requests() -> None:
    for pattern in urlpatterns:
        assert pattern.callback._non_atomic_requests >= set(connections)


@pytest.mark.django_db(transaction=True)
def test_waiting_inside_a_hosts_transaction_is_a_501() -> None:
    """B498: nothing could be embedded before that transaction ends."""
    caller = Caller(make_token())
    with transaction.atomic():
        answer = caller.post("memories", {"text": "a", "wait": True})

    refused(answer, 501, "unsupported", "wait")


@pytest.fixture
def http(live_server: Any) -> Any:
    with httpx.Client(base_url=f"{live_server.url}/api/v1/", timeout=30) as client:
        client.headers["Authorization"] = f"Bearer {make_token(ALICE)}"
        yield client


@pytest.mark.django_db(transaction=True)
def test_over_real_http(http: httpx.Client) -> None:
    entries = [{"text": f"Tea of day {n} ☕"} for n in range(40)]
    stored = http.post("memories", json={"entries": entries, "wait": True})
    assert (stored.status_code, stored.json()["pending"]) == (201, False)

    recalled = http.post("recall", json={"query": "tea", "top_k": 32})
    assert len(recalled.json()["hits"]) == 32
    assert recalled.json()["hits"][0]["method"] == "hybrid"

    bob = {"Authorization": f"Bearer {make_token(BOB)}"}
    foreign = http.post("recall", json={"query": "tea", "top_k": 32}, headers=bob)
    assert foreign.json()["hits"] == []
    memory_id = stored.json()["accepted"][0]
    assert http.get(f"memories/{memory_id}").json()["text"] == "Tea of day 0 ☕"
    assert http.get(f"memories/{memory_id}", headers=bob).status_code == 404

    revoked = http.post(f"memories/{memory_id}/consent", json={"visible": False})
    assert (revoked.status_code, revoked.content) == (204, b"")
    assert http.get(f"memories/{memory_id}").status_code == 404
    assert http.get("health/ready").json()["ready"] is True


@pytest.mark.django_db(transaction=True)
def test_a_scope_header_sent_twice_is_refused(http: httpx.Client) -> None:
    """Servers join the two by a comma; two scopes are none."""
    twice = [("Prism-Thread", "t1"), ("Prism-Thread", "t2")]

    answer = http.get("memories", headers=twice)

    assert answer.status_code == 400
    assert answer.json()["field"] == "Prism-Thread"


@pytest.mark.django_db(transaction=True)
@override_settings(DATA_UPLOAD_MAX_MEMORY_SIZE=100_000)
def test_odd_requests_over_real_http(http: httpx.Client) -> None:
    as_json = {"Content-Type": "application/json"}

    assert http.post("recall", content=b"\xff", headers=as_json).status_code == 400
    assert http.post("recall", content=b"{}").status_code == 415
    assert http.post("recall", json={"query": "a" * 200_000}).status_code == 413
    assert http.post("recall", data={"query": "a"}).status_code == 415
    assert http.get("memories?namespaces=%ff").status_code == 400
    assert http.get("memories/%00").status_code == 404
    assert http.delete("memories").status_code == 405
    assert http.head("memories").status_code == 200
    chunks = iter([b'{"query":', b'"a"}'])
    chunked = http.post("recall", content=chunks, headers=as_json)
    assert chunked.status_code in {200, 400}
