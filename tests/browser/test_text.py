"""Stored text is shown as what it is, and never runs."""

from __future__ import annotations

from playwright.sync_api import expect

from prism_memory.admin import links
from prism_memory.models import AuditEvent, Record
from tests.browser.conftest import OpenPage
from tests.browser.looking import check
from tests.browser.rows import TENANT, World


def test_markup_and_hidden_characters_are_shown(
    open_page: OpenPage, world: World
) -> None:
    """The page's policy forbids what is inline; a break-out would be on the console."""
    page = open_page(links.row_page(world.hostile))
    assert "pwned" not in page.title()
    words = page.locator(".pm-text").first
    expect(words).to_contain_text("<script>document.title = 'pwned'</script>")
    expect(words).to_contain_text("<img src=x onerror=alert(1)>")
    marks = [one.text_content() for one in words.locator(".pm-hidden").all()]
    assert marks == ["U+202E", "U+202C", "U+200B"]
    assert page.locator(".pm-text img, .pm-text script, .pm-text a").count() == 0
    check(page, "record-hostile")


def test_withheld_words_are_revealed_once_for_a_reason(
    open_page: OpenPage, world: World
) -> None:
    page = open_page(links.row_page(world.withheld))
    assert "Never shown" not in page.content()
    check(page, "record-withheld")
    page.get_by_label("Reason").fill("ticket 4711")
    page.get_by_role("button", name="Reveal once").click()
    expect(page.get_by_text("Never shown by itself.")).to_be_visible()
    check(page, "record-revealed")
    assert AuditEvent.objects.filter(tenant=TENANT, reason="ticket 4711").exists()
    page.goto(links.row_page(world.withheld))
    assert "Never shown" not in page.content()
    assert Record.objects.get(id=world.withheld.id).gate == "quarantined"
