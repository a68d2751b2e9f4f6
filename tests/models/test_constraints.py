"""Truth that holds whatever the code does: each check, by a statement it refuses."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import pytest
from django.db import DataError, IntegrityError, transaction
from hypothesis import given
from hypothesis import strategies as st

from prism_memory import lifecycle
from prism_memory.models import (
    AccessKey,
    AuditEvent,
    AuditSeal,
    ConsentGrant,
    Embedding,
    EmbeddingSpace,
    ErasureReceipt,
    LegalHold,
    LineageEdge,
    ManifestBlock,
    RecallTrace,
    ReinforcedQuery,
    Reinforcement,
    RetentionPolicy,
    Run,
    ShareGrant,
    ShareGrantItem,
    Source,
    SourceAccess,
    Tombstone,
    VectorCopy,
)
from prism_memory.types import SourceRef
from tests.db.asking import ask, refused_by
from tests.factories import (
    NOON,
    make_edge,
    make_record,
    make_scope,
    make_tombstone,
    make_trace,
    remember_one,
)
from tests.governed import make_governed, make_seal, make_share

pytestmark = pytest.mark.django_db

LONG: Final = "x" * 257

NOBODY: Final = "00000000-0000-0000-0000-00000000000"
OUTSIDE: Final = f"ext:{NOBODY}0:outside"
BAD_REFS: Final = [
    "",
    "record:",
    "record:7",
    f"record:{NOBODY}",
    f"record:{NOBODY}A",
    f"record:{NOBODY}0 ",
    f" record:{NOBODY}0",
    f"Record:{NOBODY}0",
    f"{NOBODY}0",
    f"ext:{NOBODY}0",
    f"ext:{NOBODY}0:",
    "ext:somewhere:a",
]
"""B164: refs that name nothing. Other spellings of a UUID too, which would be another
thing than the one that is blocked."""


class Column(str):
    """What stands in another column of the same row."""

    __slots__ = ()


CHECKS: Final[dict[str, list[tuple[str, str, Any]]]] = {
    "tenant_named": [("tenant", "name", "")],
    "tenant_name_bytes": [("tenant", "name", LONG)],
    "scope_tenant_named": [("scope", "tenant", "")],
    "scope_tenant_bytes": [("scope", "tenant", LONG)],
    "scope_owner_bytes": [("scope", "owner", "é" * 129)],
    "scope_agent_bytes": [("scope", "agent", LONG)],
    "scope_thread_bytes": [("scope", "thread", LONG)],
    "scope_owner_first": [("scope", "owner", "")],
    "scope_generation_not_negative": [("scope", "current_generation", -1)],
    "tombstone_tenant_named": [("tombstone", "tenant", "")],
    "tombstone_tenant_bytes": [("tombstone", "tenant", LONG)],
    "run_tenant_bytes": [("run", "tenant", LONG)],
    "run_target_bytes": [("run", "target", LONG)],
    "audit_tenant_bytes": [("auditevent", "tenant", LONG)],
    "access_key_trust": [("accesskey", "trust", "root")],
    "access_key_tenant_bytes": [("accesskey", "tenant", LONG)],
    "access_key_owner_bytes": [("accesskey", "owner", LONG)],
    "access_key_agent_bytes": [("accesskey", "agent", LONG)],
    "access_key_thread_bytes": [("accesskey", "thread", LONG)],
    "source_key_bytes": [("source", "key", LONG)],
    "source_trust": [("source", "trust", "root"), ("source", "trust", "")],
    "source_kind": [("source", "kind", "book")],
    "source_calendar": [
        ("source", "ingested_at", "infinity"),
        ("source", "retired_at", "-infinity"),
    ],
    "source_state": [("source", "state", "gone")],
    "source_ingestion": [("source", "ingestion", "lost")],
    "record_key_bytes": [("record", "key", "é" * 129)],
    "record_namespace_bytes": [("record", "namespace", LONG)],
    "record_partition_bytes": [("record", "partition", LONG)],
    "record_kind": [("record", "kind", "secret"), ("record", "kind", "")],
    "record_tier": [("record", "tier", "working")],
    "record_trust": [("record", "trust", "admin"), ("record", "trust", "")],
    "record_gate": [("record", "gate", ""), ("record", "gate", "closed")],
    "record_language": [("record", "language", "klingon")],
    "record_calendar": [
        ("record", "happened_at", "infinity"),
        ("record", "created_at", "-infinity"),
        ("record", "changed_at", "10000-01-01T00:00:00Z"),
        ("record", "granted_at", "20000-01-01T00:00:00Z"),
        ("record", "revoked_at", "0001-01-01T00:00:00Z BC"),
        ("record", "retired_at", "infinity"),
        ("record", "expires_at", "infinity"),
        ("record", "valid_from", "-infinity"),
        ("record", "valid_to", "infinity"),
    ],
    "record_importance": [
        ("record", "importance", -0.001),
        ("record", "importance", 1.001),
        ("record", "importance", float("nan")),
        ("record", "importance", float("inf")),
    ],
    "record_uses": [("record", "uses", 0)],
    "record_validity": [("record", "valid_to", NOON)],
    "record_chunk_has_source": [("record", "kind", "chunk")],
    "lineage_position": [
        ("lineageedge", "position", -1),
        ("lineageedge", "position", 32),
    ],
    "lineage_ref": [("lineageedge", "source_ref", ref) for ref in BAD_REFS],
    "tombstone_target_ref": [("tombstone", "target_ref", ref) for ref in BAD_REFS],
    "tombstone_root_ref": [("tombstone", "root_ref", ref) for ref in BAD_REFS],
    "tombstone_reason": [("tombstone", "reason", "bored")],
    "tombstone_hold": [("tombstone", "reason", "legal_hold")],
    "space_dimensions": [
        ("embeddingspace", "dimensions", 0),
        ("embeddingspace", "dimensions", 4_001),
    ],
    "space_metric": [("embeddingspace", "metric", "l2")],
    "space_state": [("embeddingspace", "state", "")],
    "space_index_mode": [("embeddingspace", "index_mode", "ivfflat")],
    "embedding_unit": [
        ("embedding", "vector", "[0,0,0]"),
        ("embedding", "vector", "[0.5,0.5]"),
        ("embedding", "vector", "[1,1]"),
        ("embedding", "vector", f"[1{',0' * 4_000}]"),
    ],
    "access_key_tenant_named": [("accesskey", "tenant", "")],
    "access_key_owner_first": [("accesskey", "owner", "")],
    "access_key_principal_first": [("accesskey", "groups", ["hr"])],
    "access_key_principal_bytes": [("accesskey", "principal", LONG)],
    "sourceaccess_one_of_both": [
        ("sourceaccess", "principal", ""),
        ("sourceaccess", "group_name", "hr"),
    ],
    "sourceaccess_version": [("sourceaccess", "access_version", 0)],
    "sourceaccess_principal_bytes": [("sourceaccess", "principal", LONG)],
    "sourceaccess_group_bytes": [("sourceaccess", "group_name", LONG)],
    "access_key_permissions": [
        ("accesskey", "permissions", []),
        ("accesskey", "permissions", ["read", "root"]),
    ],
    "run_state": [("run", "state", "paused")],
    "copy_tenant_named": [("vectorcopy", "tenant", "")],
    "copy_tenant_bytes": [("vectorcopy", "tenant", LONG)],
    "copy_index_bytes": [("vectorcopy", "index", LONG)],
    "copy_state": [("vectorcopy", "state", "lost")],
    "trace_tenant_named": [("recalltrace", "tenant", "")],
    "trace_owner_first": [("recalltrace", "owner", "")],
    "trace_tenant_bytes": [("recalltrace", "tenant", LONG)],
    "trace_owner_bytes": [("recalltrace", "owner", LONG)],
    "trace_agent_bytes": [("recalltrace", "agent", LONG)],
    "trace_thread_bytes": [("recalltrace", "thread", LONG)],
    "trace_mode": [("recalltrace", "mode", "subtree")],
    "trace_query_bytes": [("recalltrace", "query_sha256", b"tea")],
    "reinforcement_strength": [
        ("reinforcement", "strength", -0.1),
        ("reinforcement", "strength", 2.1),
        ("reinforcement", "strength", float("nan")),
    ],
    "reinforcement_recalls": [("reinforcement", "recalls", -1)],
    "reinforcedquery_query_bytes": [("reinforcedquery", "query_sha256", b"tea")],
    "consent_source": [("consentgrant", "source", "rumour")],
    "consent_label": [("consentgrant", "label", "world")],
    "hold_tenant_named": [("legalhold", "tenant", "")],
    "hold_tenant_bytes": [("legalhold", "tenant", LONG)],
    "hold_matter_bytes": [("legalhold", "matter", LONG)],
    "hold_level": [("legalhold", "level", "owner")],
    "hold_names_of_scope": [
        ("legalhold", "level", "record"),
        ("legalhold", "level", "source"),
    ],
    "hold_owner_first": [("legalhold", "owner", "")],
    "hold_target_ref": [("legalhold", "target_ref", ref) for ref in BAD_REFS],
    "share_of_two": [("sharegrant", "child_id", make_scope().id)],
    "share_owner_named": [("sharegrant", "owner", "")],
    "shareitem_position": [
        ("sharegrantitem", "position", -1),
        ("sharegrantitem", "position", 32),
    ],
    "retention_tenant_named": [("retentionpolicy", "tenant", "")],
    "retention_tenant_bytes": [("retentionpolicy", "tenant", LONG)],
    "retention_name_bytes": [("retentionpolicy", "name", LONG)],
    "retention_level": [("retentionpolicy", "level", "world")],
    "retention_kind": [("retentionpolicy", "kind", "secret")],
    "retention_tier": [("retentionpolicy", "tier", "working")],
    "retention_not_negative": [
        ("retentionpolicy", "max_age_days", -1),
        ("retentionpolicy", "max_entries", -1),
    ],
    "retention_says_something": [("retentionpolicy", "max_age_days", None)],
    "receipt_tenant_named": [("erasurereceipt", "tenant", "")],
    "receipt_tenant_bytes": [("erasurereceipt", "tenant", LONG)],
    "receipt_level": [("erasurereceipt", "level", "world")],
    "fact_is_its_record": [("fact", "record_id", f"{NOBODY}0")],
    "fact_key_bytes": [("fact", "key", LONG)],
    "fact_subject_bytes": [("fact", "subject", LONG)],
    "fact_folded_bytes": [("fact", "folded_subject", LONG)],
    "fact_predicate_bytes": [("fact", "predicate", LONG)],
    "fact_provenance": [("fact", "provenance", "rumour")],
    "fact_principal": [("fact", "principal", ""), ("fact", "principal", "mallory")],
    "fact_sensitivity": [("fact", "sensitivity", "")],
    "fact_closing": [("fact", "closing", "bored")],
    "fact_closed_for_a_reason": [
        ("fact", "closed_at", None),
        ("fact", "closing", ""),
    ],
    "fact_confidence": [
        ("fact", "confidence", -0.001),
        ("fact", "confidence", 1.001),
        ("fact", "confidence", float("nan")),
    ],
    "factversion_acceptance": [("factversion", "acceptance", "")],
    "factversion_gate": [("factversion", "gate", "closed")],
    "factversion_cause": [("factversion", "cause", "")],
    "factversion_valid": [("factversion", "valid_to", NOON)],
    "factversion_recorded": [("factversion", "recorded_to", NOON)],
    "factversion_calendar": [
        ("factversion", "valid_from", "-infinity"),
        ("factversion", "valid_to", "infinity"),
        ("factversion", "recorded_from", "0001-01-01T00:00:00Z BC"),
        ("factversion", "recorded_to", "10000-01-01T00:00:00Z"),
    ],
    "review_why": [("review", "why", "")],
    "review_decision": [("review", "decision", "perhaps")],
    "review_decided": [
        ("review", "decision", ""),
        ("review", "decided_at", None),
    ],
    "conflict_verdict": [("conflictdecision", "verdict", "")],
    "conflict_stage": [("conflictdecision", "stage", "")],
    "conflict_zone": [("conflictdecision", "zone", "warm")],
    "conflict_cosine": [
        ("conflictdecision", "similarity", -1.001),
        ("conflictdecision", "similarity", float("nan")),
    ],
    "evidence_of_another": [("evidence", "record_id", Column("fact_id"))],
    "merge_of_two": [("entitymerge", "into_id", Column("entity_id"))],
    "entity_not_into_itself": [("entity", "merged_into", Column("id"))],
    "entity_named": [("entity", "name", "")],
    "entity_name_bytes": [("entity", "name", LONG)],
    "entity_vector_of_a_space": [
        ("entity", "space_id", 1),
        ("entity", "vector", "[1,0]"),
    ],
    "mention_role": [("mention", "role", "")],
    "reading_tenant_bytes": [("reading", "tenant", LONG)],
    "manifest_tenant_named": [("manifestblock", "tenant", "")],
    "manifest_tenant_bytes": [("manifestblock", "tenant", LONG)],
    "manifest_bytes": [("manifestblock", "sha256", b"tea")],
    "seal_tenant_bytes": [("auditseal", "tenant", LONG)],
    "seal_counts": [("auditseal", "number", 0), ("auditseal", "events", -1)],
    "seal_digest_bytes": [("auditseal", "digest", b"tea")],
    "seal_previous_bytes": [("auditseal", "previous", b"")],
    "seal_sha256_bytes": [("auditseal", "sha256", bytes(33))],
}
"""By the check's name: table, column, and what it must not hold."""

