"""Every page of the admin, as a person meets it: at both widths, in both themes."""

from __future__ import annotations

import pytest
from django.contrib.auth import get_user_model
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import expect

from prism_memory import metrics
from prism_memory.admin import links
from prism_memory.admin.tabs import OF_TENANT
from prism_memory.models import Reading, Record, Tenant
from tests.browser.conftest import OpenPage
from tests.browser.looking import check
from tests.browser.rows import TENANT, World


def test_somebody_signs_in_and_walks_the_tabs(open_page: OpenPage) -> None:
    get_user_model().objects.create_superuser("olga", password="from the hills")
    page = open_page(reverse("admin:index"))
    page.context.clear_cookies()
    page.goto(links.page(Tenant, "changelist"))
    page.get_by_label("Username").fill("olga")
    page.get_by_label("Password").fill("from the hills")
    page.get_by_role("button", name="Log in").click()
    check(page, "tenants")
    page.locator("#result_list").get_by_role("link", name="Scopes").click()
    tabs = page.get_by_role("navigation", name="Lists of this tenant")
    for _model, label in OF_TENANT:
        tabs.get_by_role("link", name=str(label), exact=True).click()
        expect(tabs.locator("[aria-current=page]")).to_have_text(str(label))


LISTS = [model for model, _label in OF_TENANT if model not in (Record, Reading)]


def test_operations(open_page: OpenPage, world: World) -> None:
    metrics.take_readings(using="default", at=timezone.now())
    page = open_page(links.list_page(Reading))
    check(page, "operations-installation")
    page.get_by_label("Tenant, exactly").fill(TENANT)
    page.get_by_role("button", name="Open").click()
    expect(page.get_by_role("button", name="Retry what failed")).to_be_visible()
    page.get_by_text("The last day as a table").click()
    check(page, "operations-tenant")


@pytest.mark.parametrize("half", [0, 1])
def test_lists(open_page: OpenPage, world: World, half: int) -> None:
    page = open_page(links.list_page(LISTS[half], tenant=TENANT))
    for model in LISTS[half::2]:
        page.goto(links.list_page(model, tenant=TENANT))
        assert page.locator("#result_list tbody tr").count() > 0, model
        check(page, f"list-{model.__name__}")


def test_lists_of_records(open_page: OpenPage, world: World) -> None:
    page = open_page(links.list_page(Record))
    check(page, "choose-tenant")
    page.goto(links.list_page(Record, tenant=TENANT))
    check(page, "choose-scope")
    wish = {"tenant": TENANT, "scope": world.thread.id}
    page.goto(links.list_page(Record, **wish))
    check(page, "list-record")
    page.goto(links.list_page(Record, **wish, q="nowhere"))
    expect(page.get_by_text("Nothing fits the filter.")).to_be_visible()


@pytest.mark.parametrize("half", [0, 1])
def test_pages_of_rows(open_page: OpenPage, world: World, half: int) -> None:
    rows = (*world.shown, world.source, world.thread, world.kept)
    page = open_page(links.row_page(rows[half]))
    for row in rows[half::2]:
        page.goto(links.row_page(row))
        check(page, f"row-{type(row).__name__}")
    if half:
        page.goto(links.row_page(world.space) + f"?tenant={TENANT}")
        expect(page.get_by_role("button", name="Retry what failed")).to_be_visible()
        check(page, "row-EmbeddingSpace")
