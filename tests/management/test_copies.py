"""``prism_memory_copies``: what an external index holds, lacks, and held."""

from __future__ import annotations

from typing import Any

import pytest

from prism_memory.models import VectorCopy
from tests.factories import make_scope, remember
from tests.indexes import WATCHED, chosen, watched

COMMAND = "prism_memory_copies"

pytestmark = pytest.mark.django_db


def test_the_life_of_an_index(run: Any) -> None:
    assert run(COMMAND, "status").out == "No external index holds anything.\n"
    with chosen(WATCHED):
        ids = remember("one", "two", wait=True)
        remember("three", scope=make_scope(tenant="other"), wait=True)
        told = "watched: 3 held, 0 to be copied, 0 to be deleted\n"
        assert run(COMMAND, "status").out == told

        VectorCopy.objects.filter(tenant="acme", record_id__in=ids).delete()
        watched().lose()
        result = run(COMMAND, "compare", "--tenant", "acme", "--json")
        assert (result.code, result.json) == (
            0,
            {"off": 2, "copied": 2, "removed": 0},
        )
        assert watched().held() == {*ids}
    assert run(COMMAND, "forget", "watched", "--tenant", "acme").code == 0
    assert run(COMMAND, "status", "--json").json == {"watched": {"held": 1}}


def test_a_comparison_fails_aloud(run: Any) -> None:
    result = run(COMMAND, "compare")
    assert (result.code, "VECTOR_INDEX" in result.message) == (1, True)
    with chosen(WATCHED):
        watched().down = True
        remember("one", wait=True)
        result = run(COMMAND, "compare")
    assert (result.code, "It is down." in result.message) == (1, True)
