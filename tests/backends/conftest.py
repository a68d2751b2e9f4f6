from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.backends import servers


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[servers.Server]:
    """An embeddings service; set its ``behave``."""
    for name in [*os.environ]:
        if name.lower().endswith("_proxy"):  # loopback is asked directly
            monkeypatch.delenv(name)
    with servers.running() as running:
        yield running