CASES: Final = [(name, *case) for name, cases in CHECKS.items() for case in cases]


def one_row_in_each_table() -> None:
    record = make_record(valid_from=NOON)
    make_record("a turn", fields={"source": SourceRef("mail")})
    make_edge(record, OUTSIDE)
    make_tombstone(record)
    make_key()
    lifecycle.write_trace(using="default", trace=make_trace(record.id))
    lifecycle.reinforce(
        using="default",
        tenant="acme",
        ids=[record.id],
        query_sha256=bytes(32),
        at=NOON,
    )
    Run.objects.create(tenant="acme", kind="import", actor="system")
    AuditEvent.objects.create(
        tenant="acme", actor="system", action="test", target="nothing", at=NOON
    )
    VectorCopy.objects.create(
        tenant="acme",
        record_id=record.id,
        space_id=1,
        index="there",
        scope_id=record.scope_id,
        state="held",
    )
    make_governed(record)


def make_key(**changes: Any) -> AccessKey:
    given = {"label": "k", "sha256": b"x", "permissions": ["read"], **changes}
    levels = {"tenant": "acme", "owner": "ada", "agent": "support"}
    return AccessKey.objects.create(**levels | given)


@pytest.mark.parametrize("table", sorted({table for _, table, _, _ in CASES}))
def test_a_row_that_is_not_true_is_refused(table: str) -> None:
    """B16, B28, B98, B106, B109, B156."""
    one_row_in_each_table()
    for name, of, column, bad in CASES:
        if of == table:
            value, given = (
                (f'"{bad}"', []) if isinstance(bad, Column) else ("%s", [bad])
            )
            with refused_by(f"prism_memory_{name}"):
                ask(f'UPDATE prism_memory_{table} SET "{column}" = {value}', *given)  # noqa: S608


