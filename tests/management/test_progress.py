"""Progress bars, tables and actors."""

from __future__ import annotations

import getpass
from io import StringIO

import pytest

from prism_memory.management.command import os_actor, table
from prism_memory.management.progress import Progress
from prism_memory.types import Actor


class Terminal(StringIO):
    def isatty(self):
        return True


def test_a_terminal_gets_a_bar_that_is_drawn_over():
    shown = Terminal()
    bar = Progress(shown, "Working", 4)
    bar.update(1, "1 of 4, slowly")
    bar.update(4, "4 of 4")
    bar.close()
    first, second, last = shown.getvalue().split("\r")[0:3]
    assert (first, last.endswith("\n")) == ("", True)
    assert second.startswith("Working ███████░")
    assert "100%  4 of 4" in last
    # The longer line before is wiped out.
    assert len(last.removesuffix("\n")) >= len("1 of 4, slowly")
    assert "slowly" not in last


def test_a_log_gets_at_most_a_line_for_each_tenth():
    shown = StringIO()
    bar = Progress(shown, "Working", 1_000)
    for done in range(1_001):
        bar.update(done)
    bar.close()
    lines = shown.getvalue().splitlines()
    assert lines[0] == "Working   0%"
    assert lines[-1] == "Working 100%"
    assert len(lines) == 11


def test_nothing_to_do_is_done():
    shown = StringIO()
    Progress(shown, "Working", 0).update(0)
    assert shown.getvalue() == "Working 100%\n"


@pytest.mark.parametrize("stream", [StringIO, Terminal])
def test_silence_is_kept(stream):
    shown = stream()
    bar = Progress(shown, "Working", 2, silent=True)
    bar.update(1)
    bar.close()
    assert shown.getvalue() == ""


def test_a_bar_that_never_began_leaves_no_line():
    shown = Terminal()
    Progress(shown, "Working", 2).close()
    assert shown.getvalue() == ""


def test_a_table_lines_words_up_left_and_numbers_right():
    assert table(("name", "count"), [("a", 1_000), ("long name", 2)]) == [
        "name       count",
        "a          1,000",
        "long name      2",
    ]
    assert table(("name",), [(None,)]) == ["name", "-"]
    assert table(("name",), []) == ["name"]


def test_a_user_without_a_name_is_a_command_all_the_same(monkeypatch):
    def nameless():
        raise KeyError("uid not found")

    monkeypatch.setattr(getpass, "getuser", nameless)
    assert os_actor() == Actor("command")
