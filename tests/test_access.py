"""Each clause of the visibility rule on its own: what hides a row, what does not."""

from __future__ import annotations

import datetime as dt
import uuid
from typing import Any

import pytest

from prism_memory.access import Reader, get_visible, visible, visible_in
from prism_memory.db.filters import compile_filter
from prism_memory.errors import Invalid, NotVisible
from prism_memory.models import Record
from prism_memory.models import Scope as ScopeRow
from prism_memory.types import (
    Consent,
    Kind,
    ReadMode,
    Scope,
    SourceRef,
    Tier,
    TombstoneReason,
)
from tests.capture import tenant_in_every_statement
from tests.factories import (
    NOON,
    make_edge,
    make_record,
    make_scope,
    make_tombstone,
    remember_one,
)
from tests.sight import HERE, TICK, hold_of, seen

pytestmark = pytest.mark.django_db


def test_a_plain_record_is_visible() -> None:
    """What the tests below take away from, one thing each."""
    assert seen(make_record())
    assert seen(make_record(), strict=True)


# Where the reader stands


@pytest.mark.parametrize(
    "elsewhere",
    [
        {"tenant": "globex"},
        {"owner": "bob"},
        {"agent": "sales"},
        {"agent": ""},
        {"thread": "chat-2"},
    ],
    ids=lambda levels: "-".join(levels),
)
@pytest.mark.parametrize("mode", ReadMode)
def test_a_record_beside_the_reader_is_not_visible(
    elsewhere: dict[str, str], mode: ReadMode
) -> None:
    """B4, B5, B6, B18, case_C02: the same words, under one name that differs."""
    assert not seen(make_record(scope=make_scope(**elsewhere)), mode=mode)


LEVELS = [*HERE.chain()]


@pytest.mark.parametrize("level", LEVELS, ids=str)
def test_a_level_above_is_visible_in_the_chain_and_not_in_exact(level: Scope) -> None:
    """B17, B19, B27."""
    record = make_record(scope=level)
    assert seen(record, mode=ReadMode.CHAIN)
    assert seen(record, mode=ReadMode.EXACT) == (level == HERE)


@pytest.mark.parametrize("level", LEVELS[1:], ids=str)
def test_a_level_below_is_not_visible(level: Scope) -> None:
    """B18."""
    assert not seen(make_record(scope=HERE), scope=level)


def test_a_write_lands_at_exactly_the_opened_scope() -> None:
    """B20."""
    record = make_record(scope=HERE)
    assert record.scope.value == HERE


NAMES = ["john_doe", "john-doe", "john", "johnny", "%", r"a\_b", "a.b", "A", "a"]


def test_names_are_compared_byte_by_byte() -> None:
    """B14, B21, case_C01."""
    ids = {
        name: remember_one("the secret", scope=Scope("acme", name), key="secret")
        for name in NAMES
    }
    for reader_name in NAMES:
        scope = Scope("acme", reader_name)
        assert [n for n in NAMES if seen(ids[n], scope=scope)] == [reader_name]


@pytest.mark.parametrize("level", ["owner", "agent", "thread"])
def test_a_scope_row_whose_names_are_not_those_of_its_id_opens_nothing(
    level: str,
) -> None:
    """B14: the stored names decide, not the hash."""
    record = make_record()
    assert seen(record)
    ScopeRow.objects.filter(tenant="acme", id=HERE.id).update(**{level: "forged"})
    assert not seen(record)


def test_another_tenants_row_under_the_same_scope_id_is_not_visible() -> None:
    """B14, B22: were two hashes equal, the tenant would still part them."""
    assert seen(make_record())
    forged = make_record(scope=Scope("globex", "mallory"))
    names = {"owner": HERE.owner, "agent": HERE.agent, "thread": HERE.thread}
    ScopeRow.objects.create(tenant="globex", id=HERE.id, **names)
    rows = Record.objects.filter(tenant="globex", id=forged.id)
    assert rows.update(scope_id=HERE.id) == 1
    assert not seen(forged)


def test_a_governor_reads_the_scopes_they_name_and_no_other() -> None:
    """Each as its own reader would; of another tenant nothing, whatever is named."""
    here, beside, above = make_scope(), make_scope(owner="bob"), make_scope(thread="")
    shown = {make_record(scope=one).id for one in (here, beside)}
    make_record(scope=above)
    make_record("Withheld.", scope=here, gate="quarantined")
    other = make_scope(tenant="globex")
    make_record(scope=other)
    reader = Reader(scope=Scope("acme"), mode=ReadMode.EXACT)
    with tenant_in_every_statement("acme"):
        rows = visible_in(using="default", reader=reader, scopes=[here, beside, other])
        assert {row.id for row in rows} == shown
    nobody = visible_in(using="default", reader=reader, scopes=[])
    assert not nobody.exists()


