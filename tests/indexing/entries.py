"""Entries of EMBEDDERS, for settings: no Django here."""

from __future__ import annotations

from typing import Any

ENTRIES: dict[str, Any] = {
    "default": {
        "BACKEND": "prism_memory.backends.hashing.HashEmbedder",
        "OPTIONS": {"dimensions": 64, "for_tests": True},
    },
    "next": {
        "BACKEND": "prism_memory.backends.hashing.HashEmbedder",
        "OPTIONS": {"dimensions": 96, "for_tests": True},
    },
    "turned": {"BACKEND": "tests.indexing.two_spaces.Turned"},
}
