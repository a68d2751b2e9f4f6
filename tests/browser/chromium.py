"""Debian's Chromium: where it is, and how it comes onto a machine that may have it.

``python -m tests.browser.chromium`` installs it by apt, once and where that may be:
for root, or with a sudo that asks for no password. Elsewhere it says so and ends well,
for tests that need it then skip by name. With ``PRISM_REQUIRE_BROWSER=1`` both fail.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Final

NAMES: Final = ("chromium", "chromium-browser", "google-chrome")
MISSING: Final = (
    "no Chromium: apt-get install chromium, or set PRISM_CHROMIUM to its path"
)
# Without a font a picture of a page shows boxes.
PACKAGES: Final = ("chromium", "fonts-dejavu-core")
# Another apt may be at work; a mirror may be slow to answer, once.
APT: Final = (
    *("apt-get", "-q", "-q", "-o", "DPkg::Lock::Timeout=300"),
    *("-o", "Acquire::Retries=3", "-o", "Dpkg::Use-Pty=0"),
)
TRIES: Final = 3
PAUSE_SECONDS: Final = 5


def found(environment: Mapping[str, str] = os.environ) -> str | None:
    """Return the path of a Chromium, or nothing."""
    wish = environment.get("PRISM_CHROMIUM")
    names = (wish,) if wish else NAMES
    return next((path for name in names if (path := shutil.which(name))), None)


def required(environment: Mapping[str, str] = os.environ) -> bool:
    """Tell whether a test without a browser fails instead of being skipped."""
    return environment.get("PRISM_REQUIRE_BROWSER", "") not in ("", "0")


def flags() -> list[str]:
    """Return what Chromium is started with: it calls nobody and asks nothing."""
    quiet = [
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-quic",
        "--disable-sync",
        "--no-first-run",
    ]
    # Its sandbox refuses to run for root, as whom containers run.
    return [*quiet, "--no-sandbox"] if os.geteuid() == 0 else quiet


def install() -> bool:
    """Install it by apt, with a fresh list of packages when the old one will not do.

    Returns:
        Whether it is there now.
    """
    before = _as_root()
    if before is None:
        return False
    for attempt in range(TRIES):
        if attempt:
            time.sleep(PAUSE_SECONDS * (attempt - 1))
            _run([*before, *APT, "update"])
        words = ["install", "-y", "--no-install-recommends", *PACKAGES]
        if _run([*before, *APT, *words]) and found():
            return True
    return False


def _as_root() -> list[str] | None:
    """Return what apt-get is run with, or nothing where this user may not."""
    if not shutil.which("apt-get"):
        return None
    asked_of_nobody = ["env", "DEBIAN_FRONTEND=noninteractive"]
    if os.geteuid() == 0:
        return asked_of_nobody
    if shutil.which("sudo") and _run(["sudo", "-n", "true"]):
        return ["sudo", "-n", *asked_of_nobody]
    return None


def _run(words: Sequence[str]) -> bool:
    """Run a command quietly; what it said is printed when it fails."""
    done = subprocess.run(
        words,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.stderr.write(f"{' '.join(words)}: exit {done.returncode}\n{done.stdout}")
    return done.returncode == 0


def main() -> int:
    """Have a Chromium if that can be. 1 when one is required and there is none."""
    if found():
        return 0
    sys.stdout.write("Installing Chromium for the browser tests …\n")
    if install():
        return 0
    sys.stdout.write(f"The browser tests cannot run: {MISSING}\n")
    return 1 if required() else 0


if __name__ == "__main__":
    raise SystemExit(main())
