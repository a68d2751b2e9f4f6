"""B29: who gets to records, and why. A new way to them fails until it is reviewed here.

The rule is one text, ``db/sql/access.sql``. Python comes to it through
``access.visible`` and ``Reader.condition``, SQL through ``{visible}``. Whatever reads
records without it stands below with its reason.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import prism_memory
from prism_memory import models
from prism_memory.db.queries import named

PACKAGE: Final = Path(prism_memory.__file__).parent
MANAGERS: Final = {"objects", "_default_manager", "_base_manager"}

THROUGH_THE_RULE: Final = {
    "access.get_visible",
    "access.visible",
    "access.visible_in",
    "admin.content.headings",
    "admin.content.previews",
    "admin.content.visible_content",
    "admin.entities._mentions",
    "admin.entities.readable_names",
    "admin.fact_filters.FactFilter._readable",
    "admin.record_filters.RecordFilter.narrow",
    "admin.sharing.ShareForm._ids",
    "admin.words._rows",
    "facts.assert_fact._require_shown",
    "facts.conflicts.conflicts",
    "facts.judging.read_texts",
    "facts.standing.standing",
    "facts.entities._groups",
    "facts.pending._is_in_sight",
    "facts.reading._rows",
    "facts.reviewing._described",
    "facts.reviewing._waiting",
    "facts.supersede.require_sight",
    "facts.writing.cite",
    "governance.export.read",
    "governance.lines.writing",
    "ingest.listing.read_chunks",
    "lifecycle.share._hold_shareable",
    "rag.identity._is_any_foreign",
    "rag.identity._is_foreign",
    "rag.retrieving.standing",
    "recall.adjacent.adjacent",
    "recall.candidates.entity._reach",
    "recall.candidates.statement.statement",
    "recall.denials.still_visible",
    "recall.explain._rows",
    "recall.listing.get",
    "recall.listing._read",
    "recall.sharing.with_shared",
}
"""Readers that use the rule."""

AROUND_THE_RULE: Final = {
    "access.visible": "Adds the rule to the rows.",
    "access.visible_in": "As visible.",
    "admin.content.withheld_content": "A reveal: with a permission, audited.",
    "governance.erasure.target.records_below": "Counts what is to be erased.",
    "admin.items.records_of": "States and keys for a reviewer; ``loaded`` leaves the"
    " words out, and admin.words asks the rule for them.",
    "admin.record_sections.labels": "Kind and key for links of a governor; no words.",
    "admin.records.RecordsAdmin.list_rows": "No rows at all.",
    "admin.readonly.ReadOnlyAdmin.get_queryset": "No rows at all.",
    "admin.readonly.ReadOnlyAdmin.rows": "A governor's list: states and keys of"
    " withheld rows too, whose words ``loaded`` leaves out.",
    "admin.chunks.chunks_section": "States and places of a document's chunks for a"
    " governor; ``previews`` and ``headings`` ask the rule for their words.",
    "admin.source_deeds._in_force": "Counts for a governor what a deed would do.",
    "admin.chosen.chosen_view": "Ids that a governor chose in a scope's list.",
    "admin.holding._records": "Counts for a governor what a hold would keep.",
    "admin.refs.row_of": "The source or scope that a hold is on; no records.",
    "facts.assert_fact._said": "Compares a claim with an open fact of its own scope.",
    "facts.closing.close": "As consent._write.",
    "facts.locking.change_record": "As consent._write.",
    "facts.restore._judged": "The trust of what a restored fact cites; no words.",
    "facts.restore._new": "Which facts of a file are here or were; ids only.",
    "facts.sorted_out._taken": "As _new, and their keys.",
    "governance.erasure.entities.drop_unmentioned": "Erases.",
    "governance.erasure.places.facts_elsewhere": "Ids of scopes and facts; no records.",
    "facts.settle._require_versions": "Versions of what is locked; shows no row.",
    "governance.decay._archive": "Puts locked rows aside; shows none.",
    "governance.erasure.foresee._Looking._rows": "Counts what would go; no row shown.",
    "governance.erasure.leftovers._counted": "Counts what is left; shows no row.",
    "governance.erasure.leftovers._of_scope": "Ids of scopes; no records.",
    "governance.erasure.places._delete": "Erases.",
    "governance.erasure.places.count_elsewhere": "Counts what holds keep.",
    "governance.erasure.places.named_rows": "What is erased, or counted; no records.",
    "governance.erasure.target.find": "Whether there is something to erase.",
    "governance.erasure.target.named_by": "The scope of what is to be erased.",
    "governance.erasure.target.has_row": "Whether a scope has a row.",
    "lifecycle.hold._is_within": "Where the row stands that a hold is on.",
    "lifecycle.hold._lock_there": "As governed._rows.",
    "lifecycle.propagation._roots": "Ids of a source's rows that its governor deletes.",
    "lifecycle.removal.delete_bodies": "Deletes locked rows.",
    "lifecycle.consent._write": "Changes a row that its verb has locked.",
    "lifecycle.correct._rewrite": "As consent._write.",
    "lifecycle.quarantine.set_gate": "As consent._write.",
    "lifecycle.generations._counted": "Counts each generation; shows no row.",
    "lifecycle.governed._rows": "A verb takes one row of exactly its own scope.",
    "models.base.TenantModel.delete": "One row by its own key, whatever the table.",
    "models.base.TenantModel.refresh_from_db": "As delete.",
}
"""ORM queries on records without the rule, each with its reason."""

RAW_SQL: Final = {
    "access.denied": "The sources for which records are withheld; ids only.",
    "access.drawn": "A part of the rule.",
    "lineage.restricting": "Ids of sources that what outlives them stays closed by.",
    "facts.promotable": "Ids that ``validate`` is asked about, by their numbers.",
    "facts.standings": "Numbers of what fades, in sight or not; no words.",
    "access.held": "Whether a hold keeps a row, or a fact that rests on it.",
    "removal.own_words": "Ids of what goes with facts.",
    "removal.same_words": "Ids of what goes with a document's chunks.",
    "conflicts.standing": "Has {visible}.",
    "conflicts.waiting": "Has {visible}.",
    "admin.count_records": "Counts a scope's rows for its governor; no content.",
    "admin.count_records_of_sources": "As count_records, by source.",
    "audit.unaccounted": "Whether what a deletion took is there; ids only.",
    "around.adjacent": "Hits by {visible}; rows beside them by the walks below.",
    "around.explain": "Has {visible}.",
    "around.in_scope": "Each way has {seen}.",
    "around.in_source": "Each way has {seen}.",
    "around.seen": "Is {visible}, of a row that a walk meets.",
    "consent.note_decisions": "Notes the consents of rows that a verb has locked.",
    "entities.keys_of_facts": "Has {visible}: what leads on is in sight itself.",
    "entities.listed": "Has {visible}: counts, and names that these rows bear.",
    "entities.reach": "Has {visible}.",
    "erasure.empty_places": "Whether a scope holds rows; shows none.",
    "erasure.empty_sources": "As empty_places.",
    "erasure.foreseen": "As reached; counted only.",
    "erasure.foreseen_places": "As empty_places.",
    "erasure.foreseen_sources": "As empty_places.",
    "erasure.free_of_scope": "As reached.",
    "erasure.free_of_source": "As reached.",
    "erasure.kept_of_record": "Counts; shows no row.",
    "erasure.kept_of_scope": "As kept_of_record.",
    "erasure.kept_of_source": "As kept_of_record.",
    "erasure.lock_erased": "As reached.",
    "erasure.page_of_record": "As reached.",
    "erasure.page_of_scope": "As reached.",
    "erasure.page_of_source": "As reached.",
    "erasure.reached": "What is to be erased goes, in sight or not; ids only.",
    "evidence.cited": "What facts cite that lose some of it; ids only.",
    "evidence.held_versions": "The trust of what such facts cite; no words.",
    "facts.joined": "A part of statements that have {visible}.",
    "lineage.mark": "The scope of what is blocked; shows no row.",
    "lineage.mark_derived": "As mark.",
    "erasure.mark_erased": "As mark.",
    "removal.delete_empty_sources": "Whether a source has any record left.",
    "removal.held_records": "Which of locked rows a hold keeps.",
    "removal.holds_in_force": "Whether what a hold is on stands in the scope.",
    "removal.lock_records": "A deletion takes hold of rows that a governor chose.",
    "removal.last_of_scope": "As next_of_scope: its last place and moment.",
    "removal.next_of_scope": "Ids of a thread's rows that its governor forgets.",
    "removal.records_of_scope": "Which of a governor's ids are rows of their scope.",
    "export.left_out": "Counts by reason; has {unwithheld}, and shows no row.",
    "indexing.claim": "The text that an embedder shall see, also of hidden rows: a"
    " consent given later must not wait for a vector.",
    "indexing.enqueue_missing": "As indexing.claim: what has no vector is queued.",
    "indexing.page_of_texts": "As indexing.claim: a rebuild makes all vectors anew.",
    "indexing.page_to_fill": "As indexing.claim: what lacks its vector.",
    "indexing.fill_vectors": "Writes them, while the text is still the same.",
    "indexing.requeue_stale": "Compares hashes of texts; ids only.",
    "indexing.count_records": "Counts for progress; no content.",
    "indexing.sampled_texts": "Words that two embedders are compared by; shown to"
    " nobody.",
    "situate.page": "Ids of all, in sight or not, whose index texts are made anew.",
    "situate.lock": "What these are made of; shown to nobody.",
    "situate.write": "Writes them.",
    "situate.requeue": "Hashes of texts that wait for a vector.",
    "doctor.vectors_amiss": "Compares hashes of texts; counts only.",
    "doctor.records_without_vectors": "Counts; no content.",
    "doctor.delete_orphans": "Ids of vectors whose record is retired or gone.",
    "doctor.indexes_of_our_tables": "The catalogue; no rows.",
    "doctor.statistics_of_tables": "Numbers of the server's; no rows.",
    "indexing.table_sizes": "Bytes of the table.",
    "metrics.sizes": "Bytes and estimated rows of the table.",
    "indexing.unsettled_sources": "Whether a document waits; shows no row.",
    "ingest.chunks": "An ingest compares itself with a document's own rows.",
    "ingest.hidden_words": "Whether a document's own rows are hidden; shows no row.",
    "ingest.ids_of_source": "Ids of a source's rows that its governor deletes.",
    "ingest.insert_chunks": "Writes.",
    "ingest.move_chunks": "Writes.",
    "ingest.own_records": "What goes out of search with its source, or comes back.",
    "ingest.retire_chunks": "Writes.",
    "ingest.reuse_vectors": "Vectors of a document's own rows; shows none.",
    "ingest.set_retired": "Writes.",
    "ingest.states_of_sources": "Counts vectors of sources in sight; no words.",
    "ingest.waiting_of_source": "As indexing.claim: which of a document's rows wait.",
    "integrity.between": "An auditor's look: signatures of all rows; shows ids only.",
    "integrity.locked": "Signatures of rows that an operator vouches for; shows none.",
    "integrity.rows": "Signatures of rows that were just read or written; shows none.",
    "integrity.sign": "Writes signatures.",
    "integrity.unsigned": "What an operator has signed; shows ids only.",
    "integrity.versions": "Ids and versions, for the manifest of all rows.",
    "rag.foreign": "Has {visible}.",
    "recall.beside": "Has {visible}.",
    "recall.looked": "Words and counts; what is shown of it passes {visible} after.",
    "recall.looked_small": "As looked.",
    "recall.population": "How many rows there are, about; no row.",
    "recall.narrowed": "Ids that the vector leg compares; they pass {visible} after.",
    "recall.near_index": "Has {visible}.",
    "recall.recall": "What a leg found has {visible} before the limit; the page shows"
    " what passed it.",
    "recall.recent": "Has {visible}.",
    "recall.waiting": "Whether something unwithheld waits; shows no row.",
    "recall.words_bounded": "As looked.",
    "reinforce.strengthen": "Which of the ids of hits are still there; counts only.",
    "remember.find_records": "A write compares itself with rows of its own scope.",
    "remember.resolve_ids": "Lineage may name any row in the chain, hidden or not.",
    "remember.resolve_keys": "As resolve_ids, by key.",
    "remember.resolve_shared": "As resolve_ids: any row that is shared, hidden or not.",
    "remember.upsert_records": "Writes.",
    "restore.any_late": "Whether something waits to be linked; shows no row.",
    "restore.complete": "Writes.",
    "restore.find_named": "A write compares itself with what is there; ids only.",
    "restore.open": "Writes.",
    "retention.counted": "Counts what is due, in sight or not; shows no row.",
    "retention.due": "What is due goes, in sight or not; shows ids only.",
    "retention.lock_due": "As due.",
    "retention.lowest": "As due.",
    "retention.oldest": "As due.",
    "reviews.waiting": "Has {visible}.",
    "share.hold_shareable": "Has {visible}.",
    "source_access.cited": "Counts; shows no row.",
    "share.shared": "Has {visible}.",
}
"""Named statements that read records."""


def modules() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        name = ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
        if not name.startswith("migrations"):
            yield name, ast.parse(path.read_text("utf-8"))


def nodes(tree: ast.AST, owner: str) -> Iterator[tuple[str, ast.AST]]:
    """Yield every node with the dotted name of what it stands in."""
    for child in ast.iter_child_nodes(tree):
        named_here = isinstance(child, ast.FunctionDef | ast.ClassDef)
        place = f"{owner}.{getattr(child, 'name', '')}" if named_here else owner
        yield place, child
        yield from nodes(child, place)


DOORS: Final = {"visible", "visible_in", "get_visible"}


def uses_the_rule(node: ast.AST) -> bool:
    if isinstance(node, ast.Attribute):
        return node.attr == "condition"
    called = node.func if isinstance(node, ast.Call) else None
    if isinstance(called, ast.Name):
        return called.id in DOORS
    return (
        isinstance(called, ast.Attribute)
        and called.attr in DOORS
        and ast.unparse(called.value) == "access"
    )


def queries_records(node: ast.AST) -> bool:
    """Tell whether a node is a manager of ``Record``, or of a model not named here."""
    if not (isinstance(node, ast.Attribute) and node.attr in MANAGERS):
        return False
    others = {name for name in models.__all__ if name != "Record"}
    return ast.unparse(node.value).rpartition(".")[2] not in others


def owners(wanted: object) -> set[str]:
    return {
        owner
        for name, tree in modules()
        for owner, node in nodes(tree, name)
        if wanted(node)  # type: ignore[operator] # one of the two above
    }


def test_the_readers_that_use_the_rule_are_known() -> None:
    """B29."""
    assert owners(uses_the_rule) == THROUGH_THE_RULE


def test_every_query_around_the_rule_was_reviewed() -> None:
    """B29."""
    assert owners(queries_records) == {*AROUND_THE_RULE}


def statements() -> Iterator[tuple[str, str]]:
    for path in sorted((PACKAGE / "db" / "sql").glob("*.sql")):
        for name, text in named(path.stem).items():
            yield f"{path.stem}.{name}", text


def test_every_statement_on_records_was_reviewed() -> None:
    """B29."""
    reading = {
        n for n, text in statements() if re.search(r"prism_memory_record\b", text)
    }
    assert reading == {*RAW_SQL}


def test_no_statement_on_records_is_written_outside_the_sql_files() -> None:
    """B29: else the test above would not see it."""
    holders = {
        owner
        for name, tree in modules()
        for owner, node in nodes(tree, name)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and re.search(r"\bprism_memory_record\b", node.value)
        and not name.startswith("models.")
    }
    assert holders == {
        "checks.of_databases",  # the names of the tables whose columns it looks up
        "metrics.gauges",  # names of the tables whose sizes are shown
        "runs.progress",  # under which name an erasure counts records
        "types.erasures",  # under which name counts tell of records
    }


def squeezed(text: str) -> str:
    """Leave out what stands between: the order by distance, with its constants."""
    return text.replace("{dimensions}", "")


def test_each_leg_of_recall_and_its_page_use_the_rule() -> None:
    """B29, B131: before the limit of each."""
    recall = named("recall")
    for name in ("recall", "near_index", "recent"):
        assert recall[name].count("{visible}") == 1, name
        assert re.search(r"AND \{visible\}[^{]+LIMIT \{rows\}", squeezed(recall[name]))
    assert "AND {visible}" in recall["beside"]
    page = recall["recall"].partition("found AS MATERIALIZED")[2]
    assert re.findall(r"FROM (\w+)\n +UNION ALL\n +SELECT [^F]*FROM (\w+)", page) == [
        ("ranked", "beside")
    ]
    assert "record.id = found.record_id" in page


def test_what_stands_around_a_hit_uses_the_rule() -> None:
    """B29, B117: each walk before its limit, and each hit that a walk begins at."""
    around = named("around")
    assert "record.id = beside.id AND {visible}" in around["seen"]
    for name in ("in_source", "in_scope"):
        ways = around[name].split("UNION ALL")
        assert len(ways) == 2
        for way in ways:
            assert re.search(r"AND \{seen\}\s+ORDER BY .*\s+LIMIT", way), name
    for name in ("adjacent", "explain"):
        assert around[name].count("record.id = given.id AND {visible}") == 1, name


def test_the_rule_itself_is_one_statement() -> None:
    """B29: no second text of it."""
    marks = [
        name for name, text in statements() if "record.revoked_at IS NULL\n" in text
    ]
    assert marks[:1] == ["access.unwithheld"]  # which access.visible holds
    assert {*marks} <= {"access.unwithheld", "remember.upsert_records"}
