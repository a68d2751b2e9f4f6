"""The OpenAI backend against a real HTTP server on loopback."""

from __future__ import annotations

import datetime as dt
import gzip
import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest
from django.test import override_settings

from prism_memory.backends import embed, get_embedder, retrying
from prism_memory.backends.hashing import hash_vector
from prism_memory.backends.openai import OpenAIEmbedder
from prism_memory.errors import (
    Misconfigured,
    ProviderRejected,
    ProviderUnavailable,
)
from tests.backends import servers

SECRET = "the spare key is under the third pot"
KEY = "sk-not-to-be-shown"


class Making:
    """Makes embedders that ask the test's server, and closes them."""

    def __init__(self, server: servers.Server) -> None:
        self.server = server
        self.made: list[OpenAIEmbedder] = []

    def __call__(self, **options: Any) -> OpenAIEmbedder:
        given = {
            "model": "small",
            "dimensions": servers.WIDTH,
            "base_url": self.server.url,
            "api_key": KEY,
            "retries": 2,
        }
        self.made.append(OpenAIEmbedder(**{**given, **options}))
        return self.made[-1]


@pytest.fixture
def make(server: servers.Server) -> Iterator[Making]:
    making = Making(server)
    yield making
    for embedder in making.made:
        embedder.close()


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The pauses between tries, which are not slept."""
    slept: list[float] = []
    monkeypatch.setattr(time, "sleep", slept.append)
    return slept


def one(embedder: OpenAIEmbedder, **options: Any) -> list[float]:
    return embed(embedder, [SECRET], role="passage", **options)[0]


def test_the_request_is_what_openai_documents(
    server: servers.Server, make: Making
) -> None:
    one(make(base_url=server.url + "/", headers={"X-Team": "memory"}))

    assert server.paths == ["/v1/embeddings"]
    assert server.bodies == [
        {"model": "small", "input": [SECRET], "encoding_format": "float"}
    ]
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"
    assert server.headers[0]["x-team"] == "memory"


def test_dimensions_are_sent_when_asked_for(
    server: servers.Server, make: Making
) -> None:
    one(make(send_dimensions=True))

    assert server.bodies[0]["dimensions"] == servers.WIDTH


def test_each_role_has_its_prefix(server: servers.Server, make: Making) -> None:
    embedder = make(query_prefix="ask: ", passage_prefix="say: ")

    embed(embedder, ["a"], role="query")
    embed(embedder, ["a"], role="passage")

    assert [body["input"] for body in server.bodies] == [["ask: a"], ["say: a"]]
    assert embedder.roles


def test_a_service_without_a_key_is_sent_none(
    server: servers.Server, make: Making
) -> None:
    one(make(api_key=None))

    assert "authorization" not in server.headers[0]


def test_a_key_may_change_between_two_requests(
    server: servers.Server, make: Making
) -> None:
    keys = iter(["first", "second"])
    embedder = make(api_key=lambda: next(keys))

    one(embedder)
    one(embedder)

    sent = [headers["authorization"] for headers in server.headers]
    assert sent == ["Bearer first", "Bearer second"]


@pytest.mark.parametrize("key", ["sk\nX-Evil: 1", "schlüssel"])
def test_a_key_that_is_no_header_is_refused_unseen(key: str, make: Making) -> None:
    with pytest.raises(Misconfigured, match="api_key") as caught:
        one(make(api_key=key))

    assert key not in str(caught.value)


def test_a_header_that_cannot_be_sent_is_refused_unseen(make: Making) -> None:
    with pytest.raises(Misconfigured, match="header cannot be sent") as caught:
        one(make(headers={"X-Token": "a\nb"}))

    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


def test_answers_are_put_in_order(server: servers.Server, make: Making) -> None:
    server.behave = servers.shuffled
    texts = ["bees", "mill", "heron"]

    vectors = embed(make(), texts, role="passage")

    assert vectors == [
        pytest.approx(hash_vector(text, servers.WIDTH)) for text in texts
    ]


def test_a_packed_answer_is_unpacked(server: servers.Server, make: Making) -> None:
    server.behave = servers.packed

    assert one(make()) == pytest.approx(hash_vector(SECRET, servers.WIDTH))


def test_a_large_batch_is_split_by_the_services_limit(
    server: servers.Server, make: Making
) -> None:
    embed(make(max_batch=3), ["x"] * 7, role="passage")

    assert [len(body["input"]) for body in server.bodies] == [3, 3, 1]


def test_the_connection_is_used_again(server: servers.Server, make: Making) -> None:
    embedder = make()
    for _ in range(3):
        one(embedder)
    assert len(set(server.ports)) == 1

    embedder.close()
    embedder.close()
    one(embedder)
    assert len(set(server.ports)) == 2


def test_threads_share_an_embedder(server: servers.Server, make: Making) -> None:
    server.behave = servers.slow(0.02)
    embedder = make()
    texts = [f"text{number}" for number in range(24)]

    with ThreadPoolExecutor(8) as pool:
        found = pool.map(lambda text: embed(embedder, [text], role="query"), texts)

    for text, (vector,) in zip(texts, found, strict=True):
        assert vector == pytest.approx(hash_vector(text, servers.WIDTH))


FORKING = """
import os, sys
from django.conf import settings
settings.configure()
from prism_memory.backends import embed
from prism_memory.backends.openai import OpenAIEmbedder

