"""What every test needs: the servers, and the folder of shared reference data."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest
from django.db import connection
from django.test import TransactionTestCase
from hypothesis import settings

from example_project.embedded import CHECKOUT, Services, broker_url
from prism_memory.indexing import spaces
from prism_memory.recall.candidates.places import forget_sizes
from tests.emptied import empty_tables
from tests.tries import examples

if TYPE_CHECKING:
    from collections.abc import Iterator

# No test fails for being slow: the machine may be busy with something else.
settings.register_profile("tests", deadline=None, max_examples=examples(100))
settings.load_profile("tests")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave what is for ``make soak`` to it."""
    if "PRISM_SOAK" in os.environ:
        return
    for item in items:
        if item.get_closest_marker("soak"):
            item.add_marker(pytest.mark.skip(reason="for make soak"))


@pytest.fixture(scope="session", autouse=True)
def _services() -> Iterator[None]:
    """Have the test servers for the run; the last run to end stops them."""
    with Services("test").running():
        yield


@pytest.fixture(scope="session", autouse=True)
def _tables_are_emptied_quickly() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", empty_tables)
        yield


@pytest.fixture(autouse=True)
def _nothing_is_known() -> None:
    """Forget what a process remembers of the database: the test before undid it."""
    forget_sizes()
    spaces._known.clear()


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    _services: None, django_db_modify_db_settings_parallel_suffix: None
) -> None:
    """Order: the server is up before pytest-django makes the test database."""


@pytest.fixture
def child_environment(django_db_setup: None) -> dict[str, str]:
    """The environment of a process that shall work on this run's test database.

    What it does there outlives a rollback: use ``transactional_db`` beside it.
    """
    at = connection.settings_dict
    user = quote(at["USER"]) + (f":{quote(at['PASSWORD'])}" if at["PASSWORD"] else "")
    port = f"&port={at['PORT']}" if at["PORT"] else ""
    url = f"postgresql://{user}@/{quote(at['NAME'])}?host={quote(at['HOST'])}{port}"
    return os.environ | {
        "DJANGO_SETTINGS_MODULE": "tests.settings",
        "DATABASE_URL": url,
        "CELERY_BROKER_URL": broker_url(),
    }


@pytest.fixture(scope="session")
def shared_dir() -> Path:
    """The reference data beside the checkout; `PRISM_SHARED` names another place."""
    folder = Path(os.environ.get("PRISM_SHARED", CHECKOUT.parent / "shared"))
    if not folder.is_dir():
        pytest.skip("no shared reference data: set PRISM_SHARED to its folder")
    return folder
