"""B378 to B381 through the door: other words and made-up passages."""

from __future__ import annotations

from typing import Any

import pytest
from asgiref.sync import async_to_sync

from prism_memory import backends
from prism_memory.errors import (
    Invalid,
    LimitExceeded,
    ProviderRejected,
    ProviderUnavailable,
)
from prism_memory.types import Entry, Options, Scoring
from tests.factories import make_memory, make_scope, remember, remember_one
from tests.recall.providers import CONFIGURED, NotedEmbedder, Words

pytestmark = pytest.mark.django_db

QUESTION = "Where does Ada live?"
PORTO = "She moved to Porto in May."
MANY = 40
"""More than a leg gives: what is not near the question is none of its candidates."""


@pytest.fixture(autouse=True)
def _configured(settings: Any) -> None:
    wish = {"WAKE": False, **CONFIGURED, "TRANSFORMER": "words"}
    settings.PRISM_MEMORY = settings.PRISM_MEMORY | wish


@pytest.fixture
def words() -> Words:
    made = backends.get_transformer("words")
    assert isinstance(made, Words)
    return made


@pytest.fixture
def embedder() -> NotedEmbedder:
    made = backends.get_embedder()
    assert isinstance(made, NotedEmbedder)
    return made


@pytest.fixture
def porto() -> None:
    """One record that the question does not lead to, beside many that it does.

    It is the more important: once it is a candidate, scoring can bring it up.
    """
    notes = [f"Ada does live, says note {n}." for n in range(MANY)]
    remember(*notes, wait=True, importance=0)
    remember_one(PORTO, wait=True, importance=1)


def texts(found: Any) -> list[str]:
    return [hit.text for hit in found]


def recalled(top_k: int = 32, **options: Any) -> Any:
    return make_memory().recall(QUESTION, top_k, **options)


@pytest.mark.usefixtures("porto")
def test_a_variant_finds_what_the_question_does_not(words: Words) -> None:
    """B378: and nothing is said to be missing."""
    words.said = ["Who moved to Porto?"]
    assert PORTO not in texts(recalled(5, scoring=Scoring(0, 1)))

    found = recalled(5, multi_query=2)

    (hit,) = [hit for hit in found if hit.text == PORTO]
    assert hit.ranks == {"vector.2": 1, "text.2": 1}
    assert hit.method == "hybrid"
    assert found.degraded == ""


@pytest.mark.usefixtures("porto")
def test_a_made_up_passage_finds_what_is_near_it(words: Words) -> None:
    """B379: by its vector alone; its words were said by nobody."""
    words.made_up = PORTO

    found = recalled(5, hyde=True, scoring=Scoring(0, 0.5))

    (hit,) = [hit for hit in found if hit.text == PORTO]
    assert hit.ranks == {"vector.2": 1}
    assert words.asked == [("passage", QUESTION, 1)]
    assert found.degraded == ""


def test_the_question_and_all_that_is_made_of_it_are_embedded_at_once(
    words: Words, embedder: NotedEmbedder
) -> None:
    """B381, B387: as queries."""
    remember_one(PORTO, wait=True)
    words.said, words.made_up = ["Ada's home?", "Ada's city?"], "Ada lives in Rome."
    before = len(embedder.asked)

    recalled(multi_query=3, hyde=True)

    batch = [QUESTION, "Ada's home?", "Ada's city?", "Ada lives in Rome."]
    assert embedder.asked[before:] == [("query", batch)]
    assert words.asked == [("variants", QUESTION, 2), ("passage", QUESTION, 1)]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"multi_query": 1},
        {"multi_query": 4, "hyde": True, "transformer": ""},
        {"legs": "text", "hyde": True},
        {"legs": "recency", "multi_query": 4, "hyde": True},
    ],
)
def test_nobody_is_asked_who_is_not_needed(words: Words, options: Options) -> None:
    """B378, B379: without a transformer, wishes are silently nothing."""
    remember_one(PORTO, wait=True)

    found = recalled(**options)

    assert words.asked == []
    assert found.degraded == ""
    plain = Options(legs=options.get("legs", "hybrid"))
    assert found == recalled(**plain)


def test_without_a_transformer_configured_nothing_is_made_up(settings: Any) -> None:
    """B378, B379."""
    remember_one(PORTO, wait=True)
    plain = recalled()
    settings.PRISM_MEMORY = {**settings.PRISM_MEMORY, "TRANSFORMER": ""}

    assert recalled(multi_query=8, hyde=True) == plain


def test_without_an_embedder_only_words_are_varied(settings: Any) -> None:
    """B379: no passage is made up that nobody could embed."""
    settings.PRISM_MEMORY = {**settings.PRISM_MEMORY, "EMBEDDERS": {}}
    remember_one(PORTO)
    words: Any = backends.get_transformer("words")
    words.said = ["Porto?"]

    found = recalled(multi_query=2, hyde=True)

    assert texts(found) == [PORTO]
    assert words.asked == [("variants", QUESTION, 1)]
    assert found.degraded == "no embedder is configured"


