"""B80, B287: a read writes nothing, and runs where nothing can be written."""

from __future__ import annotations

import hashlib
import inspect
import re
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

import pytest
from celery import current_app
from django.db import InternalError, connection, transaction
from psycopg import sql

from prism_memory import backends, indexing, lifecycle, tasks
from prism_memory.memory import Memory
from prism_memory.models import EmbeddingSpace
from prism_memory.types import Entry, Kind, Origin, ReadMode, SourceRef, Trust
from tests.db.asking import ask
from tests.factories import NOON, make_memory, make_scope, make_trace
from tests.tables import table_names

pytestmark = pytest.mark.django_db(transaction=True)

Reads = Mapping[str, Callable[[Memory, Any], Any]]

READS: Final[Reads] = {
    "recall": lambda memory, _: memory.recall("Who drinks tea?"),
    "recall by vectors": lambda memory, _: memory.recall("tea", legs="vector"),
    "recall by words": lambda memory, _: memory.recall("tea", legs="text"),
    "recall, narrowed": lambda memory, i: memory.recall(
        "tea", ids=[i], filter={"n": 1}, namespaces=[""], kinds=[Kind.ENTRY]
    ),
    "recall, all of it": lambda memory, _: memory.recall(
        "tea",
        legs=["vector", "text", "recency"],
        tags=["food"],
        decay_days=30,
        diversity=0.5,
        message_range=2,
        explain=True,
        deadline_seconds=60,
        reinforce=True,
    ),
    "recall, over entities": lambda memory, _: memory.recall(
        "tea", expand_hops=2, entity_match=True
    ),
    "entities": lambda memory, _: memory.entities(),
    "facts": lambda memory, _: memory.facts("Ada", unaccepted=True, known_at=NOON),
    "facts, their chains": lambda memory, _: [
        (memory.facts.get(fact.id), memory.facts.history(fact.id))
        for fact in memory.facts("Ada")
    ],
    "facts, their times": lambda memory, _: memory.facts.timeline("Ada"),
    "facts, in conflict": lambda memory, _: memory.facts.conflicts(),
    "recall, shared": lambda memory, _: memory.recall(
        "tea", share_from_parent_thread_id="sharing", explain=True
    ),
    "deep_recall": lambda memory, _: memory.deep_recall("tea", force_hard=True),
    "neighbors": lambda memory, _: memory.neighbors("tea"),
    "recall of nothing": lambda memory, _: memory.recall("tea", top_k=0),
    "list": lambda memory, _: memory.list(),
    "list, on": lambda memory, _: memory.list(
        limit=1, cursor=memory.list(limit=1).next_cursor
    ),
    "get": lambda memory, i: memory.get(i),
    "pending": lambda memory, _: memory.pending(),
    "consent_history": lambda memory, i: memory.consent_history(i),
    "shares": lambda memory, _: memory.shares(),
    "holds": lambda memory, _: memory.holds(),
    "tombstones": lambda memory, _: memory.tombstones(),
    "invalidated_ids": lambda memory, _: memory.invalidated_ids(),
    "erasures": lambda memory, _: memory.erasures(),
    "foresee_erasure": lambda memory, _: memory.foresee_erasure(),
}


WRITES: Final = {
    *("remember", "set_consent", "correct", "share_with", "revoke_share"),
    *("hold", "release", "forget", "forget_thread", "propagate_deletion"),
    *("release_forgotten", "erase", "start_erasure", "apply_retention"),
    *("start_export", "delete_export", "rebuild_index", "quarantine", "validate"),
}

OF_RUNS: Final = {"erasure_state", "export_state", "open_export", "export_memory"}
"""Looks at what was begun before, or noted in the audit: tested with it."""

GOVERNED: Final = {
    "prism_memory_auditseal",
    "prism_memory_consentgrant",
    "prism_memory_erasurereceipt",
    "prism_memory_legalhold",
    "prism_memory_manifestblock",
    "prism_memory_retentionpolicy",
}
"""What verbs have tables for, and no read looks for rows of its own in."""


