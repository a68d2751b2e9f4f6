"""B22: the tenant is in every statement of every public operation.

The operations are found by looking, so that a new one without a call here fails.
"""

from __future__ import annotations

import inspect
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest
from asgiref.sync import async_to_sync
from django.utils import timezone

import prism_memory
from prism_memory import audit, backends, indexing, lifecycle, runs
from prism_memory.access import Reader
from prism_memory.conf import Limits
from prism_memory.db.queries import named
from prism_memory.governance import erasure, exports
from prism_memory.lifecycle.entries import prepare
from prism_memory.memory import Memory
from prism_memory.models import EmbeddingSpace, Run
from prism_memory.models.choices import RunState
from prism_memory.redaction import Redaction
from prism_memory.types import (
    AccessGrant,
    Actor,
    Authorization,
    Consent,
    Derived,
    Entry,
    Grant,
    Lineage,
    Permission,
    Restored,
    SourceRef,
)
from prism_memory.types.findings import Finding
from tests.capture import Captured, tenant_in_every_statement, unnamed_tables
from tests.factories import ADA, make_memory, make_scope, make_trace, remember_one
from tests.governance.stored import storages
from tests.indexes import WATCHED, chosen

pytestmark = pytest.mark.django_db

TENANT: Final = "acme"
SYSTEM: Final = Actor()
EVERYTHING: Final[dict[str, Any]] = {
    "legs": ["vector", "text", "recency"],
    "tags": ["a"],
    "known_at": timezone.now(),
    "decay_days": 30,
    "diversity": 0.5,
    "expand_hops": 2,
    "entity_match": True,
    "message_range": 2,
    "explain": True,
    "deadline_seconds": 60,
    "reinforce": True,
}
GOVERNOR: Final = Grant(make_scope(), frozenset(Permission), ADA, SYSTEM)
READING_GOVERNOR: Final = replace(GOVERNOR, authorization=Authorization("ada"))
Calls = Mapping[str, Callable[[], object]]


def methods() -> set[str]:
    return {
        name
        for name, item in inspect.getmembers(Memory, inspect.isfunction)
        if not name.startswith("_")
    }