def test_a_call_names_its_own_transformer(settings: Any) -> None:
    """The alias of the call wins over the setting's."""
    wish = {"TRANSFORMER": "", "WAKE": False}
    settings.PRISM_MEMORY = {**settings.PRISM_MEMORY, **wish}
    words: Any = backends.get_transformer("words")

    recalled(multi_query=2)
    assert words.asked == []
    recalled(multi_query=2, transformer="words")
    assert words.asked == [("variants", QUESTION, 1)]
    with pytest.raises(Invalid, match="none of the aliases") as raised:
        recalled(transformer="other")
    assert raised.value.field == "transformer"


class Unforeseen(Exception):
    """Of an SDK."""


@pytest.mark.parametrize(
    "error", [ProviderUnavailable("x"), ProviderRejected("x"), Unforeseen("x")]
)
def test_a_failing_transformer_leaves_the_plain_search(
    words: Words, error: Exception
) -> None:
    """B380: and the answer says so, without its words."""
    remember_one(PORTO, wait=True)
    plain, words.error = recalled(), error

    found = recalled(multi_query=2, hyde=True)

    assert found.hits == plain.hits
    assert found.degraded == (
        "the question could not be said in other words;"
        " no passage could be made up for the question"
    )


def test_variants_that_are_no_questions_are_dropped(words: Words) -> None:
    """B380: blank, repeated, too long, not storable."""
    remember_one(PORTO, wait=True)
    plain = recalled()
    words.said = ["", QUESTION.upper(), "x" * 5_000, "nul \0"]

    found = recalled(multi_query=5)

    assert found.hits == plain.hits
    assert found.degraded == "some variants of the question were not usable"


@pytest.mark.usefixtures("porto")
def test_a_failing_batch_is_embedded_one_by_one(
    words: Words, embedder: NotedEmbedder
) -> None:
    """B381: with the same result."""
    words.said = ["Who moved to Porto?"]
    whole = recalled(multi_query=2)
    embedder.refuse = lambda batch: ProviderRejected() if len(batch) > 1 else None

    assert recalled(multi_query=2) == whole


def test_an_embedder_that_is_down_leaves_the_words_of_all_variants(
    words: Words, embedder: NotedEmbedder
) -> None:
    """B380, B487: and the transformer is not paid twice."""
    remember_one(PORTO, wait=True)
    words.said = ["Porto?"]
    embedder.refuse = lambda _: ProviderUnavailable()

    found = recalled(multi_query=2)

    assert texts(found) == [PORTO]
    assert found.degraded.startswith("the embedder is unavailable")
    assert words.asked == [("variants", QUESTION, 1)]


@pytest.mark.usefixtures("porto")
def test_a_variant_that_cannot_be_embedded_keeps_its_words(
    words: Words, embedder: NotedEmbedder
) -> None:
    """B381: every record has its vector, and none is said to lack it."""
    words.said = ["Who moved to Porto?"]
    embedder.refuse = lambda batch: (
        ProviderRejected() if words.said[0] in batch else None
    )

    found = recalled(5, multi_query=2, scoring=Scoring(0, 0.5))

    assert PORTO in texts(found)
    assert found.degraded == "some variants of the question could not be embedded"


@pytest.mark.parametrize("legs", ["recency", ["recency", "text"], "vector", "text"])
def test_each_choice_of_legs_can_be_varied(words: Words, legs: Any) -> None:
    """The newest are the newest in whatever words: they are asked once."""
    remember(*[f"note {n}" for n in range(3)], PORTO, wait=True)
    words.said = ["Porto?"]

    found = recalled(legs=legs, multi_query=2, hyde=True)

    assert PORTO in texts(found)
    assert not any("recency.2" in hit.ranks for hit in found)


def test_the_limit_of_the_memory_is_the_usual_number(words: Words) -> None:
    """B30, B378."""
    words.said = [f"Porto {n}?" for n in range(9)]
    memory = make_memory(limits={"multi_query": 3})
    memory.recall(QUESTION)

    assert words.asked == [("variants", QUESTION, 2)]
    with pytest.raises(LimitExceeded, match="multi_query"):
        memory.recall(QUESTION, multi_query=9)


def test_a_transformer_is_shown_no_secret(words: Words) -> None:
    """B94, B133."""
    make_memory(secrets=["hunter2"]).recall(
        "Is hunter2 mine?", multi_query=2, hyde=True
    )

    assert {query for _, query, _ in words.asked} == {"Is [redacted] mine?"}


def test_a_variant_finds_nothing_of_a_stranger(words: Words) -> None:
    """B382."""
    remember_one(PORTO, wait=True)
    words.said, words.made_up = [PORTO], PORTO
    stranger = make_scope(tenant="other")
    make_memory(stranger).remember(Entry("Ada lives."), wait=True)

    found = make_memory(stranger).recall(QUESTION, multi_query=2, hyde=True)

    assert texts(found) == ["Ada lives."]


def test_the_asynchronous_twin_asks_the_same(words: Words) -> None:
    remember_one(PORTO, wait=True)
    words.said = ["Porto?"]
    options: Options = {"multi_query": 2, "hyde": True}

    found = async_to_sync(make_memory().arecall)(QUESTION, 5, **options)

    assert found == recalled(5, **options)
