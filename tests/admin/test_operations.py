"""Operations: what waits, runs and failed, for whom it is shown, and what it asks."""

from __future__ import annotations

import datetime as dt
import re
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from prism_memory import metrics
from prism_memory.admin import links
from prism_memory.admin.charts import FLOOR, TOP, Bar, draw_day
from prism_memory.admin.day import hours_until
from prism_memory.metrics.readings import hour_of
from prism_memory.models import Embedding, EmbeddingSpace, Reading, Run, RunState
from tests.admin.rows import make_event, make_run, make_staff, make_trace_row
from tests.factories import make_memory, make_record, make_scope

pytestmark = pytest.mark.django_db

SECRET = "porto-at-midnight"


def fill(tenant: str) -> None:
    """A text that waits, one that failed, a run under way and one that failed."""
    make_memory(make_scope(tenant=tenant)).remember([f"{SECRET} 1", f"{SECRET} 2"])
    one = Embedding.objects.filter(tenant=tenant).first()
    assert one is not None
    Embedding.objects.filter(tenant=tenant, record_id=one.record_id).update(
        failed_at=timezone.now()
    )
    now = timezone.now()
    make_run(
        tenant=tenant,
        kind=f"going-{tenant}",
        counts={"done": 3, "total": 12},
        started_at=now,
    )
    ended: Any = {"state": RunState.FAILED, "started_at": now, "finished_at": now}
    make_run(tenant=tenant, kind=f"ended-{tenant}", error="the disk is full", **ended)


def page(client: Client, **wish: str) -> str:
    answer = client.get(links.list_page(Reading, **wish))
    assert answer.status_code == 200
    return str(answer.text)


def test_a_tenants_page_shows_what_waits_runs_and_failed(root: Client) -> None:
    fill("acme")
    text = page(root, tenant="acme")
    for shown in ("going-acme", "ended-acme", "the disk is full", "Retry what failed"):
        assert shown in text
    assert 'max="12" value="3"' in text
    assert SECRET not in text


def test_a_tenants_page_shows_nothing_of_another(root: Client) -> None:
    fill("acme")
    fill("globex")
    metrics.take_readings(using="default", at=timezone.now())
    text = page(root, tenant="globex")
    assert "going-globex" in text
    assert "acme" not in text


def test_the_installations_page_names_who_has_the_most_to_do(root: Client) -> None:
    fill("acme")
    make_memory(make_scope(tenant="globex")).remember("tea")
    metrics.take_readings(using="default", at=timezone.now())
    text = page(root)
    assert text.index(">acme</a>") < text.index(">globex</a>")
    assert "Retry what failed" not in text
    assert "going-acme" not in text
    assert "No reading came" not in text


def test_where_no_reading_comes_the_page_says_so(root: Client) -> None:
    assert "No reading came for 15 minutes" in page(root)
    at = timezone.now() - dt.timedelta(minutes=16)
    metrics.take_readings(using="default", at=at)
    assert "No reading came for 15 minutes" in page(root)
    assert "No reading came" not in page(root, tenant="acme")


def test_what_failed_is_tried_again_by_its_button(root: Client) -> None:
    """case_C33."""
    fill("acme")
    space = EmbeddingSpace.objects.get()
    text = page(root, tenant="acme")
    address = links.row_page(space, "retry")
    assert f'action="{address}"' in text
    root.post(address, {"tenant": "acme"})
    assert not Embedding.objects.filter(failed_at__isnull=False).exists()
    assert "Retry what failed" not in page(root, tenant="acme")


def test_it_is_open_to_those_who_may_look_and_links_where_they_may(
    client: Client,
) -> None:
    fill("acme")
    client.force_login(make_staff("view_run"))
    assert client.get(links.list_page(Reading)).status_code == 403
    client.force_login(make_staff("view_reading", name="kim"))
    text = page(client, tenant="acme")
    assert "going-acme" in text
    run = Run.objects.get(kind="going-acme")
    assert links.row_page(run) not in text
    assert "Retry what failed" not in text
    assert "What waits for a person" not in text


def test_it_asks_as_much_for_many_runs_as_for_one(root: Client) -> None:
    fill("acme")
    counts = []
    for number in range(2):
        with CaptureQueriesContext(connection) as asked:
            page(root, tenant="acme")
        counts.append(len(asked))
        for run in range(30):
            make_run(kind=f"more-{number}-{run}")
    # The session and its user; the tenant; two of spaces, the state, the day, recalls,
    # acts, and two of runs.
    assert counts == [2 + 1 + 8] * 2
    with CaptureQueriesContext(connection) as asked:
        page(root)
    # Two of spaces, the state, the day, two of runs, and the sizes.
    assert len(asked) == 2 + 7


def test_an_unknown_tenant_and_a_row_have_no_page(root: Client) -> None:
    assert "Nothing was ever remembered under" in page(root, tenant="nobody")
    row = Reading.objects.create(tenant="acme", hour=timezone.now(), at=timezone.now())
    assert root.get(links.row_page(row)).status_code in {302, 404}


def test_the_day_counts_recalls_and_acts_by_the_hour(root: Client) -> None:
    record = make_record(scope=make_scope(tenant="acme"))
    now = timezone.now()
    for back in (0, 0, 3, 30):
        make_event(at=now - dt.timedelta(hours=back))
    make_trace_row(record.id, at=now)
    context = root.get(links.list_page(Reading, tenant="acme")).context
    rows = [row[-2:] for row in context["table"].rows]
    assert rows[0] == ("1", "2")
    assert rows[3] == ("0", "1")
    assert sum(int(acts) for _recalls, acts in rows) == 3


# Charts


def test_a_bar_is_as_high_as_its_share_of_the_most() -> None:
    bars = [Bar("00:00", 4), Bar("01:00", 2), Bar("02:00", 0), Bar("03:00", None)]
    picture = draw_day(bars, title="T", told="D", prefix="p")
    heights = [float(h) for h in re.findall(r'<rect[^>]*height="([\d.]+)"', picture)]
    assert heights == [FLOOR - TOP, (FLOOR - TOP) / 2]
    assert picture.count("pm-unknown") == 1


def test_words_in_a_chart_are_escaped_and_an_empty_day_is_drawn() -> None:
    picture = draw_day([Bar("<b>", None)], title="<i>", told="&", prefix="p")
    assert "<b>" not in picture
    assert "<i>" not in picture
    assert "<rect" not in picture
    assert draw_day([], title="T", told="D", prefix="p").startswith("<svg")


def test_a_day_has_24_hours_and_this_one_is_the_last() -> None:
    now = dt.datetime(2026, 3, 29, 1, 30, tzinfo=dt.UTC)
    hours = hours_until(now)
    assert len(hours) == 24
    assert hours[-1] == hour_of(now)
    assert hours[0] == dt.datetime(2026, 3, 28, 2, tzinfo=dt.UTC)
