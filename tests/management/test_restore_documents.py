"""Documents go out with a scope, and come back."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any

import pytest

from prism_memory.memory import Memory
from prism_memory.models import Evidence, Record, Source, SourceAccess
from prism_memory.types import Authorization, Entry, Kind, Lineage, Scope, SourceRef
from tests.documents import ADA, GRANTS, memory_of
from tests.factories import make_memory, make_scope
from tests.facts.asserted import assert_one
from tests.governance.stored import lines, run_export, storages
from tests.ingest.documents import GUIDE, chunks, ids, ingest, librarian

pytestmark = pytest.mark.django_db

HERE = make_scope()
THERE = make_scope(tenant="globex")
REFUNDS = "Refunds take thirty days."


@pytest.fixture
def folder(tmp_path: Path, settings: Any) -> Path:
    settings.STORAGES = storages(tmp_path / "stored")
    return tmp_path / "stored"


def exported(folder: Path, memory: Memory | None = None) -> Path:
    """Export Ada's chat, also what no consent was given for; return the manifest."""
    state = run_export(memory or make_memory(HERE), include_unconsented=True)
    where = folder / "prism_memory" / "exports" / str(state.id)
    (path,) = where.glob("manifest*")
    return path


def restore(run: Any, path: Path, tenant: str = "globex") -> Any:
    words = ("--format=export", f"--tenant={tenant}", "--trust-file")
    return run("prism_memory_import", path, *words)


def told(key: str = "guide", scope: Scope = HERE) -> list[tuple[object, ...]]:
    """Return what is said of a document's chunks, but for what is of one place."""
    return [
        (
            *(row.text, row.metadata, row.ordinal, row.line_start, row.line_end),
            *(row.offset_start, row.offset_end, row.generation, row.trust, row.writer),
            *(row.language, row.created_at, row.key.partition(":")[2]),
        )
        for row in chunks(key, scope)
    ]


def test_a_document_comes_back_as_it_was(run: Any, folder: Path) -> None:
    ingest(metadata={"title": "The guide"}, uri="https://example.org")
    ingest("# Guide\n\nWelcome to the guide.", key="copy", generation=4)
    done = restore(run, exported(folder))
    assert (done.code, done.message) == (0, "")
    for key in ("guide", "copy"):
        assert told(key, THERE) == told(key)
        assert not set(ids(key, THERE).values()) & set(ids(key).values())
    source = Source.objects.get(tenant="globex", key="guide")
    assert (source.kind, source.chunks) == ("document", 3)
    assert source.uri == "https://example.org"
    there = librarian(THERE)
    assert there.recall("refunds thirty days")[0].citation == "guide#0002"
    given: dict[str, Any] = {
        "metadata": {"title": "The guide"},
        "uri": "https://example.org",
    }
    again = there.sources.ingest("guide", GUIDE, **given)
    assert (again.added, again.moved, again.retired, again.kept) == (0, 0, 0, 3)


def test_once_more_changes_nothing(run: Any, folder: Path) -> None:
    ingest()
    path = exported(folder)
    restore(run, path)
    before = {*Record.objects.values_list("id", "version")}
    restore(run, path)
    restore(run, path, tenant="acme")
    assert {*Record.objects.values_list("id", "version")} == before


def test_what_facts_cite_of_a_document_is_found_again(run: Any, folder: Path) -> None:
    ingest()
    assert_one(evidence=[ids()[REFUNDS]])
    restore(run, exported(folder))
    link = Evidence.objects.get(tenant="globex")
    assert link.record_id == ids(scope=THERE)[REFUNDS]
    (fact,) = make_memory(THERE).facts("Ada")
    assert fact.evidence == (link.record_id,)


def test_what_was_forgotten_does_not_come_back(run: Any, folder: Path) -> None:
    """case_C12."""
    ingest()
    path = exported(folder)
    memory = librarian()
    memory.forget(ids()[REFUNDS])
    restore(run, path, tenant="acme")
    assert REFUNDS not in ids()
    assert not any("Refunds" in hit.text for hit in memory.recall("refunds thirty"))


def test_what_left_the_document_or_is_withheld_is_not_in_the_file(
    folder: Path,
) -> None:
    ingest()
    ingest(GUIDE.replace("Monday", "Friday"))
    librarian().forget(ids()[REFUNDS], hold=True)
    found = lines(exported(folder).parent)
    assert {line["text"].splitlines()[-1] for line in found} == {
        *("Welcome to the guide.", "Parcels leave on Friday.")
    }


def test_a_stream_of_that_key_is_no_document(run: Any, folder: Path) -> None:
    ingest()
    path = exported(folder)
    make_memory(THERE).remember(Entry("Hello.", source=SourceRef("guide")))
    done = restore(run, path)
    assert done.code != 0
    assert "stream has that key" in done.message
    assert Record.objects.filter(tenant="globex").count() == 1


def restricted(scope: Scope = HERE) -> tuple[Memory, dict[str, uuid.UUID]]:
    """Ingest a restricted document; return who reads it, and its chunks."""
    ingest(scope=scope)
    hr = memory_of(ADA, scope)
    hr.sources.set_access({"guide": GRANTS})
    return hr, ids("guide", scope)


def seen(who: Authorization | None, scope: Scope) -> set[str]:
    return {item.text for item in memory_of(who, scope).list(limit=200).items}


@pytest.mark.parametrize("tenant", ["globex", "acme"])
def test_what_was_restricted_comes_back_closed_until_access_is_set(
    run: Any, folder: Path, tenant: str
) -> None:
    """With all that draws upon it. Grants do not travel: principals are others."""
    hr, named = restricted()
    turn = Entry("Of a talk.", key="t", kind=Kind.TURN, source=SourceRef("talk"))
    hr.remember([turn, Entry("Open.")])
    hr.sources.set_access({"talk": GRANTS})
    assert_one(evidence=[named[REFUNDS]], text="Derived.", memory=hr)
    path = exported(folder, hr)
    for key in ("guide", "talk"):
        hr.sources.delete(key)
    assert not Source.objects.exists()
    scope = make_scope(tenant=tenant)
    done = restore(run, path, tenant)
    assert (done.code, done.message) == (0, "")
    assert not SourceAccess.objects.exists()
    assert seen(None, scope) == seen(ADA, scope) == {"Open."}
    memory_of(None, scope).sources.set_access({"guide": GRANTS, "talk": GRANTS})
    assert seen(None, scope) == {"Open."}
    back = seen(ADA, scope)
    assert {"Of a talk.", *(row.text for row in chunks(scope=scope))} < back
    assert ("Derived." in back) is (tenant == "globex")  # it was deleted here


def test_what_draws_upon_a_restricted_document_beyond_the_export_comes_back_closed(
    run: Any, folder: Path
) -> None:
    """Or upon one that it outlived: nobody can be granted either there."""
    hr, named = restricted(Scope("acme", HERE.owner))
    here = memory_of(ADA, HERE)
    upon = Lineage((f"record:{named[REFUNDS]}",))
    here.remember([Entry("A note.", key="n", kind=Kind.NOTE, lineage=upon)])
    goes = named["Parcels leave on Monday."]
    cited = [*here.remember([Entry("Open.")]).accepted, goes]
    assert_one(evidence=cited, text="Outlived.", memory=here)
    hr.forget(goes)
    assert restore(run, exported(folder, here)).code == 0
    there = Record.objects.filter(tenant="globex")
    assert {row.text for row in there} == {"A note.", "Outlived.", "Open."}
    assert seen(None, THERE) == seen(ADA, THERE) == {"Open."}
