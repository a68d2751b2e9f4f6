"""Work that something ends early says so: none stays "running" without a worker."""

from __future__ import annotations

from importlib import import_module
from typing import Any
from unittest.mock import Mock

import pytest
from django.db import OperationalError
from django.utils import timezone

from prism_memory import indexing, lifecycle
from prism_memory.errors import Misconfigured
from prism_memory.management import building
from prism_memory.models import Run
from prism_memory.types import Actor
from tests.factories import remember
from tests.indexing.conftest import space
from tests.indexing.two_spaces import building as new_space
from tests.indexing.two_spaces import configure

pytestmark = pytest.mark.django_db

ENDS = [
    (KeyboardInterrupt(), "cancelled", ""),
    (OperationalError("words of a server"), "failed", "OperationalError"),
    (Misconfigured("No such entry."), "failed", "misconfigured: No such entry."),
]


def _rebuild(raises: Any) -> None:
    indexing.rebuild(
        using="default",
        tenant="acme",
        space=space(),
        embed=raises,
        rows=1,
        actor=Actor(),
    )


def _fill(raises: Any) -> None:
    indexing.fill(
        using="default",
        tenant="acme",
        space=new_space(),
        embed=raises,
        rows=1,
        actor=Actor(),
    )


def _index(raises: Any) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(indexing, "create_index", raises)
        building.build_index(
            using="default",
            space=space(),
            m=None,
            ef_construction=None,
            memory_megabytes=64,
        )


def _situate(raises: Any) -> None:
    with pytest.MonkeyPatch.context() as patch:
        module = import_module("prism_memory.lifecycle.resituate")
        patch.setattr(module, "_page", raises)
        lifecycle.resituate(
            using="default", tenant="acme", actor=Actor(), at=timezone.now()
        )


@pytest.mark.parametrize("work", [_rebuild, _fill, _index, _situate])
def test_a_run_says_how_it_ended(work: Any, settings: Any) -> None:
    configure(settings)
    remember("one", wait=True)
    for error, state, said in ENDS:
        with pytest.raises(type(error)):
            work(Mock(side_effect=error))
        run = Run.objects.get()
        assert (run.state, run.error) == (state, said)
