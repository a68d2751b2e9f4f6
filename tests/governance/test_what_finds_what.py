"""Each line of the table of edits in docs/governance.md has tests that show it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.governance import test_accounts as accounts
from tests.governance import test_content as content
from tests.governance import test_pruned as pruned
from tests.governance import test_seals as seals

PAGE = Path(__file__).parents[2] / "docs" / "governance.md"

SHOWN: dict[str, list[Callable[..., Any]]] = {
    "content or metadata changed": [
        content.TestNineEdits.test_1_content_changed,
        content.TestNineEdits.test_8_metadata_changed,
    ],
    "rows reordered: sequences or ids swapped": [
        content.TestNineEdits.test_4_rows_reordered_by_sequence,
        content.TestNineEdits.test_4_rows_reordered_by_id,
    ],
    "a row forged": [content.TestNineEdits.test_5_a_row_forged],
    "a row replayed in another scope or tenant": [
        content.TestNineEdits.test_6_a_row_replayed_in_another_scope,
        content.TestNineEdits.test_6_a_row_moved_to_another_scope,
    ],
    "the last rows cut": [content.TestNineEdits.test_2_last_rows_cut],
    "a middle row deleted": [content.TestNineEdits.test_3_a_middle_row_deleted],
    "an old version replayed, with its signature": [
        content.TestNineEdits.test_7_an_old_version_replayed
    ],
    "records rolled back to an older snapshot": [
        content.TestNineEdits.test_9_the_records_rolled_back_and_nothing_else
    ],
    "a row deleted, with a tombstone that borrows an old event": [
        accounts.TestBorrowed.test_of_another_verb,
        accounts.TestBorrowed.test_of_a_deletion_that_was_of_fewer,
    ],
    "a deleted row brought back, its tombstone there": [
        accounts.TestBack.test_one_that_a_tombstone_stands_on
    ],
    "a deleted row brought back, without its tombstone": [
        accounts.TestBack.test_one_whose_tombstone_is_gone_too
    ],
    "the whole database rolled back": [
        content.TestNineEdits.test_9_all_tables_rolled_back_to_an_older_snapshot
    ],
    "events edited, removed, inserted, reordered": [
        seals.TestEdits.test_an_edited_event_is_found,
        seals.TestEdits.test_a_removed_event_is_found,
        seals.TestEdits.test_an_inserted_event_is_found,
        seals.TestEdits.test_two_events_that_changed_places_are_found,
    ],
    "sealed events deleted, and their seal marked as pruned": [
        pruned.TestForged.test_a_seal_in_the_middle_cannot_be_emptied,
        pruned.TestForged.test_with_keys_the_event_must_be_signed,
    ],
    "a seal edited, or removed before the last": [
        seals.TestSealEdits.test_an_edited_seal_is_found,
        seals.TestSealEdits.test_a_removed_seal_is_found,
    ],
    "the chain made anew": [
        seals.TestSigned.test_a_chain_without_the_key_is_found,
        seals.TestHeads.test_a_chain_that_was_made_anew_is_found,
    ],
    "the last seals removed with their events, or all seals": [
        seals.TestSigned.test_an_end_that_is_gone_is_found_by_a_head_alone
    ],
}


def lines_of_the_table() -> list[str]:
    text = PAGE.read_text("utf-8")
    table = text.split("| edit | found by | needs |\n", 1)[1].split("\n\n", 1)[0]
    return [re.split(r" *\| *", line)[1] for line in table.splitlines()[1:]]


def test_the_table_says_what_is_shown() -> None:
    assert lines_of_the_table() == [*SHOWN]
    assert all(SHOWN.values())