def test_every_check_of_the_database_is_tried_above() -> None:
    rows = ask(
        "SELECT conname FROM pg_constraint"
        " WHERE contype = 'c' AND conname LIKE 'prism_memory_%%'"
    )
    assert {name for (name,) in rows} == {f"prism_memory_{name}" for name in CHECKS}


@pytest.mark.parametrize("vector", ["[NaN,1]", "[Infinity,0]", "[-Infinity]", "[]"])
def test_a_vector_that_is_not_finite_is_none(vector: str) -> None:
    """B106: the type itself refuses it."""
    remember_one()
    with pytest.raises(DataError), transaction.atomic():
        ask("UPDATE prism_memory_embedding SET vector = %s", vector)


@pytest.mark.parametrize("dimensions", [1, 384, 4_000])
def test_a_unit_vector_of_up_to_4000_dimensions_is_kept(dimensions: int) -> None:
    """B109."""
    remember_one()
    vector = f"[1{',0' * (dimensions - 1)}]"
    ask("UPDATE prism_memory_embedding SET vector = %s", vector)
    ((kept,),) = ask("SELECT vector_dims(vector) FROM prism_memory_embedding")
    assert kept == dimensions


def test_a_blank_tenant_is_for_the_installations_own_runs_and_events_only() -> None:
    """B1, B28: everything else hangs on a scope, whose tenant has a name."""
    one_row_in_each_table()
    Run.objects.create(tenant="", kind="index", actor="system")
    for table in ("source", "record", "embedding", "lineageedge"):
        with pytest.raises(IntegrityError), transaction.atomic():
            ask(f"UPDATE prism_memory_{table} SET tenant = ''")  # noqa: S608


