"""What somebody does with the pages: asked first, then done, then told."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from prism_memory.admin import links
from prism_memory.models import (
    AccessKey,
    LegalHold,
    Record,
    RetentionPolicy,
    ShareGrant,
    Source,
)
from prism_memory.types import Origin, Trust
from tests.browser.conftest import OpenPage
from tests.browser.looking import check
from tests.browser.rows import HOSTILE, TENANT, World
from tests.factories import make_memory


def told(page: Page, words: str) -> None:
    expect(page.locator(".messagelist")).to_contain_text(words)


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def tool(page: Page, name: str) -> None:
    page.locator(".object-tools").get_by_role("link", name=name).click()


def test_a_record_is_governed(open_page: OpenPage, world: World) -> None:
    page = open_page(links.row_page(world.plain))
    check(page, "record")
    tool(page, "Correct")
    check(page, "correct")
    page.get_by_label("What it shall say").fill("Ada takes her tea with honey.")
    page.get_by_label("Reason").fill("she said so")
    press(page, "Correct")
    expect(page.locator(".pm-text").first).to_have_text("Ada takes her tea with honey.")
    tool(page, "Revoke")
    check(page, "consent")
    page.get_by_role("link", name="No, take me back").click()
    expect(page).to_have_url(page.url.split("/consent")[0])
    tool(page, "Revoke")
    page.get_by_label("Reason").fill("she asked")
    press(page, "Revoke")
    check(page, "record-revoked")


def test_records_are_chosen_and_forgotten(open_page: OpenPage, world: World) -> None:
    wish = {"tenant": TENANT, "scope": world.thread.id}
    page = open_page(links.list_page(Record, **wish))
    before = page.locator("#result_list tbody tr").count()
    row = page.locator("#result_list tr", has_text="without sugar")
    row.get_by_role("checkbox").check()
    page.locator("#pm-chosen").get_by_role("button", name="Forget").click()
    check(page, "chosen")
    page.get_by_label("Reason").fill("asked")
    page.locator("#content-main form input[type=submit]").first.click()
    expect(page.locator("#result_list tbody tr")).to_have_count(before - 1)
    page.goto(links.row_page(world.kept, "release") + "?restore=1")
    check(page, "release")


def test_scopes_and_sources(open_page: OpenPage, world: World) -> None:
    page = open_page(links.row_page(world.owner))
    for row, names in (
        (world.thread, ("export", "erase", "share")),
        (world.owner, ("hold",)),
        (world.source, ("erase", "hold")),
    ):
        for name in names:
            page.goto(links.row_page(row, name))
            check(page, f"{type(row).__name__}-{name}")
    page.goto(links.row_page(world.owner, "hold"))
    page.get_by_label("Reason").fill("asked")
    page.locator("#content-main form input[type=submit]").click()
    told(page, "The hold was placed.")
    hold = LegalHold.objects.get(target_ref=f"scope:{world.owner.id}")
    page.goto(links.row_page(hold, "release"))
    check(page, "hold-release")
    grant = ShareGrant.objects.get(tenant=TENANT)
    page.goto(links.row_page(grant, "revoke"))
    check(page, "share-revoke")


def test_keys(open_page: OpenPage, world: World) -> None:
    page = open_page(links.page(AccessKey, "add") + f"?tenant={TENANT}")
    check(page, "key-add")
    page.get_by_label("Label").fill("a bot")
    press(page, "Create the key")
    expect(page.locator(".pm-token")).to_be_visible()
    check(page, "key-created")
    page.get_by_role("link", name="To the key").click()
    tool(page, "Revoke")
    check(page, "key-revoke")
    press(page, "Revoke")
    assert AccessKey.objects.get(label="a bot").revoked_at


def test_policies(open_page: OpenPage, world: World) -> None:
    page = open_page(links.page(RetentionPolicy, "add") + f"?tenant={TENANT}")
    page.get_by_label("Name").fill("a week")
    page.get_by_label("Reason").fill("the contract")
    press(page, "Show the effect")
    check(page, "policy-refused")
    page.locator("#id_max_age_days").fill("7")
    press(page, "Show the effect")
    check(page, "policy-add")
    press(page, "Save the policy")
    policy = RetentionPolicy.objects.get(name="a week")
    for name in ("preview", "alter", "sweep"):
        page.goto(links.row_page(policy, name))
        check(page, f"policy-{name}")


def test_all_of_it_works_without_scripts(open_page: OpenPage, world: World) -> None:
    wish = {"tenant": TENANT, "scope": world.thread.id, "q": "sugar"}
    page = open_page(links.list_page(Record, **wish), scripts=False)
    page.locator("#result_list tbody tr a").first.click()
    expect(page.locator(".pm-text").first).to_contain_text("without sugar")
    tool(page, "Forget")
    page.get_by_label("Reason").fill("asked")
    page.locator("#content-main form input[type=submit]").first.click()
    assert not Record.objects.filter(id=world.plain.id).exists()


def test_a_document_is_looked_at_and_retired(open_page: OpenPage, world: World) -> None:
    text = f"# Tea\n\nTea is green.\n\n# {HOSTILE}\n\n{HOSTILE}\n"
    text += "".join(f"# Part {n}\n\nword\n\n" for n in range(60))
    memory = make_memory(origin=Origin(Trust.DOCUMENT, "docs"))
    memory.sources.ingest("hand/book.md", text, metadata={"title": HOSTILE})
    source = Source.objects.get(tenant=TENANT, key="hand/book.md")
    page = open_page(links.row_page(source))
    expect(page.get_by_role("link", name="hand/book.md#0001")).to_be_visible()
    check(page, "document")
    page.get_by_role("link", name="After", exact=True).click()
    expect(page.get_by_role("link", name="hand/book.md#0051")).to_be_visible()
    for name in ("restore", "delete", "retire"):
        page.goto(links.row_page(source, name))
        check(page, f"source-{name}")
    page.get_by_label("Reason").fill("outdated")
    press(page, "Retire")
    told(page, "62 records left search.")
    tool(page, "Bring back")
    page.get_by_label("Reason").fill("needed again")
    press(page, "Bring back")
    told(page, "62 records are back.")