embedder = OpenAIEmbedder(model="m", dimensions=16, base_url=sys.argv[1])
embed(embedder, ["parent"], role="query")
child = os.fork()
if child:
    assert os.waitpid(child, 0)[1] == 0
embed(embedder, ["parent" if child else "child"], role="query")
embedder.close()
"""


def test_a_forked_child_opens_connections_of_its_own(server: servers.Server) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", FORKING, server.url],
        capture_output=True,
        timeout=60,
        check=False,
        cwd=Path(__file__).parents[2],
    )

    assert (done.returncode, done.stderr) == (0, b"")
    asked = [body["input"] for body in server.bodies]
    assert asked == [["parent"], ["child"], ["parent"]]
    first, child, again = server.ports
    assert first == again != child


@pytest.mark.parametrize("code", [408, 429, 500, 502, 503, 529])
def test_a_busy_service_is_asked_again(
    code: int, server: servers.Server, make: Making, pauses: list[float]
) -> None:
    server.behave = servers.first(2, servers.status(code))

    assert one(make(retries=2))
    assert len(server.bodies) == 3
    first, second = pauses
    assert 0.25 <= first <= 0.5 <= second <= 1.0


@pytest.mark.parametrize("retries", [0, 2])
def test_a_service_that_stays_busy_is_unavailable(
    retries: int, server: servers.Server, make: Making, pauses: list[float]
) -> None:
    server.behave = servers.status(500)

    with pytest.raises(ProviderUnavailable, match="answered 500") as caught:
        one(make(retries=retries))

    assert len(server.bodies) == retries + 1
    assert len(pauses) == retries
    assert SECRET not in str(caught.value)


def test_retry_after_is_honoured(
    server: servers.Server, make: Making, pauses: list[float]
) -> None:
    server.behave = servers.first(1, servers.status(429, retry_after="7"))

    assert one(make())
    assert pauses == [7.0]


def test_a_wait_longer_than_the_timeout_is_not_begun(
    server: servers.Server, make: Making
) -> None:
    server.behave = servers.status(429, retry_after="3600")
    began = time.monotonic()

    with pytest.raises(ProviderUnavailable, match="429"):
        one(make(), timeout_seconds=5)

    assert len(server.bodies) == 1
    assert time.monotonic() - began < 2


@pytest.mark.parametrize("code", [401, 402, 403])
def test_a_refused_key_is_an_outage_and_not_the_fault_of_a_text(
    code: int, server: servers.Server, make: Making
) -> None:
    server.behave = servers.status(code)

    with pytest.raises(ProviderUnavailable, match=f"answered {code}") as caught:
        one(make())

    assert len(server.bodies) == 1
    assert KEY not in str(caught.value)


@pytest.mark.parametrize("code", [400, 404, 413, 422, 201, 302])
def test_a_refused_request_is_rejected_at_once(
    code: int, server: servers.Server, make: Making
) -> None:
    server.behave = servers.status(code, location="http://127.0.0.1:9/")

    with pytest.raises(ProviderRejected, match=f"answered {code}") as caught:
        one(make())

    assert len(server.bodies) == 1
    assert SECRET not in str(caught.value)


def test_a_hanging_service_is_left_at_the_timeout(
    server: servers.Server, make: Making
) -> None:
    server.behave = servers.hanging
    began = time.monotonic()

    with pytest.raises(ProviderUnavailable, match="ReadTimeout"):
        one(make(retries=3), timeout_seconds=0.3)

    assert 0.2 < time.monotonic() - began < 2


def test_a_service_that_drips_is_left_at_the_timeout(make: Making) -> None:
    """Each byte comes in time, and their sum does not."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        with ThreadPoolExecutor(1) as pool:
            pool.submit(drip, listener)
            with pytest.raises(ProviderUnavailable, match="in time"):
                one(
                    make(base_url=f"http://127.0.0.1:{port}/v1", retries=0),
                    timeout_seconds=0.4,
                )