def test_a_scope_that_was_never_written_shows_nothing() -> None:
    """case_C04."""
    make_record(scope=make_scope(owner="bob"))
    reader = Reader(scope=make_scope(owner="carol"))
    assert not visible(using="default", reader=reader).exists()


# Consent


def test_what_is_not_to_be_seen_is_not() -> None:
    """B134."""
    assert not seen(make_record("a", visible=False))
    assert not seen(make_record("b", fields={"consent": Consent(visible=False)}))


@pytest.mark.parametrize("shown", [True, False, None])
def test_a_revoked_record_is_not_visible_whatever_it_says(shown: bool | None) -> None:
    """B135: also when the revocation lies ahead."""
    later = NOON + dt.timedelta(days=1)
    assert not seen(make_record("a", visible=shown, revoked_at=NOON))
    assert not seen(make_record("b", visible=shown, revoked_at=later))


def test_without_consent_a_record_is_visible_unless_the_reader_is_strict() -> None:
    """B136, B137."""
    record = make_record(visible=None, consent_source="", granted_at=None)
    assert seen(record)
    assert not seen(record, strict=True)


# Gate, retirement, expiry, validity, generation


@pytest.mark.parametrize(
    "columns", [{"gate": "quarantined"}, {"retired_at": NOON + TICK}], ids=str
)
def test_a_quarantined_or_retired_record_is_not_visible(
    columns: dict[str, Any],
) -> None:
    assert not seen(make_record(**columns))


def test_a_record_expires_at_its_moment() -> None:
    """case_C22: the end is exclusive."""
    record = make_record(expires_at=NOON)
    assert seen(record, at=NOON - TICK)
    assert not seen(record, at=NOON)
    assert not seen(record, at=NOON, as_of=NOON - TICK)


def test_validity_is_half_open() -> None:
    """case_C22, case_C31: judged at the asked moment."""
    later = NOON + dt.timedelta(days=1)
    record = make_record(valid_from=NOON, valid_to=later)
    assert not seen(record, as_of=NOON - TICK)
    assert seen(record, as_of=NOON)
    assert seen(record, as_of=later - TICK)
    assert not seen(record, as_of=later)


def test_validity_is_judged_by_now_when_no_moment_is_asked() -> None:
    record = make_record(valid_from=NOON)
    assert not seen(record, at=NOON - TICK)
    assert seen(record, at=NOON)


@pytest.mark.parametrize(
    ("current", "mine", "shown"),
    [
        (None, None, True),
        (None, 3, True),
        (3, 3, True),
        (3, None, True),
        (3, 2, False),
        (3, 4, False),
        (0, 1, False),
    ],
)
def test_only_the_current_generation_is_visible(
    current: int | None, mine: int | None, shown: bool
) -> None:
    """No pointer, or no generation, narrows nothing."""
    record = make_record(generation=mine)
    rows = ScopeRow.objects.filter(tenant="acme", id=HERE.id)
    rows.update(current_generation=current)
    assert seen(record) is shown


def test_the_generation_is_that_of_the_records_own_scope() -> None:
    above = make_record(scope=Scope("acme", "ada"), generation=1)
    make_record()
    rows = ScopeRow.objects.filter(tenant="acme", id=HERE.id)
    rows.update(current_generation=2)
    assert seen(above)


# Tombstones


@pytest.mark.parametrize("reason", TombstoneReason)
def test_a_tombstone_hides_its_record_unless_it_was_only_corrected(
    reason: TombstoneReason,
) -> None:
    """B145: a corrected record goes on with its new words; the gate hides by itself."""
    record = make_record()
    make_tombstone(record, **hold_of(reason))
    own = {TombstoneReason.CORRECTED, TombstoneReason.QUARANTINED}
    assert seen(record) is (reason in own)


@pytest.mark.parametrize("reason", TombstoneReason)
def test_a_tombstone_of_a_source_hides_what_is_derived_from_it(
    reason: TombstoneReason,
) -> None:
    """B141, B145, B162: a correction too."""
    source, other, derived = make_record("a"), make_record("b"), make_record("c")
    make_edge(derived, other)
    make_edge(derived, source, position=1)
    assert seen(derived)
    make_tombstone(source, **hold_of(reason))
    assert not seen(derived)
    assert seen(other)


