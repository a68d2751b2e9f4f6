from __future__ import annotations

from collections.abc import Iterator

import pytest

from prism_memory.metrics.counting import COUNTED
from prism_memory.metrics.walking import walk


@pytest.fixture(autouse=True)
def _nothing_is_read_yet() -> Iterator[None]:
    """What this process read and counted is of the test before."""
    walk.forget()
    for counted in COUNTED._collector_to_names:
        if getattr(counted, "_labelnames", ()):
            counted.clear()  # type: ignore[attr-defined]
    yield
    walk.forget()
