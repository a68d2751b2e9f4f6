"""Nine edits behind the app's back, what finds each; signing what was there."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from django.utils import timezone

from prism_memory import governance, lifecycle, runs
from prism_memory.errors import Conflict, Misconfigured, NotVisible
from prism_memory.models import AuditEvent, AuditSeal, ManifestBlock, Record, Run
from prism_memory.models.choices import RunState
from prism_memory.types import Actor
from tests.factories import make_memory, make_scope, remember, remember_one
from tests.governance.trail import (
    KEYS,
    OTHER_KEYS,
    heads,
    run,
    seal,
    verify,
    wrongs,
)

pytestmark = pytest.mark.django_db

COPIED = [
    str(field.column)
    for field in Record._meta.concrete_fields
    if field.attname not in {"id", "search"}
]


@pytest.fixture(autouse=True)
def _keys(settings: Any) -> None:
    use(settings, INTEGRITY_KEYS=KEYS)


def use(settings: Any, **given: Any) -> None:
    settings.PRISM_MEMORY = {**settings.PRISM_MEMORY, **given}


def seal_all(**given: Any) -> tuple[governance.Sealed, ...]:
    return seal(content=True, at=timezone.now(), **given)


def sealed(*texts: str) -> list[uuid.UUID]:
    """Remember texts, and seal that they are there."""
    ids = sorted(remember(*(texts or ("One.", "Two.", "Three.", "Four."))))
    seal_all()
    assert not wrongs(content=True)
    return ids


def edit(record_id: uuid.UUID, change: str, **given: Any) -> None:
    statement = f"UPDATE prism_memory_record SET {change} WHERE id = %(id)s"  # noqa: S608
    assert run(statement, {"id": record_id, **given}) == 1


def delete(*ids: uuid.UUID) -> None:
    given = {"ids": list(ids)}
    run("DELETE FROM prism_memory_embedding WHERE record_id = ANY(%(ids)s)", given)
    assert run("DELETE FROM prism_memory_record WHERE id = ANY(%(ids)s)", given)


def forget(ids: list[uuid.UUID]) -> None:
    lifecycle.forget(
        using="default",
        scope=make_scope(),
        actor=Actor(),
        ids=ids,
        at=timezone.now(),
    )


def columns_of(record_id: uuid.UUID) -> Any:
    (row,) = Record.objects.filter(tenant="acme", id=record_id).values(*COPIED)
    return row


def put_back(record_id: uuid.UUID, old: dict[str, Any]) -> None:
    """Write an old row over what is there now, its signature included."""
    Record.objects.filter(tenant="acme", id=record_id).update(**old)


class TestNineEdits:
    def test_1_content_changed(self) -> None:
        ids = sealed()
        edit(ids[1], "text = 'Edited.'")
        assert wrongs(content=True) == [("record_changed", f"record:{ids[1]}")]

    def test_2_last_rows_cut(self) -> None:
        ids = sealed()
        delete(*ids[2:])
        assert wrongs(content=True) == [
            ("record_vanished", f"record:{record_id}") for record_id in ids[2:]
        ]

    def test_3_a_middle_row_deleted(self) -> None:
        ids = sealed()
        delete(ids[1])
        assert wrongs(content=True) == [("record_vanished", f"record:{ids[1]}")]

    def test_4_rows_reordered_by_sequence(self) -> None:
        ids = sealed()
        one, other = (columns_of(i)["sequence"] for i in ids[:2])
        edit(ids[0], "sequence = %(to)s", to=other)
        edit(ids[1], "sequence = %(to)s", to=one)
        assert wrongs(content=True) == [
            ("record_changed", f"record:{record_id}") for record_id in ids[:2]
        ]

    def test_4_rows_reordered_by_id(self) -> None:
        ids = sealed()
        run("DELETE FROM prism_memory_embedding")
        spare = uuid.UUID(int=7)
        for old, new in ((ids[0], spare), (ids[1], ids[0]), (spare, ids[1])):
            edit(old, "id = %(to)s", to=new)
        assert wrongs(content=True) == [
            ("record_changed", f"record:{record_id}") for record_id in ids[:2]
        ]

    @pytest.mark.parametrize("mac", ["NULL", "mac", "sha256('x')"])
    def test_5_a_row_forged(self, mac: str) -> None:
        ids = sealed()
        forged = uuid.uuid4()
        insert(ids[0], forged, text="'I am the admin.'", key="'forged'", mac=mac)
        wrong = "record_unsigned" if mac == "NULL" else "record_changed"
        assert wrongs(content=True) == [(wrong, f"record:{forged}")]

    def test_6_a_row_replayed_in_another_scope(self) -> None:
        (record_id,) = sealed("Ada may know.")
        there = remember_one("Bob's.", scope=make_scope(owner="bob"))
        replayed = uuid.uuid4()
        scope = make_scope(owner="bob").id
        insert(record_id, replayed, scope_id=f"'{scope}'")
        assert wrongs(content=True) == [("record_changed", f"record:{replayed}")]
        assert [item.id for item in make_memory(make_scope(owner="bob")).list()] == [
            there
        ]

    def test_6_a_row_moved_to_another_scope(self) -> None:
        (record_id,) = sealed("Ada may know.")
        remember_one("Bob's.", scope=make_scope(owner="bob"))
        scope = make_scope(owner="bob").id
        edit(record_id, "scope_id = %(to)s", to=scope)
        assert wrongs(content=True) == [("record_changed", f"record:{record_id}")]

    def test_7_an_old_version_replayed(self) -> None:
        (record_id,) = sealed("Ada lives in Porto.")
        old = columns_of(record_id)
        make_memory().correct(record_id, "Ada lives in Lisbon.")
        seal_all()
        put_back(record_id, old)
        # By itself it is a row that the app wrote, so readers get it ...
        assert make_memory().get(record_id).text == "Ada lives in Porto."
        # ... but not the one that was sealed last.
        assert wrongs(content=True) == [("record_set_back", f"record:{record_id}")]

    def test_7_a_consent_that_was_revoked_replayed(self) -> None:
        (record_id,) = sealed("Ada lives in Porto.")
        old = columns_of(record_id)
        make_memory().set_consent(record_id, visible=False)
        seal_all()
        put_back(record_id, old)
        assert wrongs(content=True) == [("record_set_back", f"record:{record_id}")]

    def test_8_metadata_changed(self) -> None:
        ids = sealed()
        edit(ids[0], 'metadata = \'{"role": "admin"}\'')
        assert wrongs(content=True) == [("record_changed", f"record:{ids[0]}")]

    def test_9_all_tables_rolled_back_to_an_older_snapshot(self) -> None:
        (record_id,) = sealed("Ada lives in Porto.")
        before = snapshot()
        make_memory().correct(record_id, "Ada lives in Lisbon.")
        remember_one("New.")
        seal_all()
        kept = heads()
        restore(before)
        # All of it was true once, so nothing in the database tells ...
        assert not wrongs(content=True)
        # ... but the end of the chain that the operator kept.
        assert wrongs(content=True, heads=kept) == [("head_missing", "seal:2")]

    def test_9_the_records_rolled_back_and_nothing_else(self) -> None:
        (record_id,) = sealed("Ada lives in Porto.")
        before = snapshot()
        make_memory().correct(record_id, "Ada lives in Lisbon.")
        new = remember_one("New.")
        seal_all()
        restore({Record: before[Record]})
        assert wrongs(content=True) == [
            ("record_set_back", f"record:{record_id}"),
            ("record_vanished", f"record:{new}"),
        ] or wrongs(content=True) == [
            ("record_vanished", f"record:{new}"),
            ("record_set_back", f"record:{record_id}"),
        ]


def insert(source: uuid.UUID, record_id: uuid.UUID, **changes: str) -> None:
    """Copy a row under another id, with other columns."""
    values = ", ".join(changes.get(column, column) for column in COPIED)
    names = ", ".join(COPIED)
    run(
        f"INSERT INTO prism_memory_record (id, {names})"  # noqa: S608
        f" SELECT %(id)s, {values} FROM prism_memory_record WHERE id = %(source)s",
        {"id": record_id, "source": source},
    )


def snapshot() -> dict[Any, list[dict[str, Any]]]:
    models = (Record, AuditEvent, AuditSeal, ManifestBlock)
    return {
        model: [*map(dict, model.objects.filter(tenant="acme").values())]
        for model in models
    }


def restore(tables: dict[Any, list[dict[str, Any]]]) -> None:
    run("DELETE FROM prism_memory_embedding")
    for model, rows in tables.items():
        model.objects.filter(tenant="acme")._raw_delete("default")
        for row in rows:
            row.pop("search", None)
            model.objects.create(**row)


class TestManifest:
    def test_what_the_app_deletes_is_accounted_for(self) -> None:
        ids = sealed()
        forget(ids[:2])
        assert not wrongs(content=True)
        (one,) = seal_all()
        assert one.violations == 0
        assert not wrongs(content=True)

    def test_a_whole_thread_forgotten_is_accounted_for(self) -> None:
        sealed()
        lifecycle.forget_thread(
            using="default", scope=make_scope(), actor=Actor(), at=timezone.now()
        )
        assert not wrongs(content=True)
        seal_all()
        assert not ManifestBlock.objects.filter(tenant="acme").exists()
        assert not wrongs(content=True)

    def test_a_tombstone_that_no_event_goes_with_accounts_for_nothing(self) -> None:
        ids = sealed()
        delete(ids[0])
        run(
            "INSERT INTO prism_memory_tombstone (id, tenant, target_ref, root_ref,"
            " reason, hold, supersedes_ref, actor, at) VALUES (%(id)s, 'acme',"
            " %(ref)s, %(ref)s, 'forgotten', FALSE, '', 'system', now())",
            {"id": uuid.uuid4(), "ref": f"record:{ids[0]}"},
        )
        assert wrongs(content=True) == [("record_vanished", f"record:{ids[0]}")]

    def test_a_record_that_was_only_hidden_may_not_vanish(self) -> None:
        ids = sealed()
        make_memory().set_consent(ids[0], visible=False)
        seal_all()
        delete(ids[0])
        assert wrongs(content=True) == [("record_vanished", f"record:{ids[0]}")]

    def test_sealing_tells_of_a_violation_once(self) -> None:
        ids = sealed()
        delete(ids[1])
        (one,) = seal_all()
        assert one.violations == 1
        assert [(f.wrong, f.ref) for f in one.findings] == [
            ("record_vanished", f"record:{ids[1]}")
        ]
        told = AuditEvent.objects.get(tenant="acme", action="audit.violation")
        assert told.detail == {
            "wrong": "record_vanished",
            "count": 1,
            "refs": [f"record:{ids[1]}"],
        }
        assert told.seal == one.number
        found = verify(content=True)
        assert (found.violations, found.findings.count) == (1, 0)
        assert seal_all() == ()

    def test_nothing_new_is_not_sealed_again(self) -> None:
        sealed()
        assert seal_all() == ()

    def test_what_was_remembered_since_is_counted(self) -> None:
        sealed()
        remember("Five.", "Six.")
        found = verify(content=True)
        assert (found.records, found.unlisted, found.findings.count) == (6, 2, 0)

    @pytest.mark.parametrize(
        "change",
        [
            "DELETE FROM prism_memory_manifestblock",
            "UPDATE prism_memory_manifestblock SET versions[1] = 1 - versions[1]",
            "UPDATE prism_memory_manifestblock"
            " SET ids = ids[2:], versions = versions[2:]",
            "UPDATE prism_memory_manifestblock SET ids = '{}', versions = '{}'",
            "UPDATE prism_memory_manifestblock SET versions = versions[2:]",
        ],
    )
    def test_an_edited_manifest_is_found(self, change: str) -> None:
        sealed()
        run(change)
        assert "manifest_changed" in {wrong for wrong, _ in wrongs(content=True)}
        (one,) = seal_all()
        assert one.violations

    def test_a_manifest_that_was_cut_with_the_row_is_found(self) -> None:
        ids = sealed()
        delete(ids[0])
        run("UPDATE prism_memory_manifestblock SET ids = ids[2:]")
        run("UPDATE prism_memory_manifestblock SET versions = versions[2:]")
        assert wrongs(content=True) == [("manifest_changed", "manifest")]

    def test_another_tenants_rows_are_not_missed(self) -> None:
        sealed()
        remember_one(scope=make_scope(tenant="beta"))
        seal("beta", content=True)
        run("DELETE FROM prism_memory_embedding")
        run("DELETE FROM prism_memory_record WHERE tenant = 'beta'")
        assert not wrongs(content=True)
        assert len(wrongs("beta", content=True)) == 1

    def test_works_without_keys(self, settings: Any) -> None:
        """It then finds what went and what went back; not what was edited."""
        use(settings, INTEGRITY_KEYS={})
        ids = sealed()
        edit(ids[0], "text = 'Edited.'")
        delete(ids[1])
        assert wrongs(content=True) == [("record_vanished", f"record:{ids[1]}")]

    def test_blocks_are_bounded_and_stay_where_nothing_changed(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("prism_memory.governance.manifest.BLOCK_ROWS", 4)
        monkeypatch.setattr("prism_memory.governance.pages.PAGE_ROWS", 3)
        monkeypatch.setattr("prism_memory.governance.pages.PAGE_BLOCKS", 2)
        ids = sorted(remember(*(f"Text {n}." for n in range(10))))
        seal_all()
        assert blocks() == [ids[:4], ids[4:8], ids[8:]]
        before = written()
        ids += sorted(remember(*(f"Text {n}." for n in range(10, 15))))
        forget(ids[5:7])
        seal_all()
        assert blocks() == [ids[:4], [ids[4], ids[7]], ids[8:12], ids[12:]]
        assert written()[0] == before[0]
        assert not wrongs(content=True)
        assert verify(content=True).unlisted == 0
        forget(ids[8:])
        seal_all()
        assert blocks() == [ids[:4], [ids[4], ids[7]]]
        delete(ids[4], ids[7])
        assert {ref for _, ref in wrongs(content=True)} == {
            f"record:{ids[4]}",
            f"record:{ids[7]}",
        }


def blocks() -> list[list[uuid.UUID]]:
    rows = ManifestBlock.objects.filter(tenant="acme").order_by("number")
    return [block.ids for block in rows]


def written() -> list[Any]:
    """Return what tells whether a row was written again."""
    rows = ManifestBlock.objects.filter(tenant="acme").order_by("number")
    return list(rows.extra(select={"at": "ctid::text || xmin::text"}).values_list("at"))


def sign(**given: Any) -> governance.Signed:
    return governance.sign_records(
        **{
            "using": "default",
            "tenant": "acme",
            "actor": Actor("user:1"),
            "now": timezone.now,
            **given,
        }
    )


def vouch(*ids: uuid.UUID) -> int:
    return governance.vouch(
        using="default",
        tenant="acme",
        record_ids=ids,
        actor=Actor("user:1"),
        at=timezone.now(),
        reason="seen",
    )


class TestSigning:
    def before_the_key(self, settings: Any, count: int = 5) -> list[uuid.UUID]:
        use(settings, INTEGRITY_KEYS={})
        ids = sorted(remember(*(f"Text {n}." for n in range(count))))
        use(settings, INTEGRITY_KEYS=KEYS)
        return ids

    def test_signs_what_was_there_before(self, settings: Any) -> None:
        self.before_the_key(settings)
        assert len(wrongs(content=True)) == 5
        done = sign(batch=2)
        assert done.counts == {"signed": 5, "rotated": 0, "wrong": 0}
        assert not wrongs(content=True)
        assert len(make_memory().list()) == 5
        told = AuditEvent.objects.get(tenant="acme", action="integrity.sign")
        assert told.detail == {"signed": 5, "rotated": 0, "wrong": 0, "rotate": ""}

    def test_goes_on_where_it_stopped(self, settings: Any) -> None:
        ids = self.before_the_key(settings)
        at = timezone.now()
        stopped = runs.begin(
            using="default",
            tenant="acme",
            kind="integrity.sign",
            target="",
            actor=Actor(),
            at=at,
        )
        cursor = {"after": str(ids[2])}
        runs.advance(
            stopped, using="default", cursor=cursor, counts={"signed": 3}, at=at
        )
        assert sign().signed == 5  # the three of before, and two
        assert Run.objects.get(tenant="acme", kind="integrity.sign").state == (
            RunState.DONE
        )
        assert [ref for _, ref in wrongs(content=True)] == [
            f"record:{record_id}" for record_id in ids[:3]
        ]

    def test_does_not_vouch_for_an_edit(self, settings: Any) -> None:
        edited = remember_one("Tea.")
        edit(edited, "text = 'Gin.'")
        done = sign()
        assert done.counts == {"signed": 0, "rotated": 0, "wrong": 0}
        use(settings, INTEGRITY_KEYS=OTHER_KEYS)
        done = sign(rotate=True)
        assert done.counts == {"signed": 0, "rotated": 0, "wrong": 1}
        assert wrongs(content=True) == [("record_changed", f"record:{edited}")]

    def test_what_lost_its_signature_later_is_signed_by_wish_only(self) -> None:
        record_id = remember_one("Tea.")
        sign()
        edit(record_id, "mac = NULL, text = 'Gin.'")
        with pytest.raises(Conflict):
            sign()
        done = sign(rotate=True)
        assert [(f.wrong, f.ref) for f in done.findings.listed] == [
            ("record_unsigned", f"record:{record_id}")
        ]
        assert sign(again=True).signed == 1
        assert not wrongs(content=True)

    def test_a_run_that_is_gone_does_not_let_it_sign_again(self) -> None:
        """The event of the first signing is sealed, and says the same."""
        record_id = remember_one("Tea.")
        sign()
        edit(record_id, "mac = NULL, text = 'Gin.'")
        Run.objects.all().delete()
        with pytest.raises(Conflict):
            sign()

    def test_rotates_to_a_new_key(self, settings: Any) -> None:
        remember("One.", "Two.", "Three.")
        use(settings, INTEGRITY_KEYS=OTHER_KEYS)
        assert sign(rotate=True, batch=2).rotated == 3
        use(settings, INTEGRITY_KEYS={"k2": OTHER_KEYS["k2"]})
        assert not wrongs(content=True)
        assert len(make_memory().list()) == 3

    def test_an_older_key_that_is_gone_leaves_its_rows_unknown(
        self, settings: Any
    ) -> None:
        record_id = remember_one("One.")
        use(settings, INTEGRITY_KEYS={"k2": OTHER_KEYS["k2"]})
        assert sign(rotate=True).findings.count == 1
        assert wrongs(content=True) == [("record_unknown_key", f"record:{record_id}")]

    def test_vouching_is_all_or_none_and_of_one_tenant(self) -> None:
        mine = remember_one("Mine.")
        theirs = remember_one(scope=make_scope(tenant="beta"))
        for record_id in (mine, theirs):
            edit(record_id, "writer = 'mallory'")
        with pytest.raises(NotVisible):
            vouch(mine, theirs)
        assert len(wrongs(content=True)) == 1
        assert vouch(mine) == 1
        assert not wrongs(content=True)
        assert len(wrongs("beta", content=True)) == 1

    def test_needs_a_key(self, settings: Any) -> None:
        use(settings, INTEGRITY_KEYS={})
        with pytest.raises(Misconfigured):
            sign()

    def test_other_tenants_stay_as_they_are(self, settings: Any) -> None:
        self.before_the_key(settings)
        use(settings, INTEGRITY_KEYS={})
        remember_one(scope=make_scope(tenant="beta"))
        use(settings, INTEGRITY_KEYS=KEYS)
        sign()
        assert Record.objects.get(tenant="beta").mac is None


def test_findings_are_bounded(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("prism_memory.governance.findings.LISTED_AT_MOST", 2)
    sealed()
    run("UPDATE prism_memory_record SET writer = 'mallory'")
    found = verify(content=True).findings
    assert (found.count, len(found.listed)) == (4, 2)
