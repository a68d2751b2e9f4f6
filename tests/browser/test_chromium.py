"""How the browser comes onto a machine, and what its absence does."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.browser import chromium


def program(folder: Path, name: str, *lines: str) -> None:
    path = folder / name
    path.write_text("\n".join(["#!/bin/sh", *lines, ""]))
    path.chmod(0o755)


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine of root's with an apt-get that notes what it is asked."""
    monkeypatch.delenv("PRISM_CHROMIUM", raising=False)
    monkeypatch.delenv("PRISM_REQUIRE_BROWSER", raising=False)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(chromium, "PAUSE_SECONDS", 0)
    monkeypatch.setattr(chromium, "APT", ("apt-get",))
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "env").symlink_to("/usr/bin/env")
    monkeypatch.setenv("PATH", str(programs))
    note = f'echo "$@" >> {tmp_path}/asked'
    # It knows no package until its lists are fresh.
    made = f"/bin/cp {programs}/apt-get {programs}/chromium"
    program(
        programs,
        "apt-get",
        note,
        f"[ $1 = update ] && echo > {tmp_path}/lists && exit 0",
        f"[ -e {tmp_path}/lists ] || exit 100",
        made,
    )
    return tmp_path


def asked(machine: Path) -> list[str]:
    path = machine / "asked"
    lines = path.read_text().splitlines() if path.exists() else []
    return [line.split()[0] for line in lines]


def test_it_is_installed_once_with_fresh_lists_when_needed(machine: Path) -> None:
    assert chromium.main() == 0
    assert chromium.found() == str(machine / "bin" / "chromium")
    assert asked(machine) == ["install", "update", "install"]
    assert chromium.main() == 0
    assert len(asked(machine)) == 3


def test_where_it_may_not_be_installed_only_who_requires_it_fails(
    machine: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert chromium.main() == 0
    assert chromium.MISSING in capsys.readouterr().out
    assert asked(machine) == []
    monkeypatch.setenv("PRISM_REQUIRE_BROWSER", "1")
    assert chromium.main() == 1
    program(machine / "bin", "sudo", 'shift; exec "$@"')
    program(machine / "bin", "true")
    assert chromium.main() == 0


def test_an_apt_that_fails_is_tried_again_then_told(
    machine: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program(machine / "bin", "apt-get", f'echo "$@" >> {machine}/asked', "exit 100")
    assert chromium.main() == 0
    assert asked(machine).count("install") == chromium.TRIES
    assert "exit 100" in capsys.readouterr().err


def test_its_path_may_be_named(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(machine / "bin", "mine")
    monkeypatch.setenv("PRISM_CHROMIUM", str(machine / "bin" / "mine"))
    assert chromium.found() == str(machine / "bin" / "mine")
    assert chromium.main() == 0
    assert asked(machine) == []
