from __future__ import annotations

from tests.backends.conftest import server

__all__ = ["server"]
