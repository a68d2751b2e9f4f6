"""What a record is derived from: resolved, ordered, and never out of sight."""

from __future__ import annotations

import uuid

import pytest

from prism_memory.errors import Invalid, NotVisible
from prism_memory.models import LineageEdge, Tombstone
from prism_memory.types import Entry, Lineage, Scope
from tests.factories import make_memory, make_scope, remember_one
from tests.tables import counts, physical

pytestmark = pytest.mark.django_db

OWNER = make_scope(agent="", thread="")


def refs(record_id: uuid.UUID, tenant: str = "acme") -> list[str]:
    edges = LineageEdge.objects.filter(tenant=tenant, record_id=record_id)
    positions = list(edges.order_by("position").values_list("position", flat=True))
    assert positions == list(range(len(positions)))
    return list(edges.order_by("position").values_list("source_ref", flat=True))


def derive(*source_ids: str, scope: Scope | None = None, key: str = "it") -> uuid.UUID:
    lineage = Lineage(tuple(source_ids))
    text = f"derived from {len(source_ids)}"
    return remember_one(text, scope=scope, key=key, lineage=lineage)


def outside(name: str, scope: Scope | None = None) -> str:
    return f"ext:{(scope or make_scope()).id}:{name}"


class TestResolution:
    """B104."""

    def test_order_stays_and_repeats_collapse(self):
        derived = derive("z", "a", "m", "a", "z")
        assert refs(derived) == [outside(name) for name in "zam"]

    def test_a_key_becomes_the_record_it_names(self):
        source = remember_one("source", key="s")
        assert refs(derive("x", "s")) == [outside("x"), f"record:{source}"]

    def test_two_names_of_one_record_are_one_source(self):
        source = remember_one("source", key="s")
        names = ("s", f"record:{source}", f"record:{source.hex.upper()}", "x")
        assert refs(derive(*names)) == [f"record:{source}", outside("x")]

    def test_of_several_the_narrowest_scopes_record_is_meant(self):
        above = remember_one("above", scope=OWNER, key="s")
        assert refs(derive("s", key="1")) == [f"record:{above}"]
        own = remember_one("own", key="s")
        assert refs(derive("s", key="2")) == [f"record:{own}"]

    def test_a_key_below_or_beside_is_not_in_sight(self):
        for beside in ({"thread": "chat-2"}, {"owner": "bob"}, {"tenant": "globex"}):
            remember_one("beside", scope=make_scope(**beside), key="s")
        remember_one("below", key="s")
        assert refs(derive("s", scope=OWNER)) == [outside("s", OWNER)]

    def test_entries_of_one_batch_derive_from_each_other(self):
        memory = make_memory()
        first, second, third = memory.remember(
            [
                Entry("summary", key="summary", lineage=Lineage(("turn", "other"))),
                Entry("turn", key="turn"),
                Entry("other", key="other", lineage=Lineage(("turn",))),
            ]
        ).accepted
        assert refs(first) == [f"record:{second}", f"record:{third}"]
        assert refs(third) == [f"record:{second}"]

    def test_an_outside_ref_of_a_scope_in_sight_is_kept(self):
        for scope in make_scope().chain():
            name = outside("m", scope)
            assert refs(derive(name, key=str(scope.id))) == [name]

    def test_32_are_stored(self):
        names = [f"m{i}" for i in range(32)]
        assert refs(derive(*names)) == [outside(name) for name in names]


