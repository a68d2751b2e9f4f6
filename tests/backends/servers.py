"""A real HTTP server on loopback that speaks OpenAI's embeddings, well or badly."""

from __future__ import annotations

import gzip
import json
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from prism_memory.backends.hashing import hash_vector

WIDTH = 16
Answer = tuple[int, dict[str, str], bytes]
Behaviour = Callable[["Server", dict[str, Any]], Answer]


class Server(ThreadingHTTPServer):
    """Answers each request by ``behave`` and keeps what it was sent."""

    daemon_threads = True
    block_on_close = False  # a hanging request must not hold up the end of a test

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.behave: Behaviour = well
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.ports: list[int] = []
        self.stop = threading.Event()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print what is unexpected; a client that hangs up is what some tests do."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Server

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers["Content-Length"]))
        body = json.loads(raw)
        self.server.bodies.append(body)
        self.server.headers.append({k.lower(): v for k, v in self.headers.items()})
        self.server.paths.append(self.path)
        self.server.ports.append(self.client_address[1])
        status, headers, answer = self.server.behave(self.server, body)
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Say nothing."""


@contextmanager
def running() -> Iterator[Server]:
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server
        finally:
            server.stop.set()
            server.shutdown()
            thread.join()


def items(body: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"object": "embedding", "index": index, "embedding": hash_vector(text, WIDTH)}
        for index, text in enumerate(body["input"])
    ]


def answer(found: object) -> Answer:
    body = json.dumps({"object": "list", "data": found}).encode()
    return 200, {"Content-Type": "application/json"}, body


def well(server: Server, body: dict[str, Any]) -> Answer:
    return answer(items(body))


def shuffled(server: Server, body: dict[str, Any]) -> Answer:
    return answer(items(body)[::-1])


def packed(server: Server, body: dict[str, Any]) -> Answer:
    status, headers, raw = well(server, body)
    return status, {**headers, "Content-Encoding": "gzip"}, gzip.compress(raw)


def one_number(value: object) -> Behaviour:
    def behave(server: Server, body: dict[str, Any]) -> Answer:
        found = items(body)
        found[-1]["embedding"][0] = value
        return answer(found)

    return behave


def too_wide(server: Server, body: dict[str, Any]) -> Answer:
    found = items(body)
    found[0]["embedding"].append(0.0)
    return answer(found)


def one_less(server: Server, body: dict[str, Any]) -> Answer:
    return answer(items(body)[:-1])


def one_more(server: Server, body: dict[str, Any]) -> Answer:
    found = items(body)
    return answer([*found, {**found[0], "index": len(found)}])


def twice_the_same(server: Server, body: dict[str, Any]) -> Answer:
    return answer([*items(body), items(body)[0]])


def status(code: int, **headers: str) -> Behaviour:
    named = {name.replace("_", "-"): value for name, value in headers.items()}

    def behave(server: Server, body: dict[str, Any]) -> Answer:
        # Real services quote the input in their errors; ours must not pass it on.
        return code, named, json.dumps({"error": body["input"]}).encode()

    return behave


def raw(octets: bytes, **headers: str) -> Behaviour:
    named = {name.replace("_", "-"): value for name, value in headers.items()}

    def behave(server: Server, body: dict[str, Any]) -> Answer:
        return 200, named, octets

    return behave


def first(times: int, bad: Behaviour, then: Behaviour = well) -> Behaviour:
    def behave(server: Server, body: dict[str, Any]) -> Answer:
        return (bad if len(server.bodies) <= times else then)(server, body)

    return behave


def hanging(server: Server, body: dict[str, Any]) -> Answer:
    server.stop.wait(30)
    return well(server, body)


def slow(seconds: float) -> Behaviour:
    def behave(server: Server, body: dict[str, Any]) -> Answer:
        time.sleep(seconds)
        return well(server, body)

    return behave
