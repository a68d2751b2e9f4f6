"""The example's settings, with an embedder that costs next to nothing."""

from __future__ import annotations

import os
from typing import cast

os.environ.setdefault("PRISM_SERVICES", "bench")

from example_project.settings import *  # noqa: F403 - the example's settings

DEBUG = False
ALLOWED_HOSTS = ["127.0.0.1"]
# As a site under load would: connecting anew costs more than a small recall.
DATABASES["default"]["CONN_MAX_AGE"] = None  # noqa: F405
# And as psycopg does by itself, and so the floor: statements asked often are prepared.
# Django leaves that off for the sake of old connection poolers; see docs/benchmarks.md.
_options = cast("dict[str, object]", DATABASES["default"].get("OPTIONS", {}))  # noqa: F405
DATABASES["default"]["OPTIONS"] = {  # noqa: F405
    **_options,
    "server_side_binding": True,
    "prepare_threshold": 5,
    # One plan each, made once, as the floor has them; this alias serves nothing else.
    "options": "-c plan_cache_mode=force_generic_plan",
}

PRISM_MEMORY = {
    "EMBEDDERS": {
        "default": {
            "BACKEND": os.environ.get(
                "PRISM_BENCH_EMBEDDER", "benchmarks.embedders.SyntheticEmbedder"
            ),
            "OPTIONS": {},
        },
        # For the real questions of `peers`; loads its model when first asked.
        "minilm": {"BACKEND": "benchmarks.embedders.CachedEmbedder"},
    },
}
