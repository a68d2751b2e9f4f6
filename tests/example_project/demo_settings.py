"""The demo's settings on the test database, with an embedder slow enough to kill."""

from __future__ import annotations

from example_project.demo.settings import PRISM_MEMORY as OF_THE_DEMO
from tests.settings import *  # noqa: F403

PRISM_MEMORY = {
    **OF_THE_DEMO,
    "EMBEDDERS": {
        "default": {"BACKEND": "tests.example_project.embedders.SlowHashEmbedder"}
    },
}
