"""The example's settings, with an embedder that costs next to nothing."""

from __future__ import annotations

import os

os.environ.setdefault("PRISM_SERVICES", "bench")

from example_project.settings import *  # noqa: F403 - the example's settings

DEBUG = False
ALLOWED_HOSTS = ["127.0.0.1"]
# As a site under load would: connecting anew costs more than a small recall.
DATABASES["default"]["CONN_MAX_AGE"] = None  # noqa: F405

PRISM_MEMORY = {
    "EMBEDDERS": {
        "default": {
            "BACKEND": os.environ.get(
                "PRISM_BENCH_EMBEDDER", "benchmarks.embedders.SyntheticEmbedder"
            ),
            "OPTIONS": {},
        },
    },
}
