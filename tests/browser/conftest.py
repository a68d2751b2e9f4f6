"""A site, a browser and a way to open pages.

    def test_the_queue(open_page):
        page = open_page("/admin/…")          # signed in as root
        check(page, "queue")                  # both widths, both themes
        page.get_by_role("button", name="Accept").click()

A test fails when a page said anything on the console or asked anybody but the site.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, Protocol

import pytest
from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import connections
from django.test import Client
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright
from pytest_django import DjangoDbBlocker

from tests.browser import chromium
from tests.browser.looking import DESK, PHONE, Seen
from tests.browser.rows import World, make_world
from tests.browser.serving import served
from tests.kept import kept

# The machine may be busy with something else.
PATIENCE_MILLISECONDS: Final = 30_000


class OpenPage(Protocol):
    def __call__(
        self,
        address: str,
        *,
        phone: bool = False,
        dark: bool = False,
        scripts: bool = True,
        user: Any = None,
    ) -> Page:
        """Open an address of the site in a window, new for each kind and user.

        Args:
            scripts: Whether JavaScript is on.
            user: Who is signed in; a superuser if nobody is given.
        """


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """One Chromium for all tests of this folder that follow each other.

    Playwright marks an event loop as running in this thread until it ends. Django would
    refuse to ask the database there, and has another connection there than before: so
    a fixture that keeps rows for several tests asks for this one first.
    """
    path = chromium.found()
    if path is None:
        (pytest.fail if chromium.required() else pytest.skip)(chromium.MISSING)
    with pytest.MonkeyPatch.context() as patch, sync_playwright() as playwright:
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "1")
        expect.set_options(timeout=PATIENCE_MILLISECONDS)
        flags = chromium.flags()
        started = playwright.chromium.launch(executable_path=path, args=flags)
        yield started
        started.close()
        connections.close_all()


@pytest.fixture(scope="package")
def world(
    browser: Browser, django_db_setup: None, django_db_blocker: DjangoDbBlocker
) -> Iterator[World]:
    """Rows for every page; what a test does to them is undone after it."""
    with kept(django_db_blocker):
        yield make_world()


@pytest.fixture
def site(world: World, db: None) -> Iterator[str]:
    """The address of the site, which shows what the test wrote."""
    with served() as address:
        yield address


@pytest.fixture
def seen(site: str) -> Iterator[Seen]:
    """What the pages did; a trouble fails the test unless it is taken off the list."""
    seen = Seen(site)
    yield seen
    assert seen.troubles == []


@pytest.fixture
def open_page(browser: Browser, site: str, seen: Seen) -> Iterator[OpenPage]:
    contexts: dict[tuple[object, ...], BrowserContext] = {}

    def open_page(
        address: str,
        *,
        phone: bool = False,
        dark: bool = False,
        scripts: bool = True,
        user: Any = None,
    ) -> Page:
        kind = (phone, dark, scripts, user)
        if kind not in contexts:
            contexts[kind] = context = browser.new_context(
                base_url=site,
                viewport=PHONE if phone else DESK,
                color_scheme="dark" if dark else "light",
                java_script_enabled=scripts,
            )
            context.set_default_timeout(PATIENCE_MILLISECONDS)
            context.add_cookies([_signed_in(user or _root(), site)])
        page = contexts[kind].new_page()
        seen.watch(page)
        page.goto(address)
        return page

    yield open_page
    for context in contexts.values():
        context.close()


def _root() -> Any:
    users = get_user_model().objects
    return users.filter(username="root").first() or users.create_superuser("root")


def _signed_in(user: Any, site: str) -> Any:
    client = Client()
    client.force_login(user)
    name = settings.SESSION_COOKIE_NAME
    return {"name": name, "value": client.cookies[name].value, "url": site}
