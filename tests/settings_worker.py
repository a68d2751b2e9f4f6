"""Settings of a worker that a test starts: short leases, and an embedder that notes.

The test says by the environment where to note, how slowly to embed, and which queue is
its own on the broker that all test runs share.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from tests.files import storages
from tests.settings import *  # noqa: F403

CELERY_TASK_ALWAYS_EAGER = bool(os.environ.get("PRISM_TEST_EAGER"))

PRISM_MEMORY = {
    "EMBEDDERS": {
        "default": {
            "BACKEND": "tests.embedders.NotingEmbedder",
            "OPTIONS": {
                "path": os.environ["PRISM_TEST_CALLS"],
                "pause_seconds": float(os.environ.get("PRISM_TEST_PAUSE", "0")),
                "processes": int(os.environ.get("PRISM_TEST_PROCESSES", "1")),
            },
        },
    },
    "EMBED_BATCH": 4,
    "CLAIM_SECONDS": int(os.environ.get("PRISM_TEST_CLAIM", "5")),
    "RETRY_SECONDS": 1,
    "SWEEP_SECONDS": 5,
    "RUN_SILENT_SECONDS": 5,
    "QUEUE": os.environ.get("PRISM_TEST_QUEUE", ""),
    **json.loads(os.environ.get("PRISM_TEST_SETTINGS", "{}")),
}
if "PRISM_TEST_FILES" in os.environ:
    STORAGES = storages(Path(os.environ["PRISM_TEST_FILES"]))
