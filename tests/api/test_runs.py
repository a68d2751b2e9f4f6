"""``/runs`` and ``/pending``: for keys of a whole tenant (C33)."""

from __future__ import annotations

import pytest
from django.utils import timezone

from prism_memory.models import AuditEvent, Embedding
from prism_memory.types import Permission, Scope
from tests.api.conftest import Caller, make_token, refused
from tests.api.test_openapi import validator
from tests.factories import remember
from tests.governance.running.test_runs import begin, fail

pytestmark = pytest.mark.django_db


@pytest.fixture
def olga() -> Caller:
    """Operates the tenant acme, and nothing else."""
    return Caller(make_token(Scope("acme"), (Permission.OPERATE,)))


def test_a_run_is_listed_read_cancelled_and_retried(olga: Caller) -> None:
    run = fail(begin())
    (listed,) = olga.get("runs", "?state=failed&kind=erase").json()["items"]
    validator("RunOutput").validate(listed)
    assert (listed["attempts"], listed["error"]) == (1, "conflict")
    assert listed["next_try_at"]
    assert olga.get(f"runs/{run.id}").json() == listed
    ended = olga.post(f"runs/{run.id}/cancel", {"reason": "no more"}).json()
    assert (ended["state"], ended["next_try_at"]) == ("cancelled", None)
    refused(olga.post(f"runs/{run.id}/cancel", {}), 409, "conflict", "run")
    again = olga.post(f"runs/{run.id}/retry", {}).json()
    assert (again["state"], again["error"]) == ("running", "")
    assert AuditEvent.objects.filter(action__startswith="run.").count() == 2


def test_another_tenants_run_is_none(olga: Caller) -> None:
    theirs = begin(tenant="globex")
    assert olga.get("runs").json() == {"items": [], "next_cursor": None}
    for path in (f"runs/{theirs.id}", "runs/odd"):
        refused(olga.get(path), 404, "not_visible")
        for verb in ("cancel", "retry"):
            refused(olga.post(f"{path}/{verb}", {}), 404, "not_visible")


def test_texts_that_were_given_up_are_listed_and_retried(olga: Caller) -> None:
    """case_C33."""
    (record_id,) = remember("One.")
    Embedding.objects.update(failed_at=timezone.now(), attempts=8, error="Too long.")
    (failed,) = olga.get("pending/failed").json()["items"]
    validator("FailedTextOutput").validate(failed)
    assert (failed["memory"], failed["error"]) == (str(record_id), "Too long.")
    assert olga.post("pending/retry", {"reason": "now"}).json() == {"retried": 1}
    assert olga.get("pending/failed").json()["items"] == []