@contextmanager
def refused_as_duplicate() -> Iterator[None]:
    with pytest.raises(IntegrityError, match="duplicate key"), transaction.atomic():
        yield


def test_one_running_run_of_a_kind_and_target() -> None:
    given = {"tenant": "acme", "kind": "import", "target": "a.json", "actor": "system"}
    running = Run.objects.create(**given)
    for other in ({"kind": "export"}, {"target": "b.json"}, {"tenant": "globex"}):
        Run.objects.create(**given | other)
    Run.objects.create(**given, state="failed")
    with refused_by("prism_memory_run_one_running"):
        Run.objects.create(**given)
    Run.objects.filter(tenant="acme", id=running.id).update(state="done")
    Run.objects.create(**given)


def test_one_active_space_of_an_alias() -> None:
    given = {"provider": "p", "model": "m", "dimensions": 3}
    EmbeddingSpace.objects.create(alias="a", state="active", **given)
    EmbeddingSpace.objects.create(alias="b", state="active", **given)
    for state in ("building", "retired", "retired"):
        EmbeddingSpace.objects.create(alias="a", state=state, **given)
    with refused_by("prism_memory_space_one_active"):
        EmbeddingSpace.objects.create(alias="a", state="active", **given)


def test_one_tombstone_of_a_reason_until_it_is_lifted() -> None:
    record = make_record()
    make_tombstone(record, cleared_at=NOON)
    make_tombstone(record)
    make_tombstone(record, reason="revoked")
    make_tombstone(record, root_ref=f"record:{uuid.uuid4()}")
    with refused_by("prism_memory_tombstone_unique"):
        make_tombstone(record)


