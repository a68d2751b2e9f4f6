"""A real server over loopback: the example's site in a process of its own."""

from __future__ import annotations

import http.client
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from typing import Final

from django.utils import timezone

from example_project.embedded import CHECKOUT
from prism_memory.lifecycle import create_key
from prism_memory.types import Actor, Permission, Scope

HOST: Final = "127.0.0.1"
PATH: Final = "/api/v1/recall"
START_SECONDS: Final = 60
STOP_SECONDS: Final = 15
WARM_UP_CALLS: Final = 30
"""More than the server has threads: each opens its connection on its first call."""


@contextmanager
def server(scope: Scope) -> Iterator[Callable[[str], object]]:
    """Have a server for a block; yield what asks it a question in ``scope``.

    The connection is kept between two calls, as a client library would keep it.
    """
    port = free_port()
    process = subprocess.Popen(  # noqa: S603 - our own interpreter and words
        [
            *(sys.executable, "-m", "uvicorn", "example_project.wsgi:application"),
            *("--interface", "wsgi", "--host", HOST, "--port", str(port)),
            *("--log-level", "error"),
        ],
        cwd=CHECKOUT,
        env=os.environ | {"PYTHONWARNINGS": "ignore"},
        stdin=subprocess.DEVNULL,
    )
    try:
        connection = _connected(process, port)
        ask = _asking(connection, token_of(scope))
        for _ in range(WARM_UP_CALLS):
            ask("what was it")
        yield ask
        connection.close()
    finally:
        process.terminate()
        process.wait(STOP_SECONDS)


def free_port() -> int:
    """Return a port that nothing listens on."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port


def token_of(scope: Scope) -> str:
    """Return the token of a new key that may read ``scope``."""
    _, token = create_key(
        using="default",
        scope=scope,
        actor=Actor("benchmarks"),
        label="benchmarks",
        permissions=[Permission.READ],
        at=timezone.now(),
    )
    return token


def _connected(
    process: subprocess.Popen[bytes], port: int
) -> http.client.HTTPConnection:
    connection = http.client.HTTPConnection(HOST, port, timeout=60)
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            connection.connect()
        except OSError:
            if process.poll() is not None or time.monotonic() > deadline:
                raise
            time.sleep(0.1)
        else:
            return connection


def _asking(
    connection: http.client.HTTPConnection, token: str
) -> Callable[[str], object]:
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}

    def ask(question: str) -> object:
        body = json.dumps({"query": question})
        connection.request("POST", PATH, body, headers)
        response = connection.getresponse()
        answer = response.read()
        if response.status != HTTPStatus.OK:
            message = f"{PATH} answered {response.status}: {answer[:500]!r}"
            raise RuntimeError(message)
        return json.loads(answer)

    return ask