def test_a_tombstone_of_something_outside_hides_what_is_derived_from_it() -> None:
    derived = make_record()
    ref = f"ext:{HERE.id}:message-1"
    make_edge(derived, ref)
    make_tombstone(derived, target_ref=ref, root_ref=ref)
    assert not seen(derived)


def test_a_lifted_tombstone_hides_nothing() -> None:
    """B142."""
    source, derived = make_record("a"), make_record("b")
    make_edge(derived, source)
    for record in (source, derived):
        make_tombstone(record, cleared_at=NOON)
    assert seen(source)
    assert seen(derived)


def test_a_record_corrected_that_names_itself_as_source_stays_visible() -> None:
    record = make_record()
    make_edge(record, record)
    make_tombstone(record, reason="corrected")
    assert seen(record)


def test_another_tenants_tombstone_hides_nothing() -> None:
    """B8."""
    record = make_record()
    foreign = make_record(scope=make_scope(tenant="globex"))
    make_tombstone(foreign, target_ref=f"record:{record.id}")
    assert seen(record)


# What the reader asks for

NARROWINGS: list[tuple[str, Any, Any]] = [
    ("kinds", Kind.NOTE, Kind.ENTRY),
    ("tiers", Tier.EPISODIC, Tier.SEMANTIC),
    ("namespaces", "shelf", "other"),
]


@pytest.mark.parametrize(("name", "mine", "other"), NARROWINGS)
def test_a_narrowing_lets_through_what_it_names(
    name: str, mine: Any, other: Any
) -> None:
    record = make_record(fields={name.removesuffix("s"): mine})
    asked: list[dict[str, Any]] = [{name: [mine]}, {name: {other, mine}}, {name: None}]
    assert all(seen(record, **narrowing) for narrowing in asked)
    assert not seen(record, HERE, **{name: [other]})


@pytest.mark.parametrize("name", ["kinds", "tiers", "namespaces", "ids", "tags"])
@pytest.mark.parametrize("empty", [[], (), frozenset()], ids=repr)
def test_an_empty_narrowing_lets_nothing_through(name: str, empty: Any) -> None:
    """case_C04."""
    record = make_record(fields={"metadata": {"tags": ["a"]}})
    assert not seen(record, **{name: empty})


@pytest.mark.parametrize("name", ["kinds", "tiers", "namespaces", "ids", "tags"])
def test_one_value_is_no_collection(name: str) -> None:
    """A text would narrow by its characters."""
    with pytest.raises(Invalid) as raised:
        Reader(scope=HERE, **{name: "entry"})  # type: ignore[arg-type] # that is it
    assert raised.value.field == name


def test_a_partition_is_matched_exactly() -> None:
    """B10, B11: no partition is a partition too."""
    mine = make_record("a", fields={"partition": "session:1"})
    none = make_record("b")
    assert [seen(mine, partition=p) for p in ("session:1", "session:", "", None)] == [
        True,
        False,
        False,
        True,
    ]
    assert [seen(none, partition=p) for p in ("session:1", "", None)] == [
        False,
        True,
        True,
    ]


def test_ids_narrow_and_never_widen() -> None:
    """B25: a foreign id looks like an unknown one."""
    mine, other = make_record("a"), make_record("b")
    foreign = make_record(scope=make_scope(owner="bob"))
    asked = [mine.id, foreign.id, uuid.uuid4()]
    assert seen(mine, ids=asked)
    assert not seen(other, ids=asked)
    assert not seen(foreign, ids=asked)


def test_a_metadata_filter_narrows() -> None:
    record = make_record(fields={"metadata": {"n": 10}})
    assert seen(record, where=compile_filter({"n": {"gt": 9}}, terms=9))
    assert not seen(record, where=compile_filter({"n": {"gt": 10}}, terms=9))


def test_a_foreign_and_an_unknown_id_look_the_same() -> None:
    """B25, B26, case_C02."""
    foreign = remember_one(scope=make_scope(tenant="globex"))
    errors = []
    for record_id in (foreign, uuid.uuid4()):
        with pytest.raises(NotVisible) as raised:
            get_visible(using="default", reader=Reader(scope=HERE), record_id=record_id)
        errors.append((str(raised.value), raised.value.field))
    assert errors[0] == errors[1]


def test_scope_and_source_come_with_the_record_in_one_query(
    django_assert_num_queries: Any,
) -> None:
    """B22."""
    record_id = remember_one(source=SourceRef("mail-1"))
    reader = Reader(scope=HERE)
    with django_assert_num_queries(1), tenant_in_every_statement("acme"):
        record = get_visible(using="default", reader=reader, record_id=record_id)
        assert record.source is not None
        assert (record.scope.value, record.source.key) == (HERE, "mail-1")
