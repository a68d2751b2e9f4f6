"""The HTTP reranker against a real server on loopback, in both dialects."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.test import override_settings

from prism_memory.backends import get_reranker, rerank_scores
from prism_memory.backends.reranker_http import HTTPReranker
from prism_memory.errors import (
    Misconfigured,
    ProviderRejected,
    ProviderUnavailable,
)
from prism_memory.recall.rerank import LATE, UNAVAILABLE, rerank
from tests.backends import reranking, servers
from tests.rerankers import overlap

SECRET = "the spare key is under the third pot"
KEY = "rr-not-to-be-shown"
TEXTS = ["an invoice", SECRET, "the spare pot", "rain"]
QUERY = "where is the spare key"
DIALECTS = ["cohere", "tei"]


class Making:
    """Makes rerankers that ask the test's server, and closes them."""

    def __init__(self, server: servers.Server) -> None:
        self.server = server
        self.made: list[HTTPReranker] = []

    def __call__(self, **options: Any) -> HTTPReranker:
        given = {"model": "cross", "base_url": self.server.url, "api_key": KEY}
        self.made.append(HTTPReranker(**{**given, **options}))
        return self.made[-1]


@pytest.fixture
def make(server: servers.Server) -> Iterator[Making]:
    server.behave = reranking.well
    making = Making(server)
    yield making
    for reranker in making.made:
        reranker.close()


@pytest.fixture
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "sleep", lambda _: None)


def ask(reranker: HTTPReranker, seconds: float = 5) -> list[float]:
    return rerank_scores(reranker, QUERY, TEXTS, timeout_seconds=seconds)


def test_the_request_is_what_cohere_documents(
    server: servers.Server, make: Making
) -> None:
    ask(make(base_url=server.url + "/", headers={"X-Team": "memory"}))

    assert server.paths == ["/v1/rerank"]
    assert server.bodies == [
        {"model": "cross", "query": QUERY, "documents": TEXTS, "top_n": 4}
    ]
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"
    assert server.headers[0]["x-team"] == "memory"


@pytest.mark.parametrize("truncate", [True, False])
def test_the_request_is_what_tei_documents(
    truncate: bool, server: servers.Server, make: Making
) -> None:
    ask(make(dialect="tei", truncate=truncate))

    assert server.paths == ["/v1/rerank"]
    assert server.bodies == [{"query": QUERY, "texts": TEXTS, "truncate": truncate}]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_scores_are_put_in_the_order_of_the_texts(dialect: str, make: Making) -> None:
    """Services answer best first."""
    found = ask(make(dialect=dialect))

    assert found == [overlap(QUERY, text) for text in TEXTS]
    assert found != sorted(found, reverse=True)


@pytest.mark.parametrize(
    ("options", "sizes"),
    [
        ({"dialect": "tei"}, [32, 32, 6]),
        ({"dialect": "cohere"}, [70]),
        ({"dialect": "tei", "max_batch": 64}, [64, 6]),
        ({"max_batch": 30}, [30, 30, 10]),
    ],
)
def test_more_texts_than_a_request_takes_are_split(
    options: dict[str, Any], sizes: list[int], server: servers.Server, make: Making
) -> None:
    texts = [f"key {number}" if number % 3 else "key" for number in range(70)]

    found = rerank_scores(make(**options), "key", texts, timeout_seconds=5)

    assert found == [overlap("key", text) for text in texts]
    sent = [len(body.get("documents") or body["texts"]) for body in server.bodies]
    assert sent == sizes


def test_no_texts_ask_nobody(server: servers.Server, make: Making) -> None:
    assert make().rerank(QUERY, [], timeout_seconds=1) == []
    assert server.bodies == []


def test_a_service_may_send_the_texts_back(
    server: servers.Server, make: Making
) -> None:
    server.behave = reranking.sending_back
    texts = ["\x01" * 60_000, "\N{ROCKET}" * 10_000]

    assert len(rerank_scores(make(), "q", texts, timeout_seconds=5)) == 2


@pytest.mark.usefixtures("_no_pauses")
@pytest.mark.parametrize("code", [408, 429, 500, 503])
def test_a_busy_service_is_asked_again(
    code: int, server: servers.Server, make: Making
) -> None:
    server.behave = servers.first(1, reranking.failing(code), reranking.well)

    assert ask(make())
    assert len(server.bodies) == 2


@pytest.mark.usefixtures("_no_pauses")
@pytest.mark.parametrize(("code", "tries"), [(500, 3), (401, 1), (402, 1), (403, 1)])
def test_a_service_that_does_not_serve_is_unavailable(
    code: int, tries: int, server: servers.Server, make: Making
) -> None:
    server.behave = reranking.failing(code)

    with pytest.raises(ProviderUnavailable, match=f"answered {code}") as caught:
        ask(make(retries=2))

    assert len(server.bodies) == tries
    assert SECRET not in str(caught.value)
    assert KEY not in str(caught.value)


@pytest.mark.parametrize("code", [400, 404, 413, 422, 201, 302])
def test_a_refused_request_is_rejected_at_once(
    code: int, server: servers.Server, make: Making
) -> None:
    server.behave = reranking.failing(code, location="http://127.0.0.1:9/")

    with pytest.raises(ProviderRejected, match=f"answered {code}") as caught:
        ask(make())

    assert len(server.bodies) == 1
    assert SECRET not in str(caught.value)


def first_again(items: list[dict[str, Any]]) -> Any:
    """An index twice, and another not at all."""
    return [*items[:-1], items[0]]


def one_more(items: list[dict[str, Any]]) -> Any:
    return [*items, items[0]]


def of_none_sent(items: list[dict[str, Any]]) -> Any:
    return [*items, {**items[0], "index": len(items)}]


