"""A canary goes in; it is nowhere: not in a table, the embedder, a hit or an error."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import override_settings
from hypothesis import given
from hypothesis import strategies as st

from prism_memory.errors import (
    Invalid,
    LimitExceeded,
    Misconfigured,
    PrismMemoryError,
)
from prism_memory.redaction import REDACTED, Redaction
from prism_memory.types import Entry, SourceRef
from tests.factories import make_memory, make_scope
from tests.lifecycle.embedders import Watched, embedding_with
from tests.tables import holding

CANARY = "canary-7f3a"
SEEN_BY_HOOK: list[Any] = []


def redact_numbers(text: str) -> str:
    return re.sub(r"\d{4}-\d{4}", "<card>", text)


def importance(reflection: Any) -> float:
    SEEN_BY_HOOK.append(reflection)
    return 0.5


def secret_entry(secret: str) -> Entry:
    """Return an entry that holds a secret wherever words may stand."""
    return Entry(
        f"My card is {secret}, keep it.",
        lexical_text=f"card {secret}",
        embed_text=f"the card {secret}",
        metadata={"card": secret, f"key {secret}": {"deep": [[f"x{secret}x"]]}},
        reflection={"about": secret},
        source=SourceRef("chat", uri=f"https://example.org/?card={secret}"),
    )


class TestPlain:
    def test_the_longest_secret_goes_first(self):
        redaction = Redaction(secrets=["ab", "abc", ""])
        assert redaction.text("abcd ab") == f"{REDACTED}d {REDACTED}"

    @given(st.lists(st.text("ab", max_size=4), max_size=4), st.text("abc", max_size=12))
    def test_whatever_a_secret_covers_is_gone_and_nothing_else(self, secrets, text):
        """Against a model that marks each letter by itself."""
        covered: set[int] = set()
        for secret in filter(None, secrets):
            for at in range(len(text)):
                if text.startswith(secret, at):
                    covered.update(range(at, at + len(secret)))
        kept = "".join(word for at, word in enumerate(text) if at not in covered)
        assert Redaction(secrets=secrets).mask(text).replace(REDACTED, "") == kept

    @pytest.mark.parametrize(
        ("secrets", "text", "shown"),
        [
            (["abcd", "cdef"], "xabcdefx", f"x{REDACTED}x"),
            (["cdef", "abcd"], "abcdef cdef", f"{REDACTED} {REDACTED}"),
            (["aba"], "ababa", REDACTED),
            (["ab"], "abab", REDACTED * 2),
        ],
    )
    def test_overlapping_secrets_leave_no_tail(self, secrets, text, shown):
        """B133."""
        assert Redaction(secrets=secrets).mask(text) == shown

    @pytest.mark.parametrize(
        "wrong", ["hunter2", b"hunter2", [b"hunter2"], [7], 7, None, {"hunter2": 1}]
    )
    def test_secrets_that_are_no_list_of_strings_are_refused(self, wrong):
        """B133: of a bare string each letter would be taken for a secret."""
        with pytest.raises(Invalid) as refused:
            make_memory(secrets=wrong)
        assert refused.value.field == "secrets"
        setting = override_settings(PRISM_MEMORY={"SECRETS": wrong})
        with setting, pytest.raises(Misconfigured) as misconfigured:
            make_memory()
        assert misconfigured.value.field == "SECRETS"
        assert "hunter2" not in f"{refused.value}{misconfigured.value}"

    @pytest.mark.parametrize(
        "metadata",
        [
            {"a": {"k one": 1, "k two": 2}},
            {"k one": 1, f"k {REDACTED}": 2},
        ],
        ids=repr,
    )
    def test_keys_that_become_one_are_refused(self, metadata):
        """B94: else one of the two values would be lost without a word."""
        with pytest.raises(Invalid) as refused:
            Redaction(secrets=["one", "two"]).json(metadata, "metadata")
        assert refused.value.field == "metadata"

    def test_the_redactor_runs_before_the_secrets(self):
        redaction = Redaction(str.lower, ["secret"])
        assert redaction.text("A SECRET") == f"a {REDACTED}"

    def test_a_redactor_that_gives_no_text_is_refused(self):
        with pytest.raises(Invalid) as refused:
            Redaction(lambda _: None).text("words")  # type: ignore[arg-type, return-value]
        assert refused.value.field == "redactor"

    def test_settings_and_memory_add_up(self):
        with override_settings(PRISM_MEMORY={"SECRETS": ("one",)}):
            redaction = Redaction.configured(secrets=["two"])
        assert redaction.text("one two") == f"{REDACTED} {REDACTED}"

    def test_the_secrets_of_a_memory_are_those_when_it_was_made(self):
        with override_settings(PRISM_MEMORY={"SECRETS": ("one",)}):
            memory = make_memory()
        with override_settings(PRISM_MEMORY={"SECRETS": ("two",)}):
            assert memory.redaction.text("one two") == f"{REDACTED} two"

    def test_json_keeps_its_shape(self):
        value = {"a": [1, True, None, "s"], "s": ({"b": "s"},)}
        assert Redaction(secrets=["s"]).json(value, "value") == {
            "a": [1, True, None, REDACTED],
            REDACTED: [{"b": REDACTED}],
        }


@pytest.mark.django_db
class TestCanary:
    """B94, B133."""

    @pytest.mark.parametrize(
        ("settings", "given", "secret"),
        [
            ({}, {"secrets": [CANARY]}, CANARY),
            ({"SECRETS": (CANARY,)}, {}, CANARY),
            ({}, {"redactor": redact_numbers}, "1234-5678"),
            ({"REDACTOR": f"{__name__}.redact_numbers"}, {}, "1234-5678"),
        ],
        ids=["memory's secrets", "setting", "memory's redactor", "redactor setting"],
    )
    def test_it_reaches_neither_table_nor_embedder_nor_reader(
        self, settings, given, secret
    ):
        SEEN_BY_HOOK.clear()
        hook = {"IMPORTANCE_FROM": f"{__name__}.importance"}
        with embedding_with(Watched, **settings, **hook):
            memory = make_memory(**given)
            remembered = memory.remember([secret_entry(secret)], wait=True)
            recalled = memory.recall(f"What is card {secret}?")
            shown = [memory.get(remembered.accepted[0]), *memory.list(), *recalled]
            memory.set_consent(
                remembered.accepted[0], visible=False, reason=f"said {secret}"
            )
        assert len(shown) == 3
        assert holding(secret) == []
        assert Watched.seen
        for seen in (Watched.seen, SEEN_BY_HOOK, shown):
            assert secret not in repr(seen)
        assert SEEN_BY_HOOK

    def test_the_scan_would_find_it(self):
        """Were it stored, these tables would hold it."""
        with embedding_with(Watched):
            make_memory().remember([secret_entry(CANARY)], wait=True)
        assert holding(CANARY) == ["prism_memory_source", "prism_memory_record"]
        assert CANARY in repr(Watched.seen)

    def test_what_was_stored_before_the_secret_was_known_is_masked_for_readers(self):
        entry = Entry(
            f"words {CANARY}",
            key=f"k {CANARY}",
            namespace=CANARY,
            partition=CANARY,
            metadata={"n": CANARY},
            source=SourceRef(f"chat {CANARY}"),
        )
        (record_id,) = make_memory().remember(entry, wait=True).accepted
        memory = make_memory(secrets=[CANARY])
        shown = [memory.get(record_id), *memory.list(), *memory.recall("words")]
        assert len(shown) == 3
        assert CANARY not in repr(shown)

    @pytest.mark.parametrize(
        "given",
        [
            {"text": f"{CANARY}\0"},
            {"text": CANARY * 2_000},
            {"text": "a", "metadata": {"n": f"{CANARY}\ud800"}},
            {"text": "a", "key": CANARY * 100},
            {"text": "a", "key": CANARY},
            {"text": "a", "kind": CANARY},
            {"text": "a", "consent": {"source": CANARY}},
            {"text": "a", "lineage": {"source_ids": [f"record:{CANARY}"]}},
            {"text": "a", "happened_at": CANARY},
            {"text": "a", "language": CANARY},
            {"text": "a", "metadata": {"n": {CANARY}}},
        ],
    )
    def test_no_error_repeats_it(self, given):
        memory = make_memory(secrets=["other", CANARY], limits={"text_characters": 99})
        with pytest.raises(PrismMemoryError) as refused:
            memory.remember([given])
        assert CANARY not in f"{refused.value} {refused.value.field}"
        assert isinstance(refused.value, Invalid | LimitExceeded)

    @pytest.mark.parametrize("level", ["owner", "agent", "thread"])
    def test_a_scope_named_by_a_secret_takes_nothing(self, level):
        """B94: a scope's names are stored, and cannot be redacted."""
        memory = make_memory(make_scope(**{level: f"x {CANARY}"}), secrets=[CANARY])
        with pytest.raises(Invalid) as refused:
            memory.remember("words")
        assert refused.value.field == level
        assert CANARY not in str(refused.value)
        assert holding(CANARY) == []

    def test_the_derived_key_does_not_give_it_away(self):
        """B85: else a guess could be checked against the hash."""
        first = make_memory(secrets=["1111"]).remember("pin 1111").accepted
        second = make_memory(secrets=["2222"]).remember("pin 2222").accepted
        assert first == second
