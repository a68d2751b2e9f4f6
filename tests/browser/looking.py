"""What a person would notice on a page, looked at by a machine.

``check`` says whether it is accessible, fits its window and asked nobody else; the
pictures, wanted by ``PRISM_SHOTS=<folder>``, are for people.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import ConsoleMessage, Page, Request, ViewportSize

Theme = Literal["light", "dark"]

DESK: Final[ViewportSize] = {"width": 1280, "height": 900}
PHONE: Final[ViewportSize] = {"width": 390, "height": 844}
LOOKS: Final[tuple[tuple[str, ViewportSize, Theme], ...]] = (
    ("desk", DESK, "light"),
    ("phone", PHONE, "dark"),
)
"""Both widths and both themes, by two looks: the colours are the same at each width."""

_AXE: Final = Axe().axe_script
_RUN: Final = """axe.run({
  resultTypes: ['violations'],
  preload: false,  // of style sheets and films of others: there are none
}).then(found => found.violations)"""


@dataclass
class Seen:
    """What pages of one test did beside being shown."""

    site: str
    troubles: list[str] = field(default_factory=list)

    def watch(self, page: Page) -> None:
        """Note errors of scripts and of the console, and requests to anybody else."""
        page.on("console", self._said)
        page.on("pageerror", lambda error: self.troubles.append(f"error: {error}"))
        page.on("request", self._asked)

    def _said(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.troubles.append(f"console: {message.text}")

    def _asked(self, request: Request) -> None:
        if not request.url.startswith((f"{self.site}/", "data:", "about:")):
            self.troubles.append(f"asked elsewhere: {request.url}")


def check_accessible(page: Page) -> None:
    """Ask axe: no violation of any impact.

    Raises:
        AssertionError: It names each rule with what breaks it.
    """
    if not page.evaluate("'axe' in window"):
        page.evaluate(_AXE)
    violations: list[dict[str, Any]] = page.evaluate(_RUN)
    broken = [
        f"{rule['id']} ({rule['impact']}): {node['target']} {node['html'][:200]}"
        for rule in violations
        for node in rule["nodes"]
    ]
    assert not broken, "\n".join([page.url, *broken])


def check_fits(page: Page) -> None:
    """See that nobody has to scroll sideways.

    Raises:
        AssertionError: It names what reaches out of the window.
    """
    out: list[str] = page.evaluate(_REACHES_OUT)
    assert not out, "\n".join([page.url, *out])


# What scrolls within a box of its own is meant to.
_REACHES_OUT: Final = """() => {
  const width = document.documentElement.clientWidth;
  const page = document.scrollingElement;
  if (page.scrollWidth <= width) return [];
  const out = [...document.querySelectorAll('body *')].filter(
    one => one.getBoundingClientRect().right > width + 1);
  return [`${page.scrollWidth} > ${width}`, ...out.slice(0, 5).map(
    one => one.outerHTML.slice(0, 120))];
}"""


# The admin's colours fade from one theme to the other: have them arrive.
_ARRIVE: Final = "document.getAnimations().forEach(moving => moving.finish())"


def check(page: Page, name: str) -> None:
    """Look at a page at both widths and in both themes, and take its picture."""
    for width, size, theme in LOOKS:
        page.set_viewport_size(size)
        page.emulate_media(color_scheme=theme)
        page.evaluate(_ARRIVE)
        check_fits(page)
        check_accessible(page)
        screenshot(page, f"{name}-{width}-{theme}")
    page.set_viewport_size(DESK)
    page.emulate_media(color_scheme="light")


def screenshot(page: Page, name: str) -> Path | None:
    """Save a picture of the whole page, when a folder for pictures is named."""
    folder = os.environ.get("PRISM_SHOTS")
    if not folder:
        return None
    path = Path(folder) / f"{re.sub(r'[^a-z0-9-]+', '-', name.lower())}.png"
    path.parent.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=path, full_page=True)
    return path