class TestOutOfSight:
    """B8: the same answer for foreign and for unknown, and nothing is written."""

    @pytest.mark.parametrize(
        "beside",
        [
            {"tenant": "globex"},
            {"owner": "bob"},
            {"agent": "sales"},
            {"thread": "chat-2"},
        ],
        ids=lambda levels: next(iter(levels)),
    )
    def test_a_foreign_record_is_not_visible(self, beside):
        foreign = remember_one("foreign", scope=make_scope(**beside))
        before = counts()
        with pytest.raises(NotVisible) as refused:
            make_memory().remember(
                ["fine", Entry("a", lineage=Lineage((f"record:{foreign}",)))]
            )
        assert counts() == before
        with pytest.raises(NotVisible) as unknown:
            derive(f"record:{uuid.uuid4()}")
        assert str(refused.value) == str(unknown.value)
        assert refused.value.field == unknown.value.field == "lineage.source_ids"

    def test_a_record_below_is_not_visible_from_above(self):
        below = remember_one("below")
        with pytest.raises(NotVisible):
            derive(f"record:{below}", scope=OWNER)

    @pytest.mark.parametrize(
        "ref",
        [
            outside("m", make_scope(owner="bob")),
            outside("m", make_scope(tenant="globex")),
            f"ext:{uuid.UUID(int=7)}:m",
            "ext:nonsense:m",
            "ext:",
        ],
    )
    def test_an_outside_ref_of_another_scope_is_not_visible(self, ref):
        before = counts()
        with pytest.raises(NotVisible):
            derive(ref)
        assert counts() == before

    @pytest.mark.parametrize("ref", ["record:", "record:7", "record:" + "z" * 32])
    def test_a_malformed_record_ref_is_refused(self, ref):
        with pytest.raises(Invalid) as refused:
            derive(ref)
        assert refused.value.field == "lineage.source_ids"


class TestRewriting:
    def test_given_again_it_is_replaced(self):
        derived = derive("a", "b", "c")
        assert derive("c", "d", "a") == derived
        assert refs(derived) == [outside(name) for name in "cda"]

    def test_given_empty_it_is_removed(self):
        derived = derive("a", "b")
        derive()
        assert refs(derived) == []

    def test_not_given_it_is_kept(self):
        derived = derive("a", "b")
        remember_one("new words", key="it")
        assert refs(derived) == [outside("a"), outside("b")]

    def test_given_the_same_no_row_changes(self):
        derive("a", "b")
        before = physical("prism_memory_lineageedge", "acme")
        derive("a", "b")
        assert physical("prism_memory_lineageedge", "acme") == before

    def test_only_the_named_records_edges_change(self):
        derived, other = derive("a"), derive("a", key="other")
        derive("b")
        assert refs(derived) == [outside("b")]
        assert refs(other) == [outside("a")]

    def test_a_record_may_name_itself(self):
        """B165: a cycle of one; it stays visible."""
        derived = derive("a")
        derive("it")
        assert refs(derived) == [f"record:{derived}"]
        assert make_memory().get(derived).key == "it"


class TestInheritance:
    """B141, B162: what is derived after a revocation hides as what was before."""

    def revoked(self) -> uuid.UUID:
        source = remember_one("source", key="source")
        make_memory().set_consent(source, visible=False)
        return source

    def keys(self) -> list[str]:
        return [item.key for item in make_memory().list()]

    def test_at_first_and_second_hand(self):
        source = self.revoked()
        derive("source", key="first")
        derive("first", key="second")
        derive("second", "x", key="third")
        remember_one("free", key="free")
        assert self.keys() == ["free"]
        make_memory().set_consent(source, visible=True)
        assert set(self.keys()) == {"source", "first", "second", "third", "free"}

    def test_within_one_batch(self):
        self.revoked()
        make_memory().remember(
            [
                Entry("2", key="second", lineage=Lineage(("first",))),
                Entry("1", key="first", lineage=Lineage(("source",))),
            ]
        )
        assert self.keys() == []

    def test_when_a_record_is_derived_anew_all_below_it_follow(self):
        derive("x", key="first")
        derive("first", key="second")
        self.revoked()
        assert self.keys() == ["first", "second"]
        derive("source", key="first")
        assert self.keys() == []

    def test_a_lifted_tombstone_is_not_inherited(self):
        source = self.revoked()
        make_memory().set_consent(source, visible=True)
        derive("source", key="first")
        assert self.keys() == ["source", "first"]
        assert not Tombstone.objects.filter(cleared_at=None).exists()

    def test_another_tenants_tombstones_do_not_matter(self):
        self.revoked()
        remember_one("mine", scope=make_scope(tenant="globex"), key="source")
        other = make_scope(tenant="globex")
        derive("source", key="first", scope=other)
        assert [item.key for item in make_memory(other).list()] == ["source", "first"]
