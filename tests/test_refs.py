"""Refs, and the invariant on what was injected: values, without a database."""

from __future__ import annotations

import re
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prism_memory import revoked_ids_absent
from prism_memory.types import REF_PATTERN, record_ids, record_ref


@given(st.uuids())
def test_a_ref_of_a_record_is_one_and_names_it(record_id: uuid.UUID) -> None:
    ref = record_ref(record_id)
    assert re.search(REF_PATTERN, ref)
    assert record_ids([ref, f"ext:{record_id}:a"]) == {record_id}


@given(st.sets(st.uuids()), st.sets(st.uuids()))
def test_nothing_denied_was_injected_or_it_is_zero(
    injected: set[uuid.UUID], denied: set[uuid.UUID]
) -> None:
    """B168."""
    told = revoked_ids_absent(injected, map(record_ref, denied))
    assert told.score == (0 if injected & denied else 1)
    assert told.found == tuple(sorted(map(record_ref, injected & denied)))
    assert told.invariant is True


@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("prefix", ["", "record:"])
def test_however_an_id_is_written_it_is_that_record(prefix: str, upper: bool) -> None:
    """B168: else a spelling would hide what was injected."""
    one = uuid.uuid4()
    text = str(one).upper() if upper else str(one)
    assert revoked_ids_absent([one], [prefix + text]).score == 0
    assert revoked_ids_absent([prefix + text], [one]).score == 0


def test_refs_from_outside_are_compared_as_they_are() -> None:
    """B168."""
    scope = uuid.uuid4()
    refs = [f"ext:{scope}:a", f"ext:{scope}:b"]
    assert revoked_ids_absent(refs[:1], refs[1:]).score == 1
    assert revoked_ids_absent(refs, refs[1:]).found == (refs[1],)


def test_one_zero_is_zero() -> None:
    """B168: it is an invariant, never averaged with the rest."""
    bad = uuid.uuid4()
    many = [uuid.uuid4() for _ in range(999)]
    assert revoked_ids_absent([*many, bad], [bad]).score == 0
