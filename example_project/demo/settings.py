"""The example's settings, with short waits: the demo kills a worker on purpose."""

from __future__ import annotations

from example_project.settings import *  # noqa: F403
from example_project.settings import PRISM_MEMORY as OF_THE_EXAMPLE

PRISM_MEMORY = {
    **OF_THE_EXAMPLE,
    # What a killed worker held comes back after this; the least that is allowed.
    "CLAIM_SECONDS": 5,
    "SWEEP_SECONDS": 5,
    "EMBED_BATCH": 16,
    # A site that is being served beside the demo has a worker of its own.
    "QUEUE": "prism-demo",
}