def drip(listener: socket.socket) -> None:
    connection, _ = listener.accept()
    with connection:
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
        try:
            for _ in range(100):
                connection.sendall(b" ")
                time.sleep(0.05)
        except OSError:  # the client has gone, as it should
            return


def test_nobody_listening_is_an_outage(make: Making, pauses: list[float]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]

    with pytest.raises(ProviderUnavailable, match="ConnectError"):
        one(make(base_url=f"http://127.0.0.1:{port}/v1"))

    assert len(pauses) == 2


@pytest.mark.parametrize(
    ("behave", "words"),
    [
        (servers.one_number(float("nan")), "no finite number"),
        (servers.one_number(float("inf")), "no finite number"),
        (servers.one_number(None), "no finite number"),
        (servers.too_wide, "17 dimensions, not 16"),
        (servers.one_less, "not 2 embeddings"),
        (servers.one_more, "gave 3 vectors for 2 texts"),
        (servers.twice_the_same, "gave 3 vectors for 2 texts"),
        (servers.raw(b"<html>" + SECRET.encode()), "not 2 embeddings"),
        (servers.raw(b"\xff"), "not 2 embeddings"),
        (servers.raw(b""), "not 2 embeddings"),
        (servers.raw(b"[]"), "not 2 embeddings"),
        (servers.raw(b'{"data": null}'), "not 2 embeddings"),
        (servers.raw(b'{"data": ["a", "b"]}'), "not 2 embeddings"),
        (servers.raw(b'{"data": [{"index": []}]}'), "not 2 embeddings"),
        (servers.raw(b'{"data": [{"embedding": [1]}]}'), "not 2 embeddings"),
        (servers.raw(b"[" * 60_000), "not 2 embeddings"),
        (servers.raw(b" " * 100_000), "over 67584 bytes"),
        (servers.raw(gzip.compress(b" " * 10**7), content_encoding="gzip"), "over"),
        (servers.raw(b"no gzip", content_encoding="gzip"), "cannot be decoded"),
        (
            servers.raw(
                json.dumps(
                    {"data": [{"index": i, "embedding": "AAAA"} for i in (0, 1)]}
                ).encode()
            ),
            "list of numbers",
        ),
    ],
)
def test_an_unusable_answer_is_rejected(
    behave: servers.Behaviour, words: str, server: servers.Server, make: Making
) -> None:
    server.behave = behave

    with pytest.raises(ProviderRejected, match=words) as caught:
        embed(make(), [SECRET, "other"], role="passage")

    assert len(server.bodies) == 1
    assert SECRET not in str(caught.value)
    assert caught.value.__cause__ is None or SECRET not in str(caught.value.__cause__)


