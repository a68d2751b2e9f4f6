"""Settings of a process that is killed while it builds a space."""

from __future__ import annotations

import os

from tests.indexing.entries import ENTRIES
from tests.settings import *  # noqa: F403

PRISM_MEMORY = {
    "EMBEDDERS": {
        **ENTRIES,
        "slow": {
            "BACKEND": "tests.embedders.NotingEmbedder",
            "OPTIONS": {
                "path": os.environ["PRISM_TEST_CALLS"],
                "pause_seconds": 0.3,
                "name": "slow",
            },
        },
    },
    "REBUILD_ROWS": 4,
}
