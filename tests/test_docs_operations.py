"""What docs/operations.md says of metrics is what there is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from prometheus_client import CollectorRegistry

from prism_memory.metrics.exposition import _counted
from prism_memory.metrics.gauges import gauges
from prism_memory.metrics.state import Size
from prism_memory.metrics.walking import Overview

PAGE = (Path(__file__).parent.parent / "docs" / "operations.md").read_text("utf-8")
TABLES = ("record", "embedding", "tenant")


def exposed() -> set[str]:
    sizes = [Size(f"prism_memory_{table}", 1, 1) for table in TABLES]
    families = [*gauges(Overview(sizes=sizes)), *_counted()]
    return {
        f"{family.name}_total" if family.type == "counter" else family.name
        for family in families
    }


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


def test_the_table_lists_every_metric_and_no_other() -> None:
    rows = [line for line in PAGE.splitlines() if line.startswith("| `prism_memory_")]
    listed = {name for row in rows for name in re.findall(r"`(prism_memory_\w+)`", row)}
    assert {name for name in listed if name not in INDEXED} == exposed()


INDEXED = {"prism_memory_embedding", "prism_memory_record"}
"""Tables, beside the metrics."""


def test_alerts_are_yaml_and_ask_for_metrics_that_there_are() -> None:
    rules = [
        rule
        for block in blocks("yaml")
        for group in yaml.safe_load(block).get("groups", [])
        for rule in group["rules"]
    ]
    assert len(rules) > 8
    for rule in rules:
        for name in re.findall(r"prism_memory_\w+", rule["expr"]):
            assert name.removesuffix("_bucket") in exposed(), rule["alert"]


@pytest.mark.django_db
def test_the_examples_run() -> None:
    (block,) = blocks("python")
    made: dict[str, object] = {}
    exec(block, made)  # noqa: S102 - what the page shows
    registry = made["registry"]
    assert isinstance(registry, CollectorRegistry)
    assert [one for one in registry.collect() if one.name == "prism_memory_recalls"]


def test_commands_and_settings_that_it_names_exist() -> None:
    """So that a page read in the night helps."""
    folder = Path(__file__).parent.parent / "prism_memory"
    commands = {p.stem for p in (folder / "management" / "commands").glob("*.py")}
    for name in re.findall(r"`(?:manage\.py )?(prism_memory_\w+)(?: [^`]*)?`", PAGE):
        known = commands | exposed() | INDEXED
        assert name in known, name
    for action in re.findall(r"prism_memory_index (\w+)", PAGE):
        assert action in {"status", "enqueue", "create", "rebuild", "calibrate"}
