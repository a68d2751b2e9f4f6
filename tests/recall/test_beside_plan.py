"""How much is read to find what stands beside the best candidates."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pytest_django import DjangoDbBlocker

from prism_memory.types import SourceRef
from tests.capture import captured
from tests.db.asking import ask
from tests.factories import make_memory, make_scope, remember
from tests.kept import kept
from tests.recall.test_plans import check_nothing_is_read_whole, plan, ran, scans
from tests.recall.worded import common_beyond, recall_statements

pytestmark = pytest.mark.django_db

MANY = 20_000

BULK = """
INSERT INTO prism_memory_record
       (id, tenant, scope_id, kind, tier, namespace, partition, key, text, language,
        sha256, uses, metadata, trust, writer, consent_source, consent_scope, visible,
        gate, gate_reason, gate_markers, created_at, version, source_id, ordinal)
SELECT gen_random_uuid(), tenant, scope_id, kind, '', '', '', 'turn ' || number,
       'turn ' || number, language, sha256, 1, '{}', trust, writer, consent_source,
       consent_scope, visible, 'open', '', '[]', created_at, 1, source_id,
       %s * number
  FROM prism_memory_record, generate_series(1, %s) AS number
 WHERE tenant = 'acme' AND text = 'turn 0'
"""

OWN = make_scope(owner="vera")


@pytest.fixture(scope="module")
def step(
    request: pytest.FixtureRequest,
    django_db_setup: None,
    django_db_blocker: DjangoDbBlocker,
) -> Iterator[int]:
    """20,000 turns of one source, and how far each stands from the next."""
    with kept(django_db_blocker):
        remember("turn 0", source=SourceRef("chat", 0), scope=OWN)
        ask(BULK, request.param, MANY)
        yield request.param


STEPS = pytest.mark.parametrize(
    "step", [1, 0], ids=["one of each", "all at one place"], indirect=True
)


@pytest.mark.parametrize("generic", [False, True], ids=["own", "generic"])
@pytest.mark.parametrize("known", [False, True], ids=["never analyzed", "analyzed"])
@STEPS
def test_neighbours_are_looked_up_one_by_one(
    step: int, *, known: bool, generic: bool
) -> None:
    """B166: of 20,000 turns of one source, those beside the best; whatever is known."""
    if known:
        ask("ANALYZE prism_memory_record")
    memory = make_memory(OWN)
    with captured() as seen:
        found = memory.recall("77", 5, legs="text")
    (sent,) = recall_statements(seen.statements)

    text = plan(*sent, generic=generic)

    assert found[0].text == "turn 77"
    beside = {hit.text for hit in found} - {"turn 77"}
    assert len(beside) == (2 if step else 0)
    assert ran(text, "prism_memory_record_stream"), text
    check_nothing_is_read_whole(text)
    looked = [one for one in scans(text) if "prism_memory_record_stream" in one.what]
    assert all(scan.rows <= 4 for scan in looked), text


@pytest.mark.parametrize("step", [1], indirect=True)
@pytest.mark.parametrize("generic", [False, True], ids=["own", "generic"])
def test_before_the_first_analysis_common_words_read_no_table_whole(
    step: int, *, generic: bool
) -> None:
    memory = make_memory(OWN)
    with common_beyond(1_000):
        memory.recall("turn", 5, legs="text")
        with captured() as seen:
            found = memory.recall("turn", 5, legs="text")
        (sent,) = recall_statements(seen.statements)
        text = plan(*sent, generic=generic)

    assert found.bounded
    check_nothing_is_read_whole(text)
