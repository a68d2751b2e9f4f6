"""Reviews as a person meets them."""

from __future__ import annotations

from prism_memory.admin import links
from prism_memory.models import ConflictDecision, Entity, Fact, Review
from tests.browser.conftest import OpenPage
from tests.browser.looking import check
from tests.browser.rows import TENANT, World


def test_pages(open_page: OpenPage, world: World) -> None:
    page = open_page(links.list_page(Review, tenant=TENANT))
    check(page, "reviews")
    queue = world.queue
    for name, item, why in (
        ("proposal", queue.proposal, "proposal"),
        ("rival", queue.rival, "proposal"),
        ("poisoned", queue.poisoned, "quarantined"),
        ("record", queue.record, "quarantined"),
        ("conflict", queue.conflict, "conflict"),
    ):
        page.goto(links.row_page(queue.review(item, why)))
        check(page, f"review-{name}")
    page.goto(links.row_page(world.history))
    check(page, "fact-history")
    for model in (Fact, ConflictDecision, Entity):
        page.goto(links.list_page(model, tenant=TENANT))
        check(page, f"list-{model.__name__}")
        page.locator("#result_list tbody th a").first.click()
        check(page, f"row-{model.__name__}")
