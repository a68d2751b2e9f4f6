"""Recall through the Python door, on a real database."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest
from django.conf import settings
from django.db import connection, transaction
from django.test import override_settings
from pytest_django import DjangoAssertNumQueries

from prism_memory import Entry, Lineage, Memory, Origin, Scope, Trust, backends
from prism_memory.errors import (
    Invalid,
    LimitExceeded,
    ProviderRejected,
    ProviderUnavailable,
)
from prism_memory.types import ReadMode, SourceRef
from tests.recall.bulk import fill, seed

pytestmark = pytest.mark.django_db

ADA = Scope("acme", owner="ada")
BOB = Scope("acme", owner="bob")
TEA = "Ada drinks tea in the morning"


def memory(scope: Scope = ADA, **options: Any) -> Memory:
    return Memory(scope, origin=Origin(Trust.USER, "tests"), **options)


def texts(found: Any) -> list[str]:
    return [hit.text for hit in found]


def test_words_and_meaning_find_a_record() -> None:
    memory().remember([TEA, "The train leaves at noon"], wait=True)

    found = memory().recall("when does the train leave?", top_k=1)

    assert texts(found) == ["The train leaves at noon"]
    assert found.strategy == "exact"
    assert found.degraded == ""


def test_a_hit_can_be_traced() -> None:
    """C35: id, scope, source, trust, time and scores."""
    noon = dt.datetime(2026, 1, 1, 12, tzinfo=dt.UTC)
    entry = Entry(
        TEA,
        key="tea",
        source=SourceRef("chat-1", ordinal=3),
        happened_at=noon,
        metadata={"mood": "calm"},
    )
    stored = memory().remember(entry, wait=True)

    (hit,) = memory().recall("tea in the morning")

    assert hit.id == stored.accepted[0]
    assert (hit.key, hit.text, hit.scope) == ("tea", TEA, ADA)
    assert (hit.source, hit.ordinal) == ("chat-1", 3)
    assert (hit.trust, hit.writer) == (Trust.USER, "tests")
    assert (hit.happened_at, hit.metadata) == (noon, {"mood": "calm"})
    assert hit.created_at.tzinfo is not None
    assert hit.method == "hybrid"
    assert hit.ranks == {"vector": 1, "text": 1}
    assert hit.cosine is not None
    assert 0 < hit.cosine <= 1
    assert hit.bm25 is not None
    assert 0 < hit.score <= 1


@pytest.mark.parametrize(
    "stranger",
    [
        Scope("other", owner="ada"),
        BOB,
        Scope("acme", owner="ADA"),
        Scope("acme", owner="ada "),
        Scope("acme"),
    ],
    ids=str,
)
@pytest.mark.parametrize("legs", ["hybrid", "vector", "text"])
def test_a_stranger_recalls_nothing(stranger: Scope, legs: str) -> None:
    """B4, B18, C02: also when the stranger has no hit of their own."""
    memory().remember(TEA, wait=True)

    assert texts(memory(stranger).recall(TEA, legs=legs)) == []


def test_a_thread_recalls_the_levels_above_and_not_its_siblings() -> None:
    """B5, B17, B18."""
    agent = ADA.with_agent("support")
    mine, sibling = agent.with_thread("1"), agent.with_thread("2")
    for scope in (Scope("acme"), ADA, agent, mine, sibling):
        memory(scope).remember(f"tea of {scope}", wait=True)

    seen = texts(memory(mine).recall("tea", top_k=10))

    assert set(seen) == {f"tea of {s}" for s in (Scope("acme"), ADA, agent, mine)}
    exact = memory(mine, read=ReadMode.EXACT).recall("tea", top_k=10)
    assert texts(exact) == [f"tea of {mine}"]


def test_case_c01_names_are_compared_letter_by_letter() -> None:
    """C01: wildcards, prefixes, case and escapes in owners' names."""
    owners = ["john_doe", "john-doe", "john", "johnny", "%", r"a\_b", "a.b", "A", "a"]
    for owner in owners:
        memory(Scope("acme", owner)).remember(f"the secret of {owner}", wait=True)

    for owner in owners:
        mine = memory(Scope("acme", owner))
        assert texts(mine.recall("secret", top_k=32)) == [f"the secret of {owner}"]
        assert texts(mine.list()) == [f"the secret of {owner}"]


@pytest.mark.parametrize("narrowing", ["kinds", "tiers", "namespaces", "ids"])
def test_case_c04_an_empty_collection_lets_nothing_through(narrowing: str) -> None:
    """C04."""
    memory().remember(TEA, wait=True)

    nothing: dict[str, Any] = {narrowing: []}
    assert texts(memory().recall(TEA, **nothing)) == []
    assert texts(memory().recall(TEA)) == [TEA]


