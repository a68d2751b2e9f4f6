"""``prism_memory_audit``."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from prism_memory.models import AuditEvent, AuditSeal, Record
from tests.factories import make_memory, make_scope, remember, remember_one
from tests.governance.trail import GONE, KEYS, act
from tests.governance.trail import run as edit

pytestmark = pytest.mark.django_db

COMMAND = "prism_memory_audit"


@pytest.fixture
def keys(settings: Any) -> None:
    settings.PRISM_MEMORY = {**settings.PRISM_MEMORY, "INTEGRITY_KEYS": KEYS}


def test_seals_the_trails_of_all_and_of_the_installation(run: Any) -> None:
    remember_one()
    act(2)
    act(1, tenant="")
    done = run(COMMAND, "seal")
    assert done.code == 0
    assert done.out == (
        "(installation): seal 1 over 1 events.\nacme: seal 1 over 2 events.\n"
    )
    assert run(COMMAND, "seal").out == "Nothing is new.\n"


def test_verify_finds_nothing_wrong(run: Any) -> None:
    remember_one()
    act(2)
    run(COMMAND, "seal", "--tenant", "acme")
    act(1)
    done = run(COMMAND, "verify", "--tenant", "acme")
    assert (done.code, done.out) == (
        0,
        "acme: 1 seals (0 signed), 2 events, 1 events not sealed yet:"
        " nothing is wrong.\n",
    )


def test_verify_fails_and_names_what_is_wrong(run: Any) -> None:
    act(2)
    run(COMMAND, "seal", "--tenant", "acme")
    edit("UPDATE prism_memory_auditevent SET reason = 'x'")
    done = run(COMMAND, "verify", "--tenant", "acme", "--json")
    assert (done.code, done.message) == (1, "1 thing is wrong.")
    (found,) = done.json
    assert found["wrong"] == 1
    assert found["findings"] == [
        {
            "wrong": "events_changed",
            "tenant": "acme",
            "ref": "seal:1",
            "meaning": "events under the seal were edited, swapped or reordered",
        }
    ]
    plain = run(COMMAND, "verify", "--tenant", "acme")
    assert plain.code == 1
    assert plain.out.splitlines()[1] == (
        "acme: seal:1: events under the seal were edited, swapped or reordered."
    )


def test_a_head_that_was_kept_finds_a_chain_cut_short(run: Any, tmp_path: Path) -> None:
    act(1)
    run(COMMAND, "seal", "--tenant", "acme")
    act(1)
    run(COMMAND, "seal", "--tenant", "acme")
    kept = tmp_path / "heads.jsonl"
    kept.write_text(run(COMMAND, "head", "--tenant", "acme").out)
    assert run(COMMAND, "verify", "--tenant", "acme", "--head", kept).code == 0
    edit("DELETE FROM prism_memory_auditevent WHERE seal = 2")
    edit("DELETE FROM prism_memory_auditseal WHERE number = 2")
    assert run(COMMAND, "verify", "--tenant", "acme").code == 0
    done = run(COMMAND, "verify", "--tenant", "acme", "--head", kept)
    assert done.code == 1
    assert "seal:2" in done.out


def test_a_tenant_that_is_gone_is_found_by_its_head(run: Any, tmp_path: Path) -> None:
    act(1)
    run(COMMAND, "seal", "--tenant", "acme")
    kept = tmp_path / "heads.jsonl"
    kept.write_text(run(COMMAND, "head", "--tenant", "acme").out)
    edit("DELETE FROM prism_memory_auditevent")
    edit("DELETE FROM prism_memory_auditseal")
    assert run(COMMAND, "verify", "--head", kept).code == 1
    assert run(COMMAND, "verify", "--tenant", "acme", "--head", kept).code == 1


def test_heads_are_lines_of_json(run: Any) -> None:
    remember_one()
    act(1)
    act(1, tenant="")
    run(COMMAND, "seal")
    lines = [json.loads(line) for line in run(COMMAND, "head").out.splitlines()]
    sha256 = {s.tenant: s.sha256.hex() for s in AuditSeal.objects.order_by("tenant")}
    assert lines == [
        {"tenant": tenant, "number": 1, "sha256": sha256[tenant]}
        for tenant in ("", "acme")
    ]


def test_heads_may_come_from_stdin(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    act(1)
    run(COMMAND, "seal", "--tenant", "acme")
    kept = run(COMMAND, "head", "--tenant", "acme").out
    monkeypatch.setattr("sys.stdin", io.StringIO(kept))
    assert run(COMMAND, "verify", "--tenant", "acme", "--head", "-").code == 0


@pytest.mark.parametrize("text", ["", "\n", "{}", "no json"])
def test_a_file_without_heads_is_refused(run: Any, tmp_path: Path, text: str) -> None:
    kept = tmp_path / "heads.jsonl"
    kept.write_text(text)
    done = run(COMMAND, "verify", "--head", kept)
    assert done.code == 1
    assert "head" in done.message


def test_a_file_that_is_not_there_is_refused(run: Any, tmp_path: Path) -> None:
    assert run(COMMAND, "verify", "--head", tmp_path / "none").code == 1


@pytest.mark.parametrize("action", ["verify", "seal", "head", "sign"])
def test_a_name_that_was_mistyped_is_no_clean_bill(run: Any, action: str) -> None:
    assert run(COMMAND, action, "--tenant", "acne").code == 1


def test_prune_needs_an_age(run: Any) -> None:
    """B503."""
    act(2)
    assert run(COMMAND, "prune", "--tenant", "acme").code != 0
    for days in ("0", "-1", "x"):
        given = ("prune", "--tenant", "acme", "--older-than-days", days)
        assert run(COMMAND, *given).code != 0
    assert AuditEvent.objects.filter(tenant="acme").count() == 2


def test_prune_deletes_old_events(run: Any) -> None:
    """B503."""
    act(3, at=timezone.now() - GONE)
    run(COMMAND, "seal", "--tenant", "acme")
    done = run(COMMAND, "prune", "--tenant", "acme", "--older-than-days", "365")
    assert done.out == "acme: 3 events under 1 seals deleted.\n"
    assert run(COMMAND, "verify", "--tenant", "acme").code == 0


def test_sealing_content_fails_where_a_record_vanished(run: Any, keys: None) -> None:
    ids = remember("One.", "Two.")
    assert run(COMMAND, "seal", "--content").code == 0
    assert run(COMMAND, "verify", "--content").code == 0
    edit("DELETE FROM prism_memory_embedding")
    edit("DELETE FROM prism_memory_record WHERE id = %(id)s", {"id": ids[0]})
    found = run(COMMAND, "verify", "--content", "--json")
    assert found.code == 1
    assert str(ids[0]) in found.out
    done = run(COMMAND, "seal", "--content")
    assert (done.code, done.message) == (1, "1 thing is wrong.")
    assert f"acme: record:{ids[0]}: no deletion accounts for it." in done.out


def test_signs_what_was_there_before(run: Any, settings: Any) -> None:
    remember("One.", "Two.")
    remember_one(scope=make_scope(tenant="beta"))
    settings.PRISM_MEMORY = {**settings.PRISM_MEMORY, "INTEGRITY_KEYS": KEYS}
    assert run(COMMAND, "verify", "--content").code == 1
    done = run(COMMAND, "sign")
    assert (done.code, done.out) == (
        0,
        "acme: 2 signed, 0 by a new key.\nbeta: 1 signed, 0 by a new key.\n",
    )
    assert len(make_memory().list()) == 2
    assert not Record.objects.filter(mac=None).exists()
    refused = run(COMMAND, "sign", "--tenant", "acme")
    assert refused.code == 1
    assert "again" in refused.message


def test_vouches_for_a_record_that_was_looked_at(run: Any, keys: None) -> None:
    (record_id,) = remember("Tea.")
    edit("UPDATE prism_memory_record SET text = 'Coffee.'")
    given = ("sign", "--tenant", "acme", "--record", record_id)
    refused = run(COMMAND, *given)
    assert (refused.code, "reason" in refused.message) == (1, True)
    assert run(COMMAND, "sign", "--record", record_id, "--reason", "x").code == 2
    done = run(COMMAND, *given, "--reason", "seen, ticket 4711")
    assert (done.code, done.out) == (0, "1 record signed as it is.\n")
    assert [item.text for item in make_memory().list()] == ["Coffee."]
    told = AuditEvent.objects.get(tenant="acme", action="integrity.vouch")
    assert (told.target, told.reason) == (f"record:{record_id}", "seen, ticket 4711")
    assert told.detail == {"was": "changed", "version": 1}


def test_signing_needs_a_key(run: Any) -> None:
    remember_one()
    done = run(COMMAND, "sign")
    assert done.code == 1
    assert "INTEGRITY_KEYS" in done.message
