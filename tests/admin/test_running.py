"""C33, C36: a run is seen, cancelled and retried; each is asked about first."""

from __future__ import annotations

import pytest
from django.test import Client

from prism_memory.admin import links
from prism_memory.models import AuditEvent
from tests.admin.rows import make_staff
from tests.governance.running.test_runs import begin, fail

pytestmark = pytest.mark.django_db


def test_what_failed_is_asked_about_then_goes_on(root: Client) -> None:
    """case_C33."""
    run = fail(begin())
    page = root.get(links.row_page(run)).text
    assert "Retry" in page
    assert "Cancel" in page
    assert "with all its tries again" in root.get(links.row_page(run, "retry")).text
    run.refresh_from_db()
    assert run.state == "failed"  # to ask changes nothing
    root.post(links.row_page(run, "retry"), {"reason": ""})
    assert AuditEvent.objects.count() == 0
    done = root.post(
        links.row_page(run, "retry"), {"reason": "It is back."}, follow=True
    )
    assert "A worker goes on with it" in done.text
    event = AuditEvent.objects.get(action="run.retry")
    assert (event.target, event.reason) == (f"run:{run.id}", "It is back.")


def test_what_runs_is_cancelled_and_what_has_ended_says_so(root: Client) -> None:
    run = begin(kind="import")
    assert "Retry" not in root.get(links.row_page(run)).text
    cancel = links.row_page(run, "cancel")
    root.post(cancel, {"reason": "Wrong file."})
    run.refresh_from_db()
    assert run.state == "cancelled"
    told = root.post(cancel, {"reason": "Again."}, follow=True).text
    assert "cancelled already" in told


def test_both_need_the_permission(client: Client) -> None:
    run = fail(begin())
    client.force_login(make_staff("view_run"))
    page = client.get(links.row_page(run)).text
    assert links.row_page(run, "cancel") not in page
    for verb in ("cancel", "retry"):
        address = links.row_page(run, verb)
        assert client.post(address, {"reason": "x"}).status_code == 403
    run.refresh_from_db()
    assert run.state == "failed"
