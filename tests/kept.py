"""Rows that all tests of a module look at, written once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import transaction
from pytest_django import DjangoDbBlocker

from tests.tables import make_fresh


@contextmanager
def kept(blocker: DjangoDbBlocker) -> Iterator[None]:
    """Keep what is written in the block until it ends, then undo it.

    For a fixture of a module. Each of its tests runs in a savepoint, so that what one
    changes no other sees; a test of real commits is none for such a module.
    """
    with blocker.unblock(), undone():
        make_fresh()
        yield


@contextmanager
def undone() -> Iterator[None]:
    """Undo what is written in the block, whose verbs think they commit.

    For tests that try many things over one costly start.
    """
    around = transaction.atomic()
    # As of Django's own TestCase: no transaction of a host's.
    vars(around)["_from_testcase"] = True
    with around:
        yield
        transaction.set_rollback(True)
