"""What the pages say of the index, its commands and the doctor is what there is."""

from __future__ import annotations

import re

from example_project.embedded import CHECKOUT
from prism_memory.conf import Settings
from prism_memory.indexing.cure import CURES
from prism_memory.management.commands.prism_memory_index import ACTIONS

COMMANDS = (CHECKOUT / "docs" / "commands.md").read_text()
EMBEDDERS = (CHECKOUT / "docs" / "embedders.md").read_text()
LEFT_TO_PEOPLE = {"vectors_failed", "embedder_changed", "situate_changed"}


def part(name: str) -> str:
    return COMMANDS.partition(f"## {name}\n")[2].partition("\n## ")[0]


def test_every_action_is_told_of() -> None:
    told = re.findall(r"^\| `(\w+)[^`]*` \|", part("prism_memory_index"), re.MULTILINE)
    assert {*told} == {*ACTIONS}


def test_every_finding_is_told_of_and_whether_it_is_mended() -> None:
    rows = re.findall(
        r"^\| (`\w+`(?:, `\w+`)*) \| .* \| (.*) \|$",
        part("prism_memory_doctor"),
        re.MULTILINE,
    )
    told = {
        kind: cure.startswith("no:")
        for kinds, cure in rows
        for kind in re.findall(r"`(\w+)`", kinds)
    }
    assert told == dict.fromkeys(CURES, False) | dict.fromkeys(LEFT_TO_PEOPLE, True)


def test_every_way_to_follow_the_settings_is_told_of() -> None:
    told = re.findall(r"^\| `(\w+)`[^|]*\|", EMBEDDERS, re.MULTILINE)
    assert {*Settings.EMBEDDER_CHANGED.choices} <= {*told}
