"""What the files of an export hold: told from the files as they lie there."""

from __future__ import annotations

import datetime as dt
import hashlib
import io
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from prism_memory.errors import Misconfigured
from prism_memory.governance import export_files as files
from prism_memory.governance.moments import moment
from prism_memory.types import JSON, PORTABLE, ExportPart

Counted = dict[str, Counter[str]]
"""Records by kind, by scope as JSON."""


def count(parts: Iterable[ExportPart]) -> Counted:
    """Read the parts back and count what is in them.

    Raises:
        Misconfigured: The storage gives back other bytes than it was given.
    """
    counted: Counted = {}
    for part in parts:
        digest = hashlib.sha256()
        for block in files.blocks(part.name):
            digest.update(block)
        if digest.hexdigest() != part.sha256:
            message = "The storage of exports gives back other bytes than it took."
            raise Misconfigured(message, field="EXPORT_STORAGE")
        for line in files.lines(part.name):
            record = json.loads(line)
            scope = json.dumps(record["scope"], sort_keys=True)
            counted.setdefault(scope, Counter())[record["kind"]] += 1
    return counted


def manifest(
    *,
    head: JSON,
    parts: Sequence[ExportPart],
    left_out: Mapping[str, int],
    at: dt.datetime,
) -> JSON:
    """Return what is written beside the parts.

    Args:
        head: Which export it is of what.
    """
    counted = count(parts)
    kinds: Counter[str] = sum(counted.values(), Counter())
    return {
        "format": PORTABLE,
        **head,
        "at": moment(at),
        "records": kinds.total(),
        "kinds": dict(kinds),
        "scopes": [
            {"scope": json.loads(scope), "kinds": dict(found)}
            for scope, found in sorted(counted.items())
        ],
        "left_out": dict(left_out),
        "parts": [
            {
                "file": part.name.rpartition("/")[2],
                "records": part.records,
                "bytes": part.bytes,
                "sha256": part.sha256,
            }
            for part in parts
        ],
    }


def written(name: str, content: JSON) -> str:
    """Write a manifest and return the name that the storage gave it."""
    text = json.dumps(content, ensure_ascii=False, indent=1)
    return files.save(name, io.BytesIO(text.encode()))