def test_a_legal_hold_holds() -> None:
    """B154."""
    record = make_record()
    with refused_by("prism_memory_tombstone_hold"):
        make_tombstone(record, reason="legal_hold")
    make_tombstone(record, reason="legal_hold", hold=True)


def test_one_hold_in_force_on_a_target_of_a_matter() -> None:
    make_governed(make_record())
    hold = LegalHold.objects.get(tenant="acme")
    same = {n: getattr(hold, n) for n in ("tenant", "level", "target_ref", "owner")}
    placed = {"placed_by": "system", "placed_at": NOON}
    LegalHold.objects.create(**same, **placed, matter="another case")
    LegalHold.objects.create(**same, **placed, released_at=NOON)
    with refused_by("prism_memory_hold_unique"):
        LegalHold.objects.create(**same, **placed)


def test_one_share_of_a_parent_with_a_child() -> None:
    """B179: it is replaced."""
    record = make_record()
    make_share(record)
    with refused_by("prism_memory_share_unique"):
        make_share(record)


def test_a_place_in_a_share_is_that_of_one_record() -> None:
    """B180: so that there are at most 32."""
    grant = make_share(make_record())
    row = {"tenant": "acme", "grant": grant, "position": 0}
    with refused_by("prism_memory_shareitem_place"):
        ShareGrantItem.objects.create(**row, record=make_record("another"))


def test_one_policy_of_a_name_and_one_seal_of_a_number() -> None:
    make_governed(make_record())
    given = {"tenant": "acme", "actor": "system", "expired": True}
    RetentionPolicy.objects.create(name="another", **given)
    with refused_by("prism_memory_retention_unique"):
        RetentionPolicy.objects.create(name="a year", **given)
    make_seal("acme", number=2)
    with refused_by("prism_memory_seal_unique"):
        make_seal("acme", number=2)


def test_a_record_is_derived_from_a_ref_once() -> None:
    record = make_record()
    make_edge(record, OUTSIDE)
    with refused_as_duplicate():
        make_edge(record, OUTSIDE, position=1)
    assert LineageEdge.objects.filter(tenant="acme").count() == 1