@pytest.mark.parametrize("base_url", ["ftp://host/v1", "host/v1", "http://[::", None])
def test_an_address_that_is_none_is_reported(base_url: str) -> None:
    embedder = OpenAIEmbedder(model="m", dimensions=8, base_url=base_url)

    assert [m.id for m in embedder.check()] == ["prism_memory.E051"]
    with pytest.raises(Misconfigured, match="base_url"):
        one(embedder)
    embedder.close()


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, ["prism_memory.E052"]),
        ({"api_key": ""}, ["prism_memory.E052"]),
        ({"api_key": KEY}, []),
        ({"api_key": lambda: KEY}, []),
        ({"base_url": "http://localhost:11434/v1"}, []),
        ({"base_url": "http://localhost:11434/v1", "api_key": KEY}, []),
        ({"base_url": "http://[::1]/v1", "api_key": KEY}, []),
        ({"base_url": "http://gpu.example/v1"}, []),
        ({"base_url": "http://gpu.example/v1", "api_key": KEY}, ["prism_memory.W051"]),
        ({"base_url": "https://gpu.example/v1", "api_key": KEY}, []),
    ],
)
def test_check(options: dict[str, Any], expected: list[str]) -> None:
    embedder = OpenAIEmbedder(model="m", dimensions=8, **options)

    messages = embedder.check()

    assert [message.id for message in messages] == expected
    assert all(KEY not in str(message) for message in messages)


@pytest.mark.parametrize(
    "options", [{"retries": -1}, {"retries": 11}, {"max_batch": 0}, {"max_batch": 129}]
)
def test_options_out_of_bounds_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(Misconfigured, match=next(iter(options))):
        OpenAIEmbedder(model="m", dimensions=8, **options)


def test_the_key_is_not_shown(make: Making) -> None:
    assert repr(make()) == f"<OpenAIEmbedder openai/small ({servers.WIDTH})>"


def test_settings_configure_it(server: servers.Server) -> None:
    entry = {
        "BACKEND": "prism_memory.backends.openai.OpenAIEmbedder",
        "OPTIONS": {
            "model": "small",
            "dimensions": servers.WIDTH,
            "base_url": server.url,
            "api_key": KEY,
        },
    }
    with override_settings(PRISM_MEMORY={"EMBEDDERS": {"remote": entry}}):
        (vector,) = embed(get_embedder("remote"), ["bees"], role="query")

    assert vector == pytest.approx(hash_vector("bees", servers.WIDTH))


def test_retry_after_in_seconds_or_as_a_date() -> None:
    now = dt.datetime.now(tz=dt.UTC)
    later = format_datetime(now + dt.timedelta(minutes=1), usegmt=True)
    unzoned = format_datetime((now + dt.timedelta(minutes=1)).replace(tzinfo=None))
    past = format_datetime(now - dt.timedelta(minutes=1), usegmt=True)

    assert retrying.retry_after({"retry-after": " 12 "}) == 12
    assert retrying.retry_after({"retry-after": later}) == pytest.approx(60, abs=5)
    assert retrying.retry_after({"retry-after": unzoned}) == pytest.approx(60, abs=5)
    assert retrying.retry_after({"retry-after": past}) == 0
    assert retrying.retry_after({"retry-after": "soon"}) == 0
    assert retrying.retry_after({"retry-after": "9" * 400}) < 10**9
    assert retrying.retry_after({}) == 0


def test_backoff_doubles_up_to_a_bound() -> None:
    for attempt, longest in enumerate([0.5, 1, 2, 4, 8, 8, 8]):
        assert longest / 2 <= retrying.backoff_seconds(attempt) <= longest