def negative(items: list[dict[str, Any]]) -> Any:
    return [{**item, "index": item["index"] - 1} for item in items]


def indexed(kind: Callable[[int], Any]) -> Callable[[list[dict[str, Any]]], Any]:
    def change(items: list[dict[str, Any]]) -> Any:
        return [{**item, "index": kind(item["index"])} for item in items]

    return change


def last_scored(value: object) -> Callable[[list[dict[str, Any]]], Any]:
    def change(items: list[dict[str, Any]]) -> Any:
        key = "score" if "score" in items[0] else "relevance_score"
        return [*items[:-1], {**items[-1], key: value}]

    return change


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda items: items[:-1], "not 4 scores"),
        (first_again, "not 4 scores"),
        (one_more, "5 scores for 4 texts"),
        (of_none_sent, "5 scores for 4 texts"),
        (negative, "not 4 scores"),
        (indexed(str), "not 4 scores"),
        (indexed(float), "not 4 scores"),
        (indexed(lambda index: index == 1), "not 4 scores"),
        (lambda items: [{} for _ in items], "not 4 scores"),
        (lambda items: [[item] for item in items], "not 4 scores"),
        (lambda items: items[0], "not 4 scores"),
        (lambda items: items.clear(), "not 4 scores"),
        (last_scored(None), "no finite number"),
        (last_scored("1"), "no finite number"),
        (last_scored(value=True), "no finite number"),
        (last_scored(math.nan), "no finite number"),
        (last_scored(-math.inf), "no finite number"),
        (last_scored(10**400), "no finite number"),
    ],
)
def test_an_unusable_answer_is_rejected(
    change: Any, words: str, dialect: str, server: servers.Server, make: Making
) -> None:
    """B231."""
    server.behave = reranking.changed(change)

    with pytest.raises(ProviderRejected, match=words) as caught:
        ask(make(dialect=dialect))

    assert len(server.bodies) == 1
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    ("octets", "words"),
    [
        (b"", "not 4 scores"),
        (b"\xff", "not 4 scores"),
        (b"<html>" + SECRET.encode(), "not 4 scores"),
        (b"null", "not 4 scores"),
        (b"7", "not 4 scores"),
        (b'{"results": null}', "not 4 scores"),
        (b"[" * 60_000, "not 4 scores"),
        (b" " * 100_000, "answer of over"),
    ],
)
def test_what_is_no_answer_is_rejected(
    octets: bytes, words: str, dialect: str, server: servers.Server, make: Making
) -> None:
    server.behave = servers.raw(octets)

    with pytest.raises(ProviderRejected, match=words) as caught:
        ask(make(dialect=dialect))

    assert caught.value.__cause__ is None
    assert SECRET not in str(caught.value)


def test_a_hanging_service_leaves_the_order_before(
    server: servers.Server, make: Making
) -> None:
    """B231: by recall's clock or by the backend's own, whichever is first."""
    server.behave = servers.hanging
    with pytest.raises(ProviderUnavailable, match="Timeout"):
        ask(make(), 0.2)

    candidates = [*zip("abcd", TEXTS, strict=True)]
    found = rerank(QUERY, candidates, make(), timeout_seconds=0.2)

    assert found.ids == tuple("abcd")
    assert found.reason in (LATE, UNAVAILABLE)


def test_the_batches_of_one_call_share_its_time(
    server: servers.Server, make: Making
) -> None:
    server.behave = servers.first(1, reranking.well, servers.hanging)

    with pytest.raises(ProviderUnavailable, match="Timeout"):
        ask(make(max_batch=2, retries=0), 2.0)

    assert len(server.bodies) == 2


def test_a_lone_surrogate_is_refused_and_not_quoted(make: Making) -> None:
    with pytest.raises(ProviderRejected, match="UnicodeEncodeError") as caught:
        rerank_scores(make(), SECRET, ["\ud800"], timeout_seconds=1)

    assert SECRET not in str(caught.value)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"dialect": "openai"}, "one of cohere, tei"),
        ({"max_batch": 0}, "max_batch"),
        ({"max_batch": 1_001}, "max_batch"),
        ({"retries": 11}, "retries"),
        ({"model": ""}, "model"),
        ({"model": 7}, "model"),
    ],
)
def test_options_out_of_bounds_are_refused(
    options: dict[str, Any], words: str, make: Making
) -> None:
    with pytest.raises(Misconfigured, match=words):
        make(**options)


def test_the_key_is_not_shown(make: Making) -> None:
    assert repr(make()) == "<HTTPReranker cohere/cross>"


@pytest.mark.parametrize(
    ("base_url", "expected"),
    [
        ("ftp://host", ["prism_memory.E051"]),
        ("http://gpu.example", ["prism_memory.W051"]),
        ("https://api.cohere.com/v2", []),
        ("http://localhost:8080", []),
    ],
)
def test_check(base_url: str, expected: list[str], make: Making) -> None:
    messages = make(base_url=base_url).check()

    assert [message.id for message in messages] == expected
    for message in messages:
        assert message.msg.startswith("The reranker cohere/cross ")
        assert KEY not in str(message)


def test_settings_configure_it(server: servers.Server) -> None:
    server.behave = reranking.well
    entry = {
        "BACKEND": "prism_memory.backends.reranker_http.HTTPReranker",
        "OPTIONS": {"model": "cross", "base_url": server.url, "dialect": "tei"},
    }
    with override_settings(PRISM_MEMORY={"RERANKERS": {"cross": entry}}):
        reranker = get_reranker("cross")
        assert get_reranker("cross") is reranker
        found = rerank_scores(reranker, QUERY, TEXTS, timeout_seconds=5)

    assert found == [overlap(QUERY, text) for text in TEXTS]