def test_a_name_is_unique_in_its_own_place_only() -> None:
    """B21: two tenants, two owners, two shelves may all say doc-1."""
    mine = remember_one(key="doc-1")
    others = [
        remember_one(key="doc-1", scope=make_scope(tenant="globex")),
        remember_one(key="doc-1", scope=make_scope(owner="bob")),
        remember_one(key="doc-1", namespace="shelf"),
        remember_one(key="doc-1", partition="session:1"),
        remember_one(key="doc-1", kind="note"),
    ]
    assert len({mine, *others}) == 6
    with refused_by("prism_memory_record_unique"):
        ask("UPDATE prism_memory_record SET namespace = '' WHERE namespace = 'shelf'")


def test_a_scope_has_one_row() -> None:
    remember_one()
    with refused_by("prism_memory_scope_unique"):
        ask(
            "INSERT INTO prism_memory_scope (id, tenant, owner, agent, thread, vectors,"
            " created_at) SELECT %s, tenant, owner, agent, thread, 0, now()"
            " FROM prism_memory_scope",
            uuid.uuid4(),
        )


def test_the_database_counts_the_sequence_unless_it_is_given() -> None:
    """B96."""
    first, second = make_record("a"), make_record("b")
    assert first.sequence < second.sequence
    assert make_record("c", fields={"sequence": -7}).sequence == -7
    with pytest.raises(IntegrityError, match="null value"), transaction.atomic():
        ask("UPDATE prism_memory_record SET sequence = NULL")


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=300))
def test_python_and_the_database_count_the_same_bytes(text: str) -> None:
    ((count,),) = ask("SELECT octet_length(%s)", text)
    assert count == len(text.encode())


def test_rows_name_themselves_without_their_text() -> None:
    """B503: what a log or an admin page may show."""
    one_row_in_each_table()
    record = make_record("the secret words", fields={"key": "k", "kind": "note"})
    scope = record.scope
    assert (str(record), str(scope)) == ("note k", "acme / ada / support / chat-1")
    assert str(Tombstone.objects.filter(tenant="acme").get()).startswith("forgotten ")
    assert str(Run.objects.filter(tenant="acme").get()) == "import"
    assert str(AccessKey.objects.get()) == "k"
    assert str(EmbeddingSpace.objects.get()).startswith("default: ")
    assert str(Source.objects.filter(tenant="acme").get()) == "mail"
    edge = LineageEdge.objects.filter(tenant="acme").get()
    assert str(edge) == f"{edge.record_id} from {OUTSIDE}"
    trace = RecallTrace.objects.filter(tenant="acme").get()
    assert str(trace) == f"recall {trace.id}"
    assert trace.scope == make_scope()
    counted = Reinforcement.objects.filter(tenant="acme").get()
    assert str(counted) == f"{counted.record_id} recalled 1 times"
    asked = ReinforcedQuery.objects.filter(tenant="acme").get()
    assert str(asked) == f"a question that recalled {counted.record_id}"
    vector = Embedding.objects.filter(tenant="acme", record_id=record.id).get()
    assert str(vector) == f"{record.id} in space {vector.space_id}"
    assert AccessKey.objects.get().scope == make_scope(thread="")
    assert str(LegalHold.objects.get(tenant="acme")).startswith("hold on scope:")
    assert str(RetentionPolicy.objects.get(tenant="acme")) == "a year"
    assert str(ErasureReceipt.objects.get(tenant="acme")).startswith(
        "erasure of scope:"
    )
    assert str(AuditSeal.objects.get(tenant="acme")) == "seal 1"
    assert str(ManifestBlock.objects.get(tenant="acme")) == "block 1"


def test_consents_and_shares_name_ids() -> None:
    """B503."""
    record = make_record("the secret words")
    make_governed(record)
    share = ShareGrant.objects.get(tenant="acme")
    assert str(share) == f"share of {share.parent_id} with {share.child_id}"
    given = SourceAccess.objects.get(tenant="acme")
    assert str(given) == f"ada reads {given.source_id}"
    item = ShareGrantItem.objects.get(tenant="acme")
    assert str(item) == f"{record.id} in {share.id}"
    assert str(ConsentGrant.objects.get(tenant="acme")) == f"consent for {record.id}"