def test_a_revoked_record_is_gone_at_once() -> None:
    """B134."""
    stored = memory().remember(TEA, wait=True)

    memory().set_consent(stored.accepted[0], visible=False)

    assert texts(memory().recall(TEA)) == []


def test_a_page_is_full_while_nearer_rows_are_invisible() -> None:
    """B131: 10,000 invisible nearer rows in the way of both legs."""
    seed(ADA)
    nearest = backends.get_embedder().embed_texts(
        ["tea"], role="query", timeout_seconds=9
    )[0]
    near = str(list(nearest))
    fill(ADA, 10_000, text="tea tea tea", visible=False, near=near)
    memory().remember([f"a cup of tea, number {n}" for n in range(9)], wait=True)

    for legs in ("hybrid", "vector", "text"):
        found = memory().recall("tea", top_k=9, legs=legs)
        assert len(found) == 9
        assert not any(text.startswith("tea tea") for text in texts(found))


def test_one_statement_asks_both_legs(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    """B128, B505."""
    memory().remember(TEA, wait=True)
    memory().recall(TEA)  # the active space is known from here on

    with django_assert_num_queries(1):
        memory().recall(TEA)


@pytest.mark.django_db(transaction=True)
def test_recall_writes_nothing() -> None:
    """B80, B287."""
    stored = memory().remember(TEA, wait=True)

    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION READ ONLY")
        assert texts(memory().recall(TEA)) == [TEA]
        assert texts(memory().list()) == [TEA]
        assert memory().get(stored.accepted[0]).text == TEA
        assert memory().pending().pending == 0


@pytest.mark.parametrize("query", ["", "  \n"])
def test_a_blank_query_is_refused(query: str) -> None:
    """B130."""
    with pytest.raises(Invalid) as caught:
        memory().recall(query)
    assert caught.value.field == "query"


@pytest.mark.parametrize("top_k", [33, -1, 2.5, True, "5"])
def test_top_k_is_never_clamped(top_k: Any) -> None:
    """B30, B116."""
    with pytest.raises(LimitExceeded, match=r"top_k must be .*0 to 32"):
        memory().recall("tea", top_k)


def test_top_k_is_five_unless_the_memory_says_otherwise() -> None:
    """B116."""
    memory().remember([f"tea {n}" for n in range(9)], wait=True)

    assert len(memory().recall("tea")) == 5
    assert len(memory(limits={"top_k": 7}).recall("tea")) == 7
    assert len(memory().recall("tea", 0)) == 0


def test_no_match_is_an_empty_answer() -> None:
    """B130."""
    assert texts(memory().recall("anything")) == []


def test_a_question_of_many_words_finds_what_holds_any_of_them() -> None:
    """B368: words are OR-ed."""
    memory().remember(["We sailed past the lighthouse", "Soup for lunch"], wait=True)

    found = memory().recall("Did anyone ever mention a lighthouse?", legs="text")

    assert texts(found) == ["We sailed past the lighthouse"]


@pytest.mark.parametrize(
    "query", ["tea & ! | ( ) :* <-> '", r"tea \ '' \' %s %(tenant)s {visible}", "'tea"]
)
def test_operators_in_a_question_are_words_or_nothing(query: str) -> None:
    """B284, B368."""
    memory().remember(TEA, wait=True)

    assert texts(memory().recall(query, legs="text")) == [TEA]


def test_a_text_cannot_forge_the_mark_of_a_scope() -> None:
    stranger = memory(BOB)
    stranger.remember(f"tea \x1f{ADA.id} {ADA.id}", wait=True)

    assert texts(memory().recall("tea")) == []


def test_a_record_without_a_vector_is_found_by_its_words() -> None:
    """B281."""
    memory().remember(TEA)

    found = memory().recall(TEA)

    assert [hit.method for hit in found] == ["text"]


class _Raising(backends.Embedder):
    def __init__(self, error: type[Exception]) -> None:
        super().__init__(provider="hashing", model="fnv1a", dimensions=64)
        self.error = error

    def embed_texts(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ARG002
        raise self.error


class ErrorOfAnSDK(Exception):
    """Of no class that this app could know."""


@pytest.mark.parametrize(
    ("error", "raised", "why"),
    [
        (ProviderUnavailable, ProviderUnavailable, "the embedder is unavailable"),
        (ProviderRejected, ProviderRejected, "the embedder refused the question"),
        (ErrorOfAnSDK, ProviderRejected, "the embedder refused the question"),
    ],
)
def test_words_answer_while_the_embedder_does_not(
    monkeypatch: pytest.MonkeyPatch,
    error: type[Exception],
    raised: type[Exception],
    why: str,
) -> None:
    """B487: and the answer says so."""
    memory().remember(TEA, wait=True)
    monkeypatch.setattr(backends, "get_embedder", lambda _: _Raising(error))

    found = memory().recall(TEA)

    assert texts(found) == [TEA]
    assert found.degraded == why
    with pytest.raises(raised):
        memory().recall(TEA, legs="vector")


def test_without_an_embedder_words_answer() -> None:
    """B282."""
    with override_settings(PRISM_MEMORY={}):
        memory().remember(TEA)
        found = memory().recall(TEA)

    assert texts(found) == [TEA]
    assert found.degraded == "no embedder is configured"


def test_before_anything_is_written_the_embedder_is_not_said_to_be_missing() -> None:
    found = memory().recall(TEA)

    assert (found.hits, found.degraded) == ((), "nothing is embedded yet")


def test_secrets_are_never_shown() -> None:
    """B133: also those stored before they were known as such."""
    memory().remember(Entry(TEA, metadata={"note": "tea"}), wait=True)

    (hit,) = memory(secrets=["tea"]).recall("morning")

    assert hit.text == "Ada drinks [redacted] in the morning"
    assert hit.metadata == {"note": "[redacted]"}


@pytest.mark.parametrize(
    ("at", "seen"), [(9, False), (10, True), (11, True), (12, False)]
)
def test_validity_is_half_open(at: int, *, seen: bool) -> None:
    """B243, C22."""

    def hour(number: int) -> dt.datetime:
        return dt.datetime(2026, 1, 1, number, tzinfo=dt.UTC)

    memory().remember(Entry(TEA, valid_from=hour(10), valid_to=hour(12)), wait=True)

    assert bool(memory().recall(TEA, as_of=hour(at))) is seen


def test_strict_mode_leaves_out_what_nobody_consented_to() -> None:
    """B136, B137."""
    memory().remember(TEA, wait=True)
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE prism_memory_record SET visible = NULL WHERE tenant='acme'"
        )

    assert texts(memory().recall(TEA)) == [TEA]
    assert texts(memory().recall(TEA, require_consent=True)) == []
    assert texts(memory(require_consent=True).recall(TEA)) == []
    with override_settings(
        PRISM_MEMORY={**settings.PRISM_MEMORY, "REQUIRE_CONSENT": True}
    ):
        assert texts(memory().recall(TEA)) == []
        assert texts(memory().recall(TEA, require_consent=False)) == [TEA]


@pytest.mark.parametrize("hidden", ["revoked", "hidden", "quarantined", "expired"])
def test_a_score_does_not_tell_what_a_withheld_text_holds(hidden: str) -> None:
    """The words of withheld rows weigh nothing."""
    above = memory(Scope("acme"))
    secret = above.remember("the code is hunter2", wait=True).accepted[0]
    columns = {
        "revoked": "revoked_at = now()",
        "hidden": "visible = FALSE",
        "quarantined": "gate = 'quarantined'",
        "expired": "expires_at = now() - interval '1 day'",
    }
    with connection.cursor() as cursor:
        cursor.execute(
            f"UPDATE prism_memory_record SET {columns[hidden]}"  # noqa: S608 - ours
            " WHERE tenant = 'acme' AND id = %s",
            [secret],
        )
    low = memory(ADA.with_agent("bot"))
    low.remember(["guess hunter2", "guess hunter3"], wait=True)

    (right,) = low.recall("hunter2", legs="text")
    (wrong,) = low.recall("hunter3", legs="text")

    assert right.bm25 == wrong.bm25


def test_a_score_does_not_tell_what_a_derived_text_holds() -> None:
    above = memory(Scope("acme"))
    source = above.remember(Entry("the plan", key="plan"), wait=True).accepted[0]
    derived = Entry("the code is hunter2", lineage=Lineage(("plan",)))
    above.remember(derived, wait=True)
    above.set_consent(source, visible=False)
    low = memory(ADA)
    low.remember(["guess hunter2", "guess hunter3"], wait=True)

    (right,) = low.recall("hunter2", legs="text")
    (wrong,) = low.recall("hunter3", legs="text")

    assert right.bm25 == wrong.bm25


def test_a_query_of_too_many_words_is_refused() -> None:
    """A question's cost grows with its words; the limit is named, not cut to."""
    words = [f"word{number}" for number in range(65)]

    with pytest.raises(LimitExceeded, match="query_words"):
        memory().recall(" ".join(words))
    assert texts(memory().recall(" ".join(words[:64]))) == []
    assert texts(memory(limits={"query_words": 65}).recall(" ".join(words))) == []
