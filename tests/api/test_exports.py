"""Exports over HTTP: ``/memories/export`` and ``/exports``."""

from __future__ import annotations

import hashlib
import json
import uuid
from pathlib import Path
from typing import Any

import pytest

from prism_memory.governance import exports
from prism_memory.models import Record, Run
from prism_memory.types import Permission, Scope
from tests.api.conftest import ALICE, Caller, make_token, refused
from tests.api.test_openapi import validator
from tests.governance.stored import files, storages

pytestmark = pytest.mark.django_db

SECRET = "The safe's number is 4711."


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, settings: Any) -> Path:
    settings.STORAGES = storages(tmp_path)
    return tmp_path


@pytest.fixture
def governor(alice: Caller) -> Caller:
    """A key of Alice's scope that governs, and nothing else."""
    return Caller(make_token(ALICE, (Permission.GOVERN,)))


def start(caller: Caller, tenant: str = "acme", **given: Any) -> Any:
    """Start an export and have it done, as a worker would."""
    answer = caller.post("exports", given)
    assert answer.status_code == 202, answer.content
    run_id = uuid.UUID(answer.json()["id"])
    exports.carry_on(using="default", tenant=tenant, run_id=run_id)
    return answer.json()


def content(answer: Any) -> bytes:
    return b"".join(answer.streaming_content)


def test_a_page_is_of_exactly_the_scope_of_the_request(
    alice: Caller, bob: Caller, carol: Caller, governor: Caller
) -> None:
    """B191, case_C02."""
    bob.remember("Bob's.")
    carol.remember("Carol's.")
    alice.sends(thread="t1").remember("In a thread.")
    alice.remember(SECRET)
    found = governor.get("memories/export").json()
    assert [line["text"] for line in found["items"]] == [SECRET]
    assert found["next_cursor"] is None
    thread = governor.sends(thread="t1").get("memories/export").json()
    assert [line["text"] for line in thread["items"]] == ["In a thread."]


def test_pages_follow_each_other(alice: Caller, governor: Caller) -> None:
    """B194, case_C34."""
    for n in range(5):
        alice.remember(f"Text {n}.")
    met: list[str] = []
    cursor: Any = ""
    while cursor is not None:
        query = f"?limit=2&cursor={cursor}" if cursor else "?limit=2"
        page = governor.get("memories/export", query).json()
        met += [line["text"] for line in page["items"]]
        cursor = page["next_cursor"]
    assert met == [f"Text {n}." for n in range(5)]


@pytest.mark.parametrize(
    ("query", "status", "code", "field"),
    [
        ("?cursor=x", 400, "validation", "cursor"),
        (f"?cursor={'a' * 5_000}", 400, "validation", "cursor"),
        ("?limit=0", 422, "limit", "limit"),
        ("?limit=201", 422, "limit", "limit"),
        ("?max_bytes=1", 422, "limit", "max_bytes"),
        ("?max_bytes=33554433", 422, "limit", "max_bytes"),
        ("?max_ms=60001", 422, "limit", "max_ms"),
        ("?limit=x", 400, "validation", "limit"),
        ("?identity=bob", 400, "validation", None),
        ("?owner=bob", 400, "validation", "owner"),
    ],
)
def test_what_is_out_of_bounds_is_refused(
    alice: Caller,
    governor: Caller,
    query: str,
    status: int,
    code: str,
    field: str | None,
) -> None:
    """B193, B195."""
    alice.remember(SECRET)
    refused(governor.get("memories/export", query), status, code, field)


