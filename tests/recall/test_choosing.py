"""B231 and diversity through the door: a second opinion, and different things."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.db import connection
from pytest_django import DjangoAssertNumQueries

from prism_memory import backends
from prism_memory.access import Reader
from prism_memory.errors import (
    Invalid,
    ProviderRejected,
    ProviderUnavailable,
)
from prism_memory.indexing import find_active
from prism_memory.models import Record
from prism_memory.recall.choosing import similarity
from prism_memory.recall.denials import still_visible
from prism_memory.recall.diversity import mmr
from prism_memory.types import Recalled
from tests.factories import make_memory, make_scope, remember, remember_one
from tests.recall.providers import CONFIGURED, Opinion
from tests.recall.scored import QUESTION, TEXTS, recalled, texts

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _configured(settings: Any) -> None:
    settings.PRISM_MEMORY = settings.PRISM_MEMORY | {"WAKE": False, **CONFIGURED}


@pytest.fixture
def opinion() -> Opinion:
    made = backends.get_reranker("opinion")
    assert isinstance(made, Opinion)
    return made


@pytest.fixture
def stored() -> list[uuid.UUID]:
    return remember(*TEXTS, wait=True)


def asked(top_k: int = 32, **options: Any) -> Recalled:
    return recalled(top_k, reranker="opinion", **options)


# A second opinion


@pytest.mark.usefixtures("stored")
def test_a_reranker_has_the_last_word(opinion: Opinion) -> None:
    """B231: it is asked once, with the question and the best first."""
    plain = recalled()

    found = asked()

    assert texts(found) == [*reversed(texts(plain))]
    assert opinion.asked == [(QUESTION, texts(plain))]
    assert [hit.signals["rerank"] for hit in found] == [4, 3, 2, 1, 0]
    before = {hit.id: hit.score for hit in plain}
    assert {hit.id: hit.signals["ranked"] for hit in found} == before
    assert [hit.score for hit in found] == [
        1,
        0.8,
        pytest.approx(0.6),
        0.4,
        pytest.approx(0.2),
    ]
    assert found.degraded == ""


@pytest.mark.usefixtures("stored")
def test_a_reranker_chooses_among_more_than_is_shown(opinion: Opinion) -> None:
    """B231: before the cut."""
    (best,) = recalled(1)
    (hit,) = asked(1)

    assert hit.text == opinion.asked[0][1][-1]
    assert hit.id != best.id


@pytest.mark.usefixtures("stored")
def test_the_setting_names_the_reranker_and_a_call_another_or_none(
    settings: Any, opinion: Opinion
) -> None:
    plain = recalled()
    wish = {"RERANKER": "opinion"}
    settings.PRISM_MEMORY = {**settings.PRISM_MEMORY, **wish}
    opinion = backends.get_reranker("opinion")  # type: ignore[assignment] # made anew

    assert texts(recalled()) == [*reversed(texts(plain))]
    assert len(opinion.asked) == 1
    assert recalled(reranker="") == plain
    assert len(opinion.asked) == 1
    with pytest.raises(Invalid, match="none of the aliases") as raised:
        recalled(reranker="another")
    assert raised.value.field == "reranker"


@pytest.mark.usefixtures("stored")
def test_no_reranker_is_asked_by_default(opinion: Opinion) -> None:
    recalled()
    make_memory().deep_recall(QUESTION)

    assert opinion.asked == []


def test_one_candidate_is_no_choice(opinion: Opinion) -> None:
    remember_one(wait=True)

    assert len(asked()) == 1
    assert opinion.asked == []


def failing(error: Exception) -> Any:
    def fail(texts: Sequence[str]) -> Any:
        del texts
        raise error

    return fail


@pytest.mark.usefixtures("stored")
@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (failing(ProviderUnavailable("no")), "the reranker is unavailable"),
        (failing(ProviderRejected("no")), "the reranker gave no usable answer"),
        (failing(KeyError("no")), "the reranker gave no usable answer"),
        (lambda texts: [1.0] * (len(texts) - 1), "the reranker gave no usable answer"),
        (lambda texts: [float("nan")] * len(texts), "the reranker gave no usable"),
        (lambda texts: [*texts], "the reranker gave no usable answer"),
        (lambda _: None, "the reranker gave no usable answer"),
    ],
)
def test_whatever_a_reranker_does_the_order_before_holds(
    opinion: Opinion, answer: Any, reason: str
) -> None:
    """B231: and the answer says why."""
    plain, opinion.answer = recalled(), answer

    found = asked()

    assert found.hits == plain.hits
    assert found.degraded.startswith(reason)


@pytest.mark.usefixtures("stored")
def test_reranking_costs_two_queries_and_is_in_no_transaction(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    """B221, B231: what it sees is looked at right before, and once more after."""
    recalled()
    with django_assert_num_queries(3):
        asked()


WITHDRAWN: dict[str, dict[str, Any]] = {
    "hidden": {"visible": False},
    "revoked": {"revoked_at": "2026-01-01T00:00Z"},
    "expired": {"expires_at": "2026-01-01T00:00Z"},
    "held back": {"gate": "quarantined"},
}


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("how", WITHDRAWN)
def test_what_is_withdrawn_while_a_reranker_works_is_not_shown(
    opinion: Opinion, how: str
) -> None:
    """B231, B134: and the next best takes its place."""
    stored = remember(*TEXTS, wait=True)
    memory = make_memory()

    def withdraw(texts: Sequence[str]) -> list[float]:
        rows = Record.objects.filter(tenant="acme", id=stored[0])
        rows.update(**WITHDRAWN[how])
        connection.close()  # of the reranker's own thread
        return [float(TEXTS.index(text) == 0) for text in texts]

    opinion.answer = withdraw

    found = memory.recall(QUESTION, 4, reranker="opinion", explain=True)

    assert opinion.asked[0][1].count(TEXTS[0]) == 1
    assert {hit.id for hit in found} == {*stored[1:]}
    assert {why.id for why in found.explanations} == {*stored[1:]}


@pytest.mark.usefixtures("stored")
def test_a_reranker_is_shown_no_secret(opinion: Opinion) -> None:
    """B133, B231: also none that was stored before it was known as one."""
    make_memory(secrets=["green"]).recall(QUESTION, reranker="opinion")

    (query, seen) = opinion.asked[0]
    assert "green" not in " ".join([query, *seen])
    assert "Ada drinks [redacted] tea." in seen


@pytest.mark.parametrize(
    "stranger", [make_scope(tenant="other"), make_scope(owner="bob")], ids=str
)
def test_what_a_stranger_wrote_is_not_sent_to_a_reranker(
    opinion: Opinion, stored: list[uuid.UUID], stranger: Any
) -> None:
    """B4, B18."""
    make_memory(stranger).remember(["green tea", "black tea"], wait=True)

    make_memory(stranger).recall(QUESTION, reranker="opinion")

    assert sorted(opinion.asked[0][1]) == ["black tea", "green tea"]
    ids = [str(record_id) for record_id in stored]
    versions = dict.fromkeys(ids, 1)
    assert still_visible("default", Reader(stranger), versions) == set()
    assert still_visible("default", Reader(make_scope()), versions) == {*ids}


def test_what_was_changed_while_a_reranker_worked_is_not_shown_as_it_was(
    stored: list[uuid.UUID],
) -> None:
    ids = [str(record_id) for record_id in stored]
    versions = {**dict.fromkeys(ids, 0), ids[0]: 1}

    assert still_visible("default", Reader(make_scope()), versions) == {ids[0]}


# Different things to say


NEAR = ["green tea", "green tea too", "green tea again", "tea leaves"]


def test_no_diversity_is_the_order_by_score(opinion: Opinion) -> None:
    """1 and None alike: and no query."""
    remember(*NEAR, wait=True)
    plain = recalled(3)

    assert recalled(3, diversity=1) == plain
    assert recalled(3, diversity=None) == plain
    assert opinion.asked == []


def test_what_repeats_a_better_hit_makes_room() -> None:
    remember("green tea", "leaves of a plant", wait=True)
    remember_one("green tea", wait=True, key="again")

    assert texts(recalled(2, legs="vector")) == ["green tea", "green tea"]
    found = recalled(2, legs="vector", diversity=0.3)

    assert texts(found) == ["green tea", "leaves of a plant"]
    assert found.degraded == ""


@pytest.mark.parametrize("trade_off", [0, 0.25, 0.5, 0.9])
def test_the_choice_is_that_of_the_definition(trade_off: float) -> None:
    """By the same scores, and the vectors as the embedder gave them."""
    remember(*TEXTS, *NEAR, wait=True)
    plain = recalled(32)
    embed = backends.get_embedder().embed_texts
    vectors = embed(texts(plain), role="passage", timeout_seconds=9)
    by_id = {str(h.id): v for h, v in zip(plain, vectors, strict=True)}

    def alike(one: str, other: str) -> float:
        return sum(a * b for a, b in zip(by_id[one], by_id[other], strict=True))

    scores = {str(hit.id): hit.score for hit in plain}
    wanted = mmr([str(hit.id) for hit in plain], scores, alike, trade_off, 5)

    found = recalled(5, diversity=trade_off)

    assert [str(hit.id) for hit in found] == wanted


def test_diversity_compares_no_more_than_a_bound() -> None:
    """And still gives a full page."""
    remember(*[f"green tea {n}" for n in range(60)], wait=True)

    assert len(recalled(32, diversity=0.5)) == 32
    assert len(recalled(1, diversity=0)) == 1


def test_without_vectors_the_answer_says_that_it_is_not_diverse(settings: Any) -> None:
    remember(*NEAR, wait=True)
    settings.PRISM_MEMORY = {**settings.PRISM_MEMORY, "EMBEDDERS": {}}
    plain = recalled(2, legs="text")

    found = recalled(2, legs="text", diversity=0.5)

    assert found.hits == plain.hits
    assert found.degraded == "without vectors nothing is known to be alike"


def test_what_has_no_vector_is_like_nothing() -> None:
    remember("green tea", wait=True)
    remember("green tea, or not")

    found = recalled(diversity=0.5)

    assert len(found) == 2


def test_diversity_follows_a_rerankers_order(opinion: Opinion) -> None:
    remember("green tea", "leaves of a plant", wait=True)
    remember_one("green tea", wait=True, key="again")
    opinion.answer = lambda texts: [float("plant" in text) for text in texts]

    found = asked(2, diversity=0.5)

    assert texts(found) == ["leaves of a plant", "green tea"]


def test_vectors_of_another_tenant_are_not_compared() -> None:
    """B4."""
    ids = [str(i) for i in remember("green tea", "green tea too", wait=True)]
    space = find_active(using="default", alias="default")
    assert space is not None

    mine = similarity("default", Reader(make_scope()), space.id, ids)
    theirs = similarity("default", Reader(make_scope(tenant="other")), space.id, ids)

    assert mine(*ids) == mine(*reversed(ids)) > 0.5
    assert theirs(*ids) == 0


@pytest.mark.usefixtures("stored")
def test_the_asynchronous_twin_chooses_the_same() -> None:
    options: Any = {"reranker": "opinion", "diversity": 0.5}

    found = async_to_sync(make_memory().arecall)(QUESTION, 3, **options)

    assert found == recalled(3, **options)
