"""``--verify --text-file``: words in all forms they may be stored in, and no others."""

from __future__ import annotations

import unicodedata
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from prism_memory import audit
from prism_memory.governance.erasure.leftovers import leftovers
from prism_memory.models import Record, Run, Tenant
from prism_memory.types import Actor, Entry, Scope
from tests.factories import make_memory, make_scope, remember_one
from tests.management.test_erase import failing
from tests.management.test_erase import run as command

pytestmark = pytest.mark.django_db

BOB = make_scope(owner="bob")
WORD = "xylophonequark"
TARGET = ("--tenant", "acme", "--owner", "ada", "--verify", "--text-file")


def places(*words: str) -> set[tuple[str, str]]:
    found = leftovers(using="default", scope=Scope("acme", "ada"), words=words)
    return {(one.place.removeprefix("prism_memory_"), one.why) for one in found}


def is_found(*words: str) -> bool:
    return ("record.text", "words") in places(*words)


@pytest.mark.parametrize(
    "word", [WORD.upper(), WORD.title(), f"  {WORD}\t", f"\ufeff{WORD}", "LIVES HERE"]
)
def test_words_in_another_case_or_with_space_around(word: str) -> None:
    remember_one(f"{WORD} Lives here", scope=BOB)
    assert is_found(word)


@pytest.mark.parametrize("stored", ["Café Ångström", "CAFÉ ÅNGSTRÖM", "café ångström"])
@pytest.mark.parametrize("how", ["NFC", "NFD"])
def test_letters_that_are_composed_or_not(stored: str, how: Any) -> None:
    remember_one("Something.", scope=BOB)
    other: Any = {"NFC": "NFD", "NFD": "NFC"}[how]
    Record.objects.update(text=unicodedata.normalize(other, stored))
    assert is_found(unicodedata.normalize(how, "Café Ångström"))


def test_words_in_json_and_bytes_in_another_case() -> None:
    make_memory(BOB).remember(Entry("plain", metadata={"A": 'Say "Quark"'}))
    Record.objects.update(mac=WORD.encode())
    assert places('say "quark"', WORD.upper()) == {
        ("record.metadata", "words"),
        ("record.mac", "words"),
    }


@pytest.mark.parametrize("word", ["universities", "relations", "living"])
def test_a_word_of_the_same_stem_is_another_word(word: str) -> None:
    remember_one("the universe is relational and lives", scope=BOB)
    assert places(word) == set()


def test_what_is_of_no_tenant_is_told_apart() -> None:
    audit.record(
        using="default",
        tenant="",
        actor=Actor("user:1"),
        action="x",
        target="t",
        at=timezone.now(),
        reason=WORD,
    )
    Run.objects.create(tenant="", kind="k", actor="a", error=WORD)
    assert places(WORD) == {
        ("auditevent.reason", "installation"),
        ("run.error", "installation"),
    }


def test_names_of_other_tenants_and_of_providers_are_not_this_tenants() -> None:
    remember_one(scope=BOB, wait=True)
    Tenant.objects.create(name="xylobank")
    remember_one(f"{WORD} here", scope=make_scope(tenant="xylobank"))
    assert places("xylobank", "hashing", WORD) == set()
    assert ("tenant.name", "words") in places("acme")


def test_a_file_with_a_mark_at_its_start(tmp_path: Path) -> None:
    remember_one(f"{WORD} here", scope=BOB)
    words = tmp_path / "words.txt"
    words.write_bytes(b"\xef\xbb\xbf" + WORD.encode())
    found, error = failing(*TARGET, str(words))
    assert error.returncode == 1
    assert "prism_memory_record.text" in {one["place"] for one in found["left"]}


@pytest.mark.parametrize("text", ["", "\n \n\t\n", "\ufeff"])
def test_a_file_without_a_word_is_refused(tmp_path: Path, text: str) -> None:
    remember_one("plain", scope=BOB)
    words = tmp_path / "words.txt"
    words.write_text(text, "utf-8")
    _, error = failing(*TARGET, str(words))
    assert error.returncode == 2
    words.write_text(WORD)
    assert command(*TARGET, str(words))["clean"]