def test_an_export_is_begun_looked_at_downloaded_and_removed(
    alice: Caller, governor: Caller, folder: Path
) -> None:
    alice.remember(SECRET)
    alice.sends(thread="t1").remember("In a thread.")
    begun = start(governor, reason="Asked.")
    assert (begun["state"], begun["records"], begun["parts"]) == ("running", 0, [])
    validator("ExportOutput").validate(begun)
    path = f"exports/{begun['id']}"
    done = governor.get(path).json()
    validator("ExportOutput").validate(done)
    assert (done["state"], done["records"], done["left_out"]) == ("done", 2, {})
    (part,) = done["parts"]
    answer = governor.get(f"{path}/parts/1")
    data = content(answer)
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Content-Disposition"] == (
        f'attachment; filename="{part["file"]}"'
    )
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.headers["Content-Type"] == "application/octet-stream"
    assert (len(data), hashlib.sha256(data).hexdigest()) == (
        part["bytes"],
        part["sha256"],
    )
    assert {json.loads(line)["text"] for line in data.splitlines()} == {
        SECRET,
        "In a thread.",
    }
    manifest = governor.get(f"{path}/manifest")
    assert manifest.headers["Content-Type"] == "application/json"
    assert json.loads(content(manifest))["records"] == 2
    assert governor.request("DELETE", path).status_code == 204
    assert files(folder) == []
    refused(governor.get(f"{path}/parts/1"), 404, "not_visible")
    assert governor.get(path).json()["deleted"] is True


def test_what_is_not_done_has_no_file(alice: Caller, governor: Caller) -> None:
    alice.remember(SECRET)
    path = f"exports/{governor.post('exports').json()['id']}"
    for file in ("manifest", "parts/1"):
        refused(governor.get(f"{path}/{file}"), 404, "not_visible")


@pytest.mark.parametrize(
    "part", ["0", "2", "-1", "01", "x", "\u0661", "1.5", "9" * 20, "%00"]
)
def test_a_part_that_is_none_is_a_404(
    alice: Caller, governor: Caller, part: str
) -> None:
    alice.remember(SECRET)
    path = f"exports/{start(governor)['id']}"
    refused(governor.get(f"{path}/parts/{part}"), 404, "not_visible")


def test_anothers_export_and_an_unknown_one_look_the_same(
    alice: Caller, bob: Caller, carol: Caller
) -> None:
    """B25, B497: by every method of every route."""
    for caller in (alice, bob, carol):
        caller.remember(SECRET)
    run_id = start(alice)["id"]
    tenant = Caller(make_token(Scope("acme")))
    tenant.remember("The tenant's.")
    for caller in (bob, carol, tenant, alice.sends(thread="t1")):
        answers = [
            caller.request(method, f"exports/{known}{path}")
            for known in (run_id, uuid.uuid4(), "x", "%00")
            for method, path in (
                ("GET", ""),
                ("GET", "/manifest"),
                ("GET", "/parts/1"),
                ("DELETE", ""),
            )
        ]
        assert {answer.content for answer in answers} == {answers[0].content}
        for answer in answers:
            refused(answer, 404, "not_visible")
    assert alice.get(f"exports/{run_id}").json()["deleted"] is False
    assert tenant.sends(owner="alice").get(f"exports/{run_id}").status_code == 200


def test_the_legal_copy_is_an_operators(alice: Caller, governor: Caller) -> None:
    """Neither begun, nor found, nor removed by who only governs."""
    alice.remember(SECRET)
    Record.objects.update(visible=None)
    refused(
        governor.post("exports", {"include_unconsented": True}),
        403,
        "permission",
        "permission",
    )
    assert not Run.objects.exists()
    run_id = start(alice, include_unconsented=True)["id"]
    assert alice.get(f"exports/{run_id}").json()["records"] == 1
    for method, path in (("GET", ""), ("GET", "/parts/1"), ("DELETE", "")):
        answer = governor.request(method, f"exports/{run_id}{path}")
        refused(answer, 404, "not_visible")


def test_a_scope_where_nothing_is_has_no_export(governor: Caller) -> None:
    """case_C04."""
    refused(governor.post("exports"), 404, "not_visible")


@pytest.mark.parametrize(
    "body",
    [
        {"compress": "yes"},
        {"include_unconsented": 1},
        {"scope": "bob"},
        {"owner": "bob"},
        {"reason": 5},
        {"path": "/etc"},
    ],
)
def test_a_body_names_nothing_else(governor: Caller, body: dict[str, Any]) -> None:
    refused(governor.post("exports", body), 400, "validation")


def test_a_storage_that_fails_tells_the_caller_nothing_of_it(
    alice: Caller, governor: Caller, folder: Path
) -> None:
    alice.remember(SECRET)
    path = f"exports/{start(governor)['id']}"
    for file in files(folder):
        file.unlink()
    answer = governor.get(f"{path}/parts/1")
    refused(answer, 503, "misconfigured")
    assert str(folder) not in answer.content.decode()