def memory_calls(memory: Memory, record_id: uuid.UUID) -> Calls:
    rich = Entry(
        "Ada moved to Porto.",
        key="rich",
        consent=Consent(),
        lineage=Lineage((f"record:{record_id}", "message-1")),
        source=SourceRef("mail-1"),
    )
    narrow: dict[str, Any] = {
        "kinds": ["entry"],
        "namespaces": [""],
        "filter": {"n": {"gt": 1}},
    }
    return {
        "remember": lambda: memory.remember("a"),
        "remember, rich": lambda: memory.remember([rich, "b"]),
        "remember, again": lambda: memory.remember([rich, "b"]),
        "remember, waiting": lambda: memory.remember("c", wait=True).done.now(),
        "get": lambda: memory.get(record_id),
        "list": memory.list,
        "list, narrowed": lambda: memory.list(limit=1, **narrow),
        "list, on": lambda: memory.list(cursor=memory.list(limit=1).next_cursor),
        "recall": lambda: memory.recall("tea"),
        "recall, vector": lambda: memory.recall("tea", legs="vector"),
        "recall, text": lambda: memory.recall("tea", legs="text"),
        "recall, narrowed": lambda: memory.recall("tea", ids=[record_id], **narrow),
        "recall, authorized": lambda: memory.recall(
            "tea", authorization=Authorization("ada", ["hr"])
        ),
        "recall, all of it": lambda: memory.recall("tea", **EVERYTHING),
        "deep_recall": lambda: memory.deep_recall("tea", force_hard=True),
        "neighbors": lambda: memory.neighbors("tea"),
        "pending": memory.pending,
        "rebuild_index": memory.rebuild_index,
        "arebuild_index": lambda: async_to_sync(memory.arebuild_index)(),
        "export_memory": lambda: memory.export_memory(memory.scope),
        "export_memory, on": lambda: memory.export_memory(
            memory.scope, cursor=memory.export_memory(memory.scope).next_cursor
        ),
        "set_consent": lambda: memory.set_consent(record_id, visible=False),
        "set_consent, again": lambda: memory.set_consent(record_id, visible=True),
        "share_with": lambda: memory.share_with("t", [record_id]),
        "revoke_share": lambda: shared(memory, record_id).revoke_share("t"),
        "shares": lambda: shared(memory, record_id).shares(),
        "recall, shared": lambda: make_memory(memory.scope.beside("t")).recall(
            "tea", share_from_parent_thread_id=shared(memory, record_id).scope.thread
        ),
        "set_current_generation": lambda: memory.set_current_generation(1),
        "generations": memory.generations,
        "aset_current_generation": lambda: async_to_sync(
            memory.aset_current_generation
        )(1),
        "agenerations": lambda: async_to_sync(memory.agenerations)(),
        "ashare_with": lambda: async_to_sync(memory.ashare_with)("t", [record_id]),
        "arevoke_share": lambda: async_to_sync(memory.arevoke_share)("t"),
        "ashares": lambda: async_to_sync(memory.ashares)(),
        "consent_history": lambda: memory.consent_history(record_id),
        "correct": lambda: memory.correct(record_id, "coffee"),
        "quarantine": lambda: memory.quarantine(record_id, reason="r"),
        "validate": lambda: closed(memory, record_id).validate(record_id),
        "aquarantine": lambda: async_to_sync(memory.aquarantine)(record_id, reason="r"),
        "avalidate": lambda: async_to_sync(memory.avalidate)(record_id),
        "aconsent_history": lambda: async_to_sync(memory.aconsent_history)(record_id),
        "acorrect": lambda: async_to_sync(memory.acorrect)(record_id, "coffee"),
        **forgetting_calls(memory, record_id),
        "aremember": lambda: async_to_sync(memory.aremember)("d"),
        "erase": lambda: memory.erase(record=record_id),
        "erase, a source": lambda: memory.erase(source="mail-1"),
        "start_erasure": memory.start_erasure,
        "erasure_state": lambda: memory.erasure_state(erased(memory)),
        "erasures": lambda: memory.erasures(limit=1),
        "foresee_erasure": memory.foresee_erasure,
        "aerase": lambda: async_to_sync(memory.aerase)(source="mail-1"),
        "astart_erasure": lambda: async_to_sync(memory.astart_erasure)(),
        "aerasure_state": lambda: async_to_sync(memory.aerasure_state)(erased(memory)),
        "aerasures": lambda: async_to_sync(memory.aerasures)(),
        "aforesee_erasure": lambda: async_to_sync(memory.aforesee_erasure)(),
        "aget": lambda: async_to_sync(memory.aget)(record_id),
        "alist": lambda: async_to_sync(memory.alist)(),
        "arecall": lambda: async_to_sync(memory.arecall)("tea"),
        "adeep_recall": lambda: async_to_sync(memory.adeep_recall)("tea"),
        "aneighbors": lambda: async_to_sync(memory.aneighbors)("tea"),
        "apending": lambda: async_to_sync(memory.apending)(),
        "apply_retention": lambda: memory.apply_retention(
            max_age_days=0, max_entries=0
        ),
        "aapply_retention": lambda: async_to_sync(memory.aapply_retention)(
            max_entries=0
        ),
        "start_export": memory.start_export,
        "export_state": lambda: memory.export_state(memory.start_export().id),
        "open_export": lambda: memory.open_export(exported(memory))[1].close(),
        "delete_export": lambda: memory.delete_export(exported(memory)),
        "astart_export": lambda: async_to_sync(memory.astart_export)(),
        "aexport_state": lambda: async_to_sync(memory.aexport_state)(exported(memory)),
        "aopen_export": lambda: async_to_sync(memory.aopen_export)(exported(memory))[
            1
        ].close(),
        "adelete_export": lambda: async_to_sync(memory.adelete_export)(
            exported(memory)
        ),
        "aexport_memory": lambda: async_to_sync(memory.aexport_memory)(memory.scope),
        "aset_consent": lambda: async_to_sync(memory.aset_consent)(
            record_id, visible=True
        ),
    }


