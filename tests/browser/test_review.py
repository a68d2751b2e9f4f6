"""Reviews as a person meets them: looked at, decided by keys, and without scripts."""

from __future__ import annotations

import uuid

from playwright.sync_api import expect

from prism_memory.admin import links
from prism_memory.models import Fact, FactVersion, Record, Review
from tests.browser.conftest import OpenPage
from tests.browser.looking import check
from tests.browser.rows import TENANT, World

QUEUE = {"tenant": TENANT, "why": "proposal"}


def proposals() -> list[Review]:
    waiting = Review.objects.filter(why="proposal", decided_at=None)
    return [*waiting.order_by("opened_at", "id")]


def acceptance(fact_id: uuid.UUID) -> str:
    return FactVersion.objects.get(fact_id=fact_id, recorded_to=None).acceptance


def test_pages_of_reviews(open_page: OpenPage, world: World) -> None:
    """Its list is looked at with the other lists."""
    queue = world.queue
    page = open_page(links.row_page(queue.review(queue.rival, "proposal")))
    check(page, "review-rival")
    page.goto(links.row_page(queue.review(queue.poisoned, "quarantined")))
    check(page, "review-poisoned")
    page.goto(links.list_page(Review, tenant=TENANT))
    for box in page.locator("#result_list input[type=checkbox]").all():
        box.check()
    page.locator("#pm-chosen").get_by_role("button", name="Accept").click()
    check(page, "reviews-many")


def test_pages_beside(open_page: OpenPage, world: World) -> None:
    page = open_page(links.row_page(world.history))
    check(page, "fact-history")
    queue = world.queue
    page.goto(links.row_page(Record.objects.get(id=queue.proposal.id)))
    page.get_by_role("link", name="Its fact").click()
    page.get_by_role("link", name="Review: Proposal").click()
    assert str(queue.review(queue.proposal, "proposal").id) in page.url


def test_the_picture_fits_its_window(open_page: OpenPage, world: World) -> None:
    page = open_page(links.row_page(world.history))
    picture = page.get_by_role("img", name="What was held, and when")
    expect(picture).to_have_count(1)
    assert "8 versions of 3 claims." in (picture.text_content() or "")
    wide = picture.bounding_box()
    page.set_viewport_size({"width": 390, "height": 844})
    expect(picture).to_have_count(1)
    narrow = picture.bounding_box()
    assert wide is not None
    assert narrow is not None
    assert narrow["width"] < 390 < wide["width"]


def test_keys_walk_the_queue_and_decide(open_page: OpenPage, world: World) -> None:
    first, second = proposals()
    page = open_page(links.list_page(Review, **QUEUE))
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    page.keyboard.press("x")
    boxes = page.locator("#result_list input[type=checkbox]")
    expect(boxes.first).to_be_checked()
    expect(boxes.last).not_to_be_checked()
    page.keyboard.press("o")
    page.wait_for_url(f"**{first.id}**")
    page.keyboard.press("j")
    page.wait_for_url(f"**{second.id}**")
    page.keyboard.press("k")
    page.wait_for_url(f"**{first.id}**")
    page.keyboard.press("a")
    page.wait_for_url("**/accept/**")
    page.keyboard.type("as the caller said")  # letters do nothing but be written
    page.keyboard.press("Enter")
    page.wait_for_url(f"**{second.id}**")
    expect(page.locator(".messagelist")).to_contain_text("Accepted.")
    assert acceptance(first.record_id) == "accepted"
    page.keyboard.press("r")
    page.wait_for_url("**/reject/**")
    page.keyboard.type("no")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/review/?tenant={TENANT}")
    assert Fact.objects.get(id=second.record_id).closing == "retracted"


def test_keys_are_listed_and_can_be_turned_off(
    open_page: OpenPage, world: World
) -> None:
    row = proposals()[0]
    page = open_page(links.row_page(row))
    page.keyboard.press("?")
    keys = page.get_by_role("dialog", name="Keys")
    expect(keys).to_be_visible()
    check(page, "keys")
    page.keyboard.press("a")  # the list is open
    page.get_by_label("Single keys do something").uncheck()
    page.keyboard.press("Escape")
    expect(keys).to_be_hidden()
    page.reload()
    page.keyboard.press("a")
    page.keyboard.press("?")
    expect(page.get_by_label("Single keys do something")).not_to_be_checked()
    assert page.url.endswith("/change/")
    page.get_by_label("Single keys do something").check()
    page.get_by_role("button", name="Close").click()
    page.keyboard.press("Control+a")
    page.keyboard.press("q")
    page.wait_for_url("**/quarantine/")


def test_it_all_works_without_scripts(open_page: OpenPage, world: World) -> None:
    first, second = proposals()
    page = open_page(links.list_page(Review, **QUEUE), scripts=False)
    expect(page.get_by_role("button", name="Keys")).to_be_hidden()
    page.locator("#result_list tbody th a").first.click()
    page.get_by_role("link", name="Next", exact=False).first.click()
    assert str(second.id) in page.url
    page.get_by_role("link", name="Previous", exact=False).first.click()
    page.get_by_role("link", name="Accept").click()
    page.get_by_label("Reason").fill("checked")
    page.get_by_role("button", name="Accept").click()
    assert str(second.id) in page.url
    assert acceptance(first.record_id) == "accepted"
    page.get_by_role("link", name="The queue").click()
    page.locator("#result_list input[type=checkbox]").check()
    page.locator("#pm-chosen").get_by_role("button", name="Reject").click()
    expect(page.get_by_text("1 of 1 is decided so.")).to_be_visible()
    page.get_by_label("Reason").fill("checked")
    page.locator("#content-main form input[type=submit]").click()
    assert Fact.objects.get(id=second.record_id).closing == "retracted"


def test_two_reviewers_at_once(open_page: OpenPage, world: World) -> None:
    row = proposals()[0]
    ann = open_page(links.row_page(row, "accept"))
    ben = open_page(links.row_page(row, "reject"), phone=True)
    for page in (ann, ben):
        page.get_by_label("Reason").fill("I read it")
    ann.get_by_role("button", name="Accept").click()
    ben.get_by_role("button", name="Reject").click()
    expect(ben.locator(".messagelist")).to_contain_text("decided already: accepted")
    assert acceptance(row.record_id) == "accepted"