@pytest.fixture(autouse=True)
def _only_the_read_could_write(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Traces are on, but no message leaves, so no worker does anything meanwhile."""
    wish = {"WAKE": False, "TRACES": "on"}
    settings.PRISM_MEMORY = settings.PRISM_MEMORY | wish
    monkeypatch.setattr(tasks.sender, "post", lambda _message: None)


@pytest.fixture
def memory(_only_the_read_could_write: None) -> Memory:
    """Rows in every table: indexed and pending, with lineage, traces and strength."""
    memory = make_memory()
    turn = Entry("Ada drinks tea.", metadata={"n": 1}, source=SourceRef("chat", 1))
    ids = memory.remember([turn, "Tea."], wait=True).accepted
    make_memory(make_scope(thread="")).remember("Everyone here drinks tea.")
    memory.remember("Still without a vector: tea.")
    sharing = make_memory(make_scope(thread="sharing"))
    sharing.share_with("chat-1", sharing.remember("Tea is shared.").accepted)
    claim(memory, ids[0])
    lifecycle.write_trace(using="default", trace=make_trace(*ids))
    lifecycle.reinforce(
        using="default", tenant="acme", ids=ids, query_sha256=bytes(32), at=NOON
    )
    return memory


def claim(memory: Memory, record_id: uuid.UUID) -> None:
    """Facts, one of which waits; what was decided about one; and a merge of names."""
    facts = memory.facts
    facts.assert_fact("Ada", "drinks", "tea", evidence=[record_id])
    facts.remember("Ada lives in Porto")
    tools = make_memory(origin=Origin(Trust.TOOL, "crm"))
    heard = tools.remember("CRM: she likes cake.").accepted
    tools.facts.assert_fact("Ada", "likes", "cake", evidence=heard)
    first, second = memory.entities().items[:2]
    memory.entities.merge(first.id, second.id)


@pytest.fixture
def eager() -> Iterator[None]:
    """Celery runs tasks in this process, at once."""
    current_app.conf.task_always_eager = True
    yield
    current_app.conf.task_always_eager = False


def digests() -> dict[str, str]:
    """Return a digest of each table: of all rows, and of who wrote them when."""
    return {name: _digest(name) for name in table_names()}


def _digest(table: str) -> str:
    query = sql.SQL("SELECT ctid::text, xmin::text, t::text FROM {} AS t").format(
        sql.Identifier(table)
    )
    rows = sorted(ask(query.as_string(None)))
    return hashlib.sha256(repr(rows).encode()).hexdigest()


@contextmanager
def read_only() -> Iterator[None]:
    with transaction.atomic():
        ask("SET TRANSACTION READ ONLY")
        yield


def test_every_read_of_a_memory_is_tried_below() -> None:
    methods = {n for n in vars(Memory) if not n.startswith("_")}
    plain = {n for n in methods if not inspect.iscoroutinefunction(getattr(Memory, n))}
    tried = {re.split("[ ,]", name)[0] for name in READS}
    assert plain - WRITES - OF_RUNS == tried


@pytest.mark.parametrize("mode", [*ReadMode])
@pytest.mark.parametrize("read", READS)
def test_a_read_works_in_a_read_only_transaction_and_writes_nothing(
    memory: Memory, read: str, mode: ReadMode
) -> None:
    """B80, B287."""
    reader = make_memory(read=mode)
    record_id = memory.list()[0].id
    before = digests()
    with read_only():
        inside = READS[read](reader, record_id)
    assert READS[read](reader, record_id) == inside
    assert digests() == before


def test_recall_through_the_index_writes_nothing(memory: Memory, settings: Any) -> None:
    """B80, B287: another statement, with settings of its own."""
    EmbeddingSpace.objects.update(index_mode="hnsw")
    settings.PRISM_MEMORY = settings.PRISM_MEMORY | {"EXACT_SCAN_ROWS": 0}
    identity = backends.get_embedder().identity
    own: dict[str, Any] = {"using": "default", "alias": "default"}
    indexing.known_space(**own, identity=identity, fresh=True)
    before = digests()
    with read_only():
        assert memory.recall("tea", legs="vector")
    assert digests() == before


def test_a_read_writes_nothing_with_eager_tasks_either(
    memory: Memory, eager: None
) -> None:
    """B431: what it leaves behind comes after the host's commit."""
    before = digests()
    with read_only():
        memory.recall("tea")
        assert digests() == before


def test_the_digests_see_a_write(memory: Memory) -> None:
    """Else the tests above could not fail."""
    before = digests()
    ask("UPDATE prism_memory_record SET uses = uses")
    changed = {name for name, digest in digests().items() if digest != before[name]}
    assert changed == {"prism_memory_record"}


def test_a_read_only_transaction_refuses_a_write(memory: Memory) -> None:
    with pytest.raises(InternalError, match="read-only"), read_only():
        memory.remember("A write.")
    assert connection.get_autocommit()


def test_every_table_has_a_row_to_be_written(memory: Memory) -> None:
    empty = {name for name in table_names() if not ask(f"SELECT 1 FROM {name}")}  # noqa: S608
    assert empty <= {
        "prism_memory_accesskey",
        "prism_memory_auditevent",
        "prism_memory_lineageedge",
        "prism_memory_reading",
        "prism_memory_run",
        "prism_memory_tombstone",
        "prism_memory_vectorcopy",
        *GOVERNED,
    }
