"""B378 to B381: other words and made-up passages, which never break a search."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prism_memory.errors import (
    Invalid,
    LimitExceeded,
    ProviderRejected,
    ProviderUnavailable,
)
from prism_memory.recall.variants import (
    PASSAGE_CHARACTERS,
    UNEMBEDDED,
    UNIMAGINED,
    UNUSABLE,
    UNWORDED,
    Variants,
    said_of,
)
from prism_memory.types import Vector

QUERY = "Where does Ada live?"
PASSAGE = "Ada lives in Porto, near the river."


def vector_of(text: str) -> Vector:
    return [float(len(text)), float(sum(map(ord, text)))]


class Transformer:
    """Says what it is told to, or raises it, and keeps what it was asked."""

    def __init__(
        self, *said: str, passage: str = PASSAGE, error: Exception | None = None
    ) -> None:
        self.said = said
        self.made_up = passage
        self.error = error
        self.asked: list[tuple[str, str, int]] = []
        self.waits: list[float] = []

    def variants(self, query: str, n: int, *, timeout_seconds: float) -> Sequence[str]:
        self.asked.append(("variants", query, n))
        self.waits.append(timeout_seconds)
        if self.error is not None:
            raise self.error
        return self.said

    def passage(self, query: str, *, timeout_seconds: float) -> str:
        self.asked.append(("passage", query, 1))
        self.waits.append(timeout_seconds)
        if self.error is not None:
            raise self.error
        return self.made_up


class Embedder:
    """Embeds by arithmetic; refuses batches over a size, and some texts always."""

    def __init__(self, *refused: str, largest: int = 99) -> None:
        self.refused = refused
        self.largest = largest
        self.error: type[Exception] = ProviderRejected
        self.batches: list[list[str]] = []

    def __call__(self, texts: list[str]) -> list[Vector]:
        self.batches.append(texts)
        if len(texts) > self.largest or any(text in self.refused for text in texts):
            raise self.error
        return [vector_of(text) for text in texts]


def asked(
    transformer: Transformer | None,
    embed: Callable[[list[str]], list[Vector]] | None,
    *,
    multi_query: int = 1,
    hyde: bool = False,
    check: Callable[[str], object] | None = None,
) -> Variants:
    said = said_of(
        QUERY,
        multi_query=multi_query,
        hyde=hyde and embed is not None,
        transformer=transformer,
        check=check,
    )
    return said.embedded(embed)


def test_a_plain_question_is_embedded_alone_and_nobody_is_asked() -> None:
    transformer, embed = Transformer("a"), Embedder()

    assert asked(transformer, embed) == Variants((QUERY,), (vector_of(QUERY),))
    assert embed.batches == [[QUERY]]
    assert transformer.asked == []


def test_without_a_transformer_wishes_are_silently_nothing() -> None:
    """B378, B379."""
    embed = Embedder()

    found = asked(None, embed, multi_query=4, hyde=True)

    assert found == Variants((QUERY,), (vector_of(QUERY),))
    assert embed.batches == [[QUERY]]


def test_a_passage_is_not_made_up_where_nothing_embeds_it() -> None:
    """B379."""
    transformer = Transformer("Ada's home")

    found = asked(transformer, None, multi_query=2, hyde=True)

    assert found == Variants((QUERY, "Ada's home"), (None, None))
    assert transformer.asked == [("variants", QUERY, 1)]


def test_variants_are_asked_with_the_question_in_one_batch() -> None:
    """B378, B381."""
    transformer, embed = Transformer("Ada's home", "Ada's city"), Embedder()

    found = asked(transformer, embed, multi_query=3)

    assert found.texts == (QUERY, "Ada's home", "Ada's city")
    assert found.vectors == tuple(map(vector_of, found.texts))
    assert found.degraded == ""
    assert embed.batches == [[*found.texts]]
    assert transformer.asked == [("variants", QUERY, 2)]


def test_a_made_up_passage_has_a_vector_and_no_words() -> None:
    """B379, B381."""
    transformer, embed = Transformer("Ada's home"), Embedder()

    found = asked(transformer, embed, multi_query=2, hyde=True)

    assert found.texts == (QUERY, "Ada's home", "")
    assert found.vectors[-1] == vector_of(PASSAGE)
    assert embed.batches == [[QUERY, "Ada's home", PASSAGE]]


def test_a_made_up_passage_needs_no_variants() -> None:
    """B379."""
    transformer, embed = Transformer(), Embedder()

    assert asked(transformer, embed, hyde=True).texts == (QUERY, "")
    assert [kind for kind, *_ in transformer.asked] == ["passage"]


def test_no_more_than_the_wanted_variants_are_asked() -> None:
    """B378: N - 1, however many a transformer gives."""
    transformer = Transformer(*"abcdefgh")

    assert asked(transformer, None, multi_query=3).texts == (QUERY, "a", "b")


def test_a_variant_is_asked_once_and_a_blank_one_never() -> None:
    said = ["", "  ", "where  does ADA live?", "Ada's home", "ADA'S  home", QUERY, "x"]

    found = asked(Transformer(*said), None, multi_query=8)

    assert found.texts == (QUERY, "Ada's home", "x")
    assert found.degraded == ""


def test_a_dropped_variant_leaves_its_place_to_the_next() -> None:
    assert asked(Transformer("", "a"), None, multi_query=2).texts == (QUERY, "a")


def no_longer_than_ten(text: str) -> None:
    if len(text) > 10:
        raise LimitExceeded


@pytest.mark.parametrize("text", ["a" * 11, "a\0b", "a\ud800"])
def test_a_variant_that_is_no_acceptable_question_is_dropped(text: str) -> None:
    found = asked(
        Transformer(text, "fine"), None, multi_query=3, check=no_longer_than_ten
    )

    assert found == Variants((QUERY, "fine"), (None, None), UNUSABLE)


def test_a_check_that_calls_a_variant_invalid_drops_it() -> None:
    def refuse(text: str) -> None:
        raise Invalid

    assert asked(Transformer("a"), None, multi_query=2, check=refuse).texts == (QUERY,)


@pytest.mark.parametrize("error", [ProviderUnavailable, ProviderRejected])
def test_a_failing_transformer_leaves_the_plain_search(error: type[Exception]) -> None:
    """B380."""
    transformer, embed = Transformer(error=error()), Embedder()

    found = asked(transformer, embed, multi_query=3, hyde=True)

    reasons = f"{UNWORDED}; {UNIMAGINED}"
    assert found == Variants((QUERY,), (vector_of(QUERY),), reasons)
    assert embed.batches == [[QUERY]]


@pytest.mark.parametrize(
    "text", ["", " \n", "a\0b", "\udfff", "x" * (PASSAGE_CHARACTERS + 1)]
)
def test_an_unusable_passage_leaves_the_plain_search(text: str) -> None:
    """B380."""
    embed = Embedder()

    found = asked(Transformer(passage=text), embed, hyde=True)

    assert found == Variants((QUERY,), (vector_of(QUERY),), UNIMAGINED)


def test_both_calls_of_a_transformer_share_one_wait() -> None:
    transformer = Transformer("a")
    said_of(
        QUERY,
        multi_query=2,
        hyde=True,
        transformer=transformer,
        timeout_seconds=7,
    )

    first, second = transformer.waits
    assert 0 < second <= first <= 7


def test_a_transformer_that_took_all_the_time_is_not_asked_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = iter([0.0, 0.0, 5.0])
    fake = SimpleNamespace(monotonic=lambda: next(clock))
    monkeypatch.setattr("prism_memory.recall.variants.time", fake)
    transformer = Transformer("a")

    found = asked(transformer, Embedder(), multi_query=2, hyde=True)

    assert (found.texts, found.degraded) == ((QUERY, "a"), UNIMAGINED)
    assert [kind for kind, *_ in transformer.asked] == ["variants"]


@pytest.mark.parametrize("error", [ProviderUnavailable, ProviderRejected])
def test_a_failing_batch_falls_back_to_single_calls(error: type[Exception]) -> None:
    """B381: with the same result."""
    transformer = Transformer("Ada's home", "Ada's city")
    whole, single = Embedder(), Embedder(largest=1)
    single.error = error

    expected = asked(transformer, whole, multi_query=3, hyde=True)
    found = asked(transformer, single, multi_query=3, hyde=True)

    assert found == expected
    assert [len(batch) for batch in single.batches] == [4, 1, 1, 1, 1]


def test_a_batch_of_too_few_vectors_falls_back_to_single_calls() -> None:
    """B381."""

    def embed(texts: list[str]) -> list[Vector]:
        return [vector_of(text) for text in texts][:1]

    found = asked(Transformer("a", "b"), embed, multi_query=3)

    assert found.vectors == tuple(map(vector_of, (QUERY, "a", "b")))


def test_a_variant_that_cannot_be_embedded_keeps_its_words() -> None:
    """B380, B381."""
    found = asked(Transformer("bad", "good"), Embedder("bad"), multi_query=3)

    assert found.texts == (QUERY, "bad", "good")
    assert found.vectors == (vector_of(QUERY), None, vector_of("good"))
    assert found.degraded == UNEMBEDDED


def test_a_passage_that_cannot_be_embedded_is_not_searched_for() -> None:
    """B380."""
    found = asked(Transformer("a"), Embedder(PASSAGE), multi_query=2, hyde=True)

    assert found == Variants(
        (QUERY, "a"), tuple(map(vector_of, (QUERY, "a"))), UNEMBEDDED
    )


@pytest.mark.parametrize("error", [ProviderUnavailable, ProviderRejected])
@pytest.mark.parametrize("multi_query", [1, 3])
def test_a_question_that_cannot_be_embedded_is_an_error(
    multi_query: int, error: type[Exception]
) -> None:
    """B381."""
    embed = Embedder(QUERY)
    embed.error = error

    with pytest.raises(error):
        asked(Transformer("a", "b"), embed, multi_query=multi_query)
    assert embed.batches[-1] == [QUERY]


@pytest.mark.parametrize("multi_query", [0, -1, True, 1.5, "2"])
def test_a_wrong_number_of_questions_is_refused(multi_query: int) -> None:
    with pytest.raises(LimitExceeded, match="multi_query"):
        asked(None, None, multi_query=multi_query)


@given(st.lists(st.text(max_size=8)), st.integers(1, 8), st.booleans())
def test_whatever_is_said_the_question_leads_and_nothing_repeats(
    said: list[str], multi_query: int, hyde: bool
) -> None:
    embed = Embedder()

    found = asked(Transformer(*said), embed, multi_query=multi_query, hyde=hyde)

    assert found.texts[0] == QUERY
    assert len(found.texts) == len(found.vectors) <= multi_query + hyde
    words = [" ".join(text.casefold().split()) for text in found.texts]
    assert len({*words}) == len(words)
    assert len(embed.batches) == 1