def forgetting_calls(memory: Memory, record_id: uuid.UUID) -> Calls:
    """Calls of what deletes and keeps, each plain and asynchronous."""
    given: dict[str, Any] = {"by": GOVERNOR, "ids": record_id}

    def placed() -> uuid.UUID:
        return memory.hold(record=record_id, matter=str(uuid.uuid4())).id

    async def aplaced() -> uuid.UUID:
        return (await memory.ahold(matter=str(uuid.uuid4()))).id

    def run(method: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        return async_to_sync(method)(*args, **kwargs)

    return {
        "forget": lambda: memory.forget(record_id),
        "forget_thread": memory.forget_thread,
        "release_forgotten": lambda: memory.release_forgotten(record_id),
        "hold": placed,
        "release": lambda: memory.release(placed()),
        "holds": memory.holds,
        "invalidated_ids": memory.invalidated_ids,
        "tombstones": memory.tombstones,
        "propagate_deletion": lambda: memory.propagate_deletion(**given),
        "aforget": lambda: run(memory.aforget, record_id),
        "aforget_thread": lambda: run(memory.aforget_thread),
        "arelease_forgotten": lambda: run(memory.arelease_forgotten, record_id),
        "ahold": lambda: async_to_sync(aplaced)(),
        "arelease": lambda: run(memory.arelease, placed()),
        "aholds": lambda: run(memory.aholds),
        "ainvalidated_ids": lambda: run(memory.ainvalidated_ids),
        "atombstones": lambda: run(memory.atombstones),
        "apropagate_deletion": lambda: run(memory.apropagate_deletion, **given),
    }


def shared(memory: Memory, record_id: uuid.UUID) -> Memory:
    """Return the memory, once it shares the record."""
    memory.share_with("t", [record_id])
    return memory


def closed(memory: Memory, record_id: uuid.UUID) -> Memory:
    """Return the memory, once the record is quarantined."""
    memory.quarantine(record_id, reason="r")
    return memory


def erased(memory: Memory) -> uuid.UUID:
    """Erase all of a memory, and return the run's id."""
    run_id = memory.start_erasure().id
    erasure.resume_erasure(
        using=memory.using, tenant=memory.scope.tenant, run_id=run_id
    )
    return run_id


def exported(memory: Memory) -> uuid.UUID:
    """Export all of a memory, and return the run's id."""
    run_id = memory.start_export().id
    exports.carry_on(using=memory.using, tenant=memory.scope.tenant, run_id=run_id)
    return run_id


@pytest.fixture(autouse=True)
def _stored(settings: Any, tmp_path: Path) -> None:
    settings.STORAGES = storages(tmp_path)


def test_every_method_of_a_memory_is_called_below() -> None:
    """B22."""
    names = memory_calls(make_memory(), uuid.uuid4())
    assert {name.partition(",")[0] for name in names} == methods()


@pytest.mark.parametrize("call", memory_calls(make_memory(), uuid.uuid4()))
def test_a_method_of_a_memory_names_the_tenant(call: str) -> None:
    """B22."""
    memory, record_id = make_memory(), remember_one("tea", wait=True)
    with tenant_in_every_statement(TENANT) as seen:
        memory_calls(memory, record_id)[call]()
    assert seen.on_tenants()


def test_recall_through_the_index_names_the_tenant(settings: Any) -> None:
    """B22: another statement than the exact scan's."""
    remember_one("tea", wait=True)
    EmbeddingSpace.objects.update(index_mode="hnsw")
    settings.PRISM_MEMORY = settings.PRISM_MEMORY | {"EXACT_SCAN_ROWS": 0}
    indexing.known_space(
        using="default",
        alias="default",
        identity=backends.get_embedder().identity,
        fresh=True,
    )
    with tenant_in_every_statement(TENANT) as seen:
        assert [hit.text for hit in make_memory().recall("tea")] == ["tea"]
    assert any("vector::halfvec(" in sql for sql, _ in seen.statements)


def exercised(package: Any, calls: Calls, exempt: set[str]) -> set[str]:
    """Return the package's public functions that no call stands for."""
    functions = {n for n in package.__all__ if inspect.isfunction(getattr(package, n))}
    return functions - {name.partition(",")[0] for name in calls} - exempt


def lifecycle_calls(record_id: uuid.UUID) -> Calls:
    own: dict[str, Any] = {"using": "default", "scope": make_scope()}
    at = timezone.now()
    rows = prepare([Entry("a")], origin=ADA, limits=Limits(), redaction=Redaction())
    sharing = {**own, "actor": SYSTEM, "child": make_scope().beside("t"), "at": at}
    derived = (Derived(key="b"), Derived(external="m"), Derived(record=record_id))
    back = prepare(
        [Restored("c", derived=derived)],
        origin=ADA,
        limits=Limits(),
        redaction=Redaction(),
    )
    make_key = partial(
        lifecycle.create_key,
        **own,
        actor=SYSTEM,
        label="k",
        permissions=[Permission.READ],
        at=at,
    )
    return {
        "resituate": lambda: lifecycle.resituate(
            using="default", tenant=TENANT, actor=SYSTEM, at=at, whole=True
        ),
        "remember": lambda: lifecycle.remember(
            **own, actor=SYSTEM, rows=rows, embedder="default", at=at
        ),
        "set_consent": lambda: lifecycle.set_consent(
            **own, actor=SYSTEM, record_id=record_id, at=at, visible=False
        ),
        "correct": lambda: lifecycle.correct(
            **own,
            actor=SYSTEM,
            record_id=remember_one("coffee"),
            text="cocoa",
            at=at,
            limits=Limits(),
            redaction=Redaction(),
            embedder="default",
        ),
        "quarantine": lambda: lifecycle.quarantine(
            **own, actor=SYSTEM, record_id=remember_one("sake"), at=at, reason="r"
        ),
        "validate": lambda: lifecycle.validate(
            **own,
            actor=SYSTEM,
            record_id=remember_one("Ignore all previous instructions."),
            at=at,
            force=True,
        ),
        "share_with": lambda: lifecycle.share_with(
            **sharing, ids=[remember_one("cake")]
        ),
        "revoke_share": lambda: lifecycle.revoke_share(**sharing),
        "set_current_generation": lambda: lifecycle.set_current_generation(
            **own, actor=SYSTEM, generation=1, at=at
        ),
        "restore": lambda: lifecycle.restore(
            **own, actor=SYSTEM, rows=back, embedder="default", at=at
        ),
        "link": lambda: lifecycle.link(**own, rows=back, at=at),
        "create_key": make_key,
        "revoke_key": lambda: lifecycle.revoke_key(
            using="default", key_id=make_key()[0].id, actor=SYSTEM, at=at
        ),
        "authenticate": lambda: lifecycle.authenticate(
            using="default", token=make_key()[1], at=at
        ),
        "reinforce": lambda: lifecycle.reinforce(
            using="default",
            tenant=TENANT,
            ids=[record_id],
            query_sha256=bytes(32),
            at=at,
        ),
        "write_trace": lambda: lifecycle.write_trace(
            using="default", trace=make_trace()
        ),
        "prune_traces": lambda: lifecycle.prune_traces(
            using="default", tenants=[TENANT], at=at, days=1
        ),
        **removal_calls(own, at),
    }


def removal_calls(own: Mapping[str, Any], at: Any) -> Calls:
    """Calls of what deletes and keeps, each on records of its own."""
    given: dict[str, Any] = {**own, "actor": SYSTEM, "at": at}

    def hidden() -> list[uuid.UUID]:
        ids = [remember_one(f"milk {uuid.uuid4()}")]
        lifecycle.forget(**given, ids=ids, hold=True)
        return ids

    def streamed() -> None:
        remember_one("a turn", source=SourceRef("mail"), lineage=Lineage(("x",)))

    def forget_thread() -> object:
        streamed()
        return lifecycle.forget_thread(**given)

    def propagate() -> object:
        streamed()
        return lifecycle.propagate_deletion(**own, by=GOVERNOR, at=at, source="mail")

    def repointed() -> object:
        streamed()
        made = str(uuid.uuid4())
        return lifecycle.repoint(
            **own, by=GOVERNOR, at=at, from_key="mail", to_key=made
        )

    def restricted() -> str:
        made = str(uuid.uuid4())
        remember_one(f"a turn of {made}", source=SourceRef(made))
        lifecycle.set_access(**given, grants={made: [AccessGrant("ada")]})
        return made

    def propagate_restricted() -> object:
        return lifecycle.propagate_deletion(
            **own, by=READING_GOVERNOR, at=at, source=restricted()
        )

    return {
        "set_access": restricted,
        "propagate_deletion, restricted": propagate_restricted,
        "repoint": repointed,
        "forget": lambda: lifecycle.forget(**given, ids=[remember_one("rum")]),
        "forget, on hold": hidden,
        "release_forgotten": lambda: lifecycle.release_forgotten(**given, ids=hidden()),
        "release_forgotten, restored": lambda: lifecycle.release_forgotten(
            **given, ids=hidden(), restore=True
        ),
        "forget_thread": forget_thread,
        "propagate_deletion": propagate,
        "hold": lambda: lifecycle.hold(**given, record_id=remember_one("gin")),
        "release": lambda: lifecycle.release(
            **given, hold_id=lifecycle.hold(**given, matter="7").id
        ),
    }


def test_every_verb_names_the_tenant() -> None:
    """B22."""
    calls = lifecycle_calls(remember_one("tea"))
    assert not exercised(lifecycle, calls, set())
    watch(calls)


def watch(calls: Calls) -> None:
    for name, call in calls.items():
        with tenant_in_every_statement(TENANT) as seen:
            call()
        assert seen.on_tenants(), name


NO_TENANTS_ROWS: Final = {
    "active",
    "back_off_seconds",
    "create_index",
    "drop_index",
    "embeddable",
    "embedder_of",
    "find_active",
    "find_live",
    "in_host_transaction",
    "index_name",
    "index_state",
    "is_situated_otherwise",
    "known_space",
    "note_situate",
    "live",
    "random_tenant",
    "space_of",
    "refuse_while_built",
    "table_sizes",
    "tenants",
}
"""Arithmetic, the catalogue, and the global tables of tenants and spaces."""

MEASURED: Final = {"calibrate"}
"""Watched in ``tests/indexing/test_calibrate.py``: no transaction may be around it."""


def start_rebuild(space: indexing.Space) -> Run:
    at = timezone.now()
    return indexing.start_rebuild(
        using="default", tenant=TENANT, space=space, actor=SYSTEM, at=at
    )


OF_THE_INSTALLATION: Final = {
    "build_space",
    "drop_space",
    "reopen_space",
    "switched_lately",
    "switch_space",
    "follow_embedders",
}
"""They change the table of spaces, and ask tenant by tenant what stands above."""


def indexing_calls() -> Calls:
    identity = backends.get_embedder().identity
    space = indexing.active(using="default", alias="default", identity=identity)
    own: dict[str, Any] = {"using": "default", "tenant": TENANT, "space": space}
    embed = partial(backends.embed, backends.get_embedder(), role="passage")
    return {
        "pending": lambda: indexing.pending(
            using="default", space=space, scopes=[make_scope()]
        ),
        "pending_of_tenant": lambda: indexing.pending_of_tenant(**own),
        "held": lambda: indexing.held(**own),
        "is_waiting": lambda: indexing.is_waiting(**own),
        "waiting": lambda: [*indexing.waiting(using="default", spaces=[space])],
        "drain": lambda: indexing.drain(**own, embed=embed, batch=1),
        "embed_now": lambda: indexing.embed_now(
            using="default",
            tenant=TENANT,
            spaces=[space],
            record_ids=[uuid.uuid4()],
            batch=1,
            max_seconds=1,
        ),
        "enqueue_missing": lambda: indexing.enqueue_missing(**own),
        "retry_failed": lambda: indexing.retry_failed(**own),
        "recount": lambda: indexing.recount(**own),
        "examine": lambda: [*indexing.examine(using="default", tenants=[TENANT])],
        "cure": lambda: indexing.cure(using="default", finding=miscounted(space)),
        "requeue_stale": lambda: indexing.requeue_stale(**own),
        "behind": lambda: indexing.behind(**own, other=space),
        "compare_spaces": lambda: indexing.compare_spaces(
            using="default", tenant=TENANT, spaces=(space, space)
        ),
        "fill": lambda: indexing.fill(**own, embed=embed, rows=1, actor=SYSTEM),
        "start_fill": lambda: indexing.start_fill(
            **own, actor=SYSTEM, at=timezone.now()
        ),
        "resume_fill": lambda: indexing.resume_fill(
            using="default",
            tenant=TENANT,
            run_id=indexing.start_fill(**own, actor=SYSTEM, at=timezone.now()).id,
        ),
        "is_to_fill": lambda: indexing.is_to_fill(**own, other=space),
        "is_to_catch_up": lambda: indexing.is_to_catch_up(**own, since=timezone.now()),
        "stale": lambda: indexing.stale(**own),
        "fill_page": lambda: indexing.fill_page(
            queue=indexing.Queue("default", TENANT, space), embed=embed, rows=1
        ),
        "rebuild_page": lambda: indexing.rebuild_page(
            queue=indexing.Queue("default", TENANT, space), embed=embed, rows=1
        ),
        "rebuild": lambda: indexing.rebuild(**own, embed=embed, rows=1, actor=SYSTEM),
        "start_rebuild": lambda: start_rebuild(space),
        "resume_rebuild": lambda: indexing.resume_rebuild(
            using="default", tenant=TENANT, run_id=start_rebuild(space).id
        ),
    }


def copying_calls() -> Calls:
    """What is done for an external index, with one."""
    identity = backends.get_embedder().identity
    space = indexing.active(using="default", alias="default", identity=identity)
    own: dict[str, Any] = {"using": "default", "tenant": TENANT}

    def with_index(call: Callable[[], object]) -> Callable[[], object]:
        def asked() -> object:
            with chosen(WATCHED):
                remember_one(wait=True)
                make_memory().recall("tea")
                return call()

        return asked

    calls: Calls = {
        "copy": lambda: indexing.copy(**own, space=space),
        "reconcile": lambda: indexing.reconcile(**own, space=space),
        "tell_removed": lambda: indexing.tell_removed(**own),
        "count_copies": lambda: indexing.count_copies(**own),
        "count_gone": lambda: indexing.count_gone(**own),
        "forget_index": lambda: indexing.forget_index(**own, index="watched"),
    }
    return {name: with_index(call) for name, call in calls.items()}


def miscounted(space: indexing.Space) -> Finding:
    return Finding("counts_off", "", "", tenant=TENANT, space_id=space.id)


def test_the_queue_is_worked_tenant_by_tenant() -> None:
    """B22: work that spans tenants lists them first."""
    remember_one("tea")
    calls = {**indexing_calls(), **copying_calls()}
    assert not exercised(
        indexing, calls, NO_TENANTS_ROWS | MEASURED | OF_THE_INSTALLATION
    )
    watch(calls)


def test_what_is_said_to_touch_no_tenants_rows_does_not() -> None:
    remember_one("tea")
    identity = backends.get_embedder().identity
    own = {"using": "default", "alias": "default"}
    with tenant_in_every_statement(TENANT) as seen:
        space = indexing.active(**own, identity=identity)
        indexing.known_space(**own, identity=identity, fresh=True)
        indexing.index_state(using="default", space=space)
        indexing.refuse_while_built(using="default", space=space)
        indexing.table_sizes(using="default")
        assert [*indexing.tenants(using="default")] == [TENANT]
        assert indexing.random_tenant(using="default") == TENANT
    assert not seen.on_tenants()


def test_runs_and_audit_name_the_tenant() -> None:
    """B22."""
    at = timezone.now()
    with tenant_in_every_statement(TENANT):
        run = begin(at)
        runs.advance(run, using="default", cursor={"n": 1}, counts={"n": 1}, at=at)
        runs.finish(run, using="default", state=RunState.FAILED, at=at)
        again = begin(at)
        assert again.id == run.id
        own: dict[str, Any] = {"using": "default", "tenant": TENANT, "at": at}
        runs.expect(again, using="default", total=1, at=at)
        ticket = runs.rest(again, using="default", at=at)
        runs.take_up(**own, kind=run.kind, run_id=run.id, ticket=ticket)
        assert runs.left_alone(**own) == []
        runs.cancel(**own, run_id=run.id)
        given: dict[str, Any] = {"kind": "decay", "target": "", "actor": SYSTEM}
        waiting = runs.wait_for_worker(**own, **given)
        runs.cancel(**own, run_id=waiting.id)
        runs.retry(**own, run_id=waiting.id)
        audit.record(
            using="default",
            tenant=TENANT,
            actor=SYSTEM,
            action="memory.test",
            target="record:1",
            at=at,
        )


def begin(at: Any) -> Run:
    return runs.begin(
        using="default",
        tenant=TENANT,
        kind="import",
        target="a.json",
        actor=SYSTEM,
        at=at,
    )


def statements() -> Iterator[tuple[str, str]]:
    folder = Path(prism_memory.__file__).parent / "db" / "sql"
    rule = Reader(scope=make_scope()).condition().as_string(None)
    for path in sorted(folder.glob("*.sql")):
        for name, text in named(path.stem).items():
            yield f"{path.stem}.{name}", text.replace("{visible}", rule)


@pytest.mark.parametrize(
    ("name", "text"),
    [pair for pair in statements() if not pair[0].endswith(("_index", "table_sizes"))],
    ids=[n for n, _ in statements() if not n.endswith(("_index", "table_sizes"))],
)
def test_a_named_statement_names_the_tenant(name: str, text: str) -> None:
    """B22: also those that no test above happens to run."""
    assert not unnamed_tables(text), name


@pytest.mark.parametrize(
    ("tied", "statement"),
    [
        (True, "JOIN prism_memory_tombstone AS stone ON stone.tenant = edge.tenant"),
        (False, "JOIN prism_memory_tombstone AS stone ON stone.target_ref = 'a'"),
        (False, "JOIN prism_memory_tombstone AS stone ON (SELECT stone.tenant = 'a')"),
        (True, "UNION SELECT FROM prism_memory_tombstone AS t WHERE t.tenant = 'a'"),
        (False, "UNION SELECT FROM prism_memory_lineageedge AS edge WHERE TRUE"),
    ],
)
@pytest.mark.parametrize("nested", ["{}", "SELECT 1 WHERE EXISTS ({}) AND TRUE"])
def test_each_side_of_a_join_must_be_tied(
    tied: bool, statement: str, nested: str
) -> None:
    """Another SELECT may use the same alias, and tie it."""
    sql = (
        "SELECT FROM prism_memory_lineageedge AS edge"
        " {} AND (edge.tenant = %(tenant)s OR FALSE)"
    )
    if "UNION" in statement:
        sql = "SELECT FROM prism_memory_lineageedge AS edge WHERE edge.tenant = 'a' {}"
    sql = nested.format(sql.format(statement))
    other = "SELECT FROM prism_memory_tombstone AS stone WHERE stone.tenant = 'a'"
    assert bool(unnamed_tables(f"WITH other AS ({other}) {sql}")) is not tied


def test_a_rule_without_a_tie_is_found() -> None:
    """B22: in the middle of the rule, whose other parts use the same alias."""
    rule = dict(statements())["access.unwithheld"]
    tie = "stone.tenant = edge.tenant"
    assert tie in rule
    assert unnamed_tables(rule.replace(tie, "TRUE")) == ["prism_memory_tombstone"]


def test_the_watch_is_not_blind() -> None:
    seen = Captured([("SELECT 1 FROM prism_memory_record", None)])
    with pytest.raises(AssertionError):
        seen.check(TENANT)
