"""Where the exports of a test lie, and what is in them."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

from django.core.files.storage import FileSystemStorage

from prism_memory.governance import exports
from prism_memory.memory import Memory
from prism_memory.types import ExportState
from tests.files import storages as storages

BROKEN: dict[str, Any] = {}


class Faulty(FileSystemStorage):
    """A storage that fails as ``BROKEN["error"]`` says, at the given save."""

    def save(self, *args: Any, **kwargs: Any) -> str:
        name = super().save(*args, **kwargs)
        BROKEN["saves"] = BROKEN.get("saves", 0) + 1
        if BROKEN["saves"] == BROKEN["at"]:
            raise BROKEN["error"]
        return name


def run_export(memory: Memory, **given: Any) -> ExportState:
    """Export to the end in this process."""
    state = memory.start_export(**given)
    assert exports.carry_on(
        using=memory.using, tenant=memory.scope.tenant, run_id=state.id
    )
    return memory.export_state(state.id)


def files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def lines(folder: Path) -> list[dict[str, Any]]:
    """Return every record of the parts in a folder."""
    found = []
    for path in files(folder):
        if not path.name.startswith("manifest"):
            data = path.read_bytes()
            text = gzip.decompress(data) if path.suffix == ".gz" else data
            found += [json.loads(line) for line in text.splitlines()]
    return found


def manifest(folder: Path) -> dict[str, Any]:
    (path,) = folder.rglob("manifest*.json")
    found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return found
