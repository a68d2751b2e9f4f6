"""What every test needs: the servers, and the folder of shared reference data."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from example_project.embedded import CHECKOUT, Services

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session", autouse=True)
def _services() -> Iterator[None]:
    """Have the test servers for the run; the last run to end stops them."""
    with Services("test").running():
        yield


@pytest.fixture(scope="session")
def django_db_modify_db_settings(_services: None) -> None:
    """Order: the server is up before pytest-django makes the test database."""


@pytest.fixture(scope="session")
def shared_dir() -> Path:
    """The reference data beside the checkout; `PRISM_SHARED` names another place."""
    folder = Path(os.environ.get("PRISM_SHARED", CHECKOUT.parent / "shared"))
    if not folder.is_dir():
        pytest.skip("no shared reference data: set PRISM_SHARED to its folder")
    return folder
