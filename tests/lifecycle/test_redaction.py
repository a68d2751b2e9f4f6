"""A canary goes in; it is nowhere: not in a table, the embedder, a hit or an error."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import override_settings

from prism_memory.errors import Invalid, LimitExceeded, PrismMemoryError
from prism_memory.lifecycle.redaction import REDACTED, Redaction
from prism_memory.types import Entry, SourceRef
from tests.factories import make_memory
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

    def test_json_keeps_its_shape(self):
        value = {"a": [1, True, None, "s"], "s": ({"b": "s"},)}
        assert Redaction(secrets=["s"]).json(value) == {
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

    def test_the_derived_key_does_not_give_it_away(self):
        """B85: else a guess could be checked against the hash."""
        first = make_memory(secrets=["1111"]).remember("pin 1111").accepted
        second = make_memory(secrets=["2222"]).remember("pin 2222").accepted
        assert first == second
