"""Running commands, and looking at what they did."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections.abc import Callable
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from example_project.embedded import CHECKOUT
from prism_memory.models import Record

ENDING = """
import json, sys
from django.core.management import execute_from_command_line
for words in json.loads(sys.argv[1]):
    try:
        execute_from_command_line(["manage.py", *words])
    except SystemExit as end:
        print(end.code)
"""


class Result:
    """What a command printed, and how it ended."""

    def __init__(self, out: str, err: str, code: int, message: str) -> None:
        self.out = out
        self.err = err
        self.code = code
        self.message = message

    @property
    def json(self):
        return json.loads(self.out)


@pytest.fixture
def run() -> Callable[..., Result]:
    def command(*words: object) -> Result:
        out, err = StringIO(), StringIO()
        name, *rest = map(str, words)
        try:
            call_command(name, *rest, stdout=out, stderr=err)
        except CommandError as error:
            code, message = error.returncode, str(error)
            return Result(out.getvalue(), err.getvalue(), code, message)
        return Result(out.getvalue(), err.getvalue(), 0, "")

    return command


@pytest.fixture
def jsonl(tmp_path: Path) -> Callable[..., Path]:
    """Write lines to a file; what is missing of a line is filled in."""

    def write(*lines: dict[str, object] | str, name: str = "chats.jsonl") -> Path:
        path = tmp_path / name
        usual = {"owner": "ada", "writer": "Ada", "trust": "user"}
        texts = [
            line if isinstance(line, str) else json.dumps(usual | line)
            for line in lines
        ]
        path.write_text("\n".join(texts) + "\n", encoding="utf-8")
        return path

    return write


def endings(*commands: list[str]) -> tuple[str, str]:
    """Return what commands print, and say, that each end a process with their code."""
    asked = [sys.executable, "-c", ENDING, json.dumps(commands)]
    done = subprocess.run(
        asked, cwd=CHECKOUT, capture_output=True, check=True, text=True
    )
    return done.stdout, done.stderr


def checksum(tenant: str) -> str:
    """Return a digest of all that a tenant has stored."""
    rows = Record.objects.filter(tenant=tenant).order_by("id").values_list()
    return hashlib.sha256(repr(list(rows)).encode()).hexdigest()
