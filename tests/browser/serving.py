"""The example site for a browser, on the test's own connection.

What a test wrote and has not committed the site shows, and what the site writes is gone
when the test is undone: no table is emptied. So requests come one at a time, and
``transaction.on_commit`` does nothing.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final
from unittest.mock import patch

from django.contrib.staticfiles.handlers import StaticFilesHandler
from django.core.handlers.wsgi import WSGIHandler
from django.core.servers.basehttp import ThreadedWSGIServer
from django.db import connections
from django.test.testcases import QuietWSGIRequestHandler

POLL_SECONDS: Final = 0.02
POLICY: Final = (
    "default-src 'self'; img-src 'self' data:; object-src 'none'; "
    "base-uri 'self'; form-action 'self'; frame-ancestors 'none'"
)
"""What a strict host sends: no script, style or handler inside a page."""


class Strict(StaticFilesHandler):
    """The site with its static files, under a strict content policy."""

    def __init__(self, application: Any) -> None:
        super().__init__(application)
        self.turn = threading.Lock()

    def __call__(self, environ: Any, start_response: Any) -> Any:
        def start(status: str, headers: list[Any], *more: Any) -> Any:
            policy = ("Content-Security-Policy", POLICY)
            return start_response(status, [*headers, policy], *more)

        if environ["PATH_INFO"] == "/favicon.ico":  # a browser's own wish
            start_response("204 No Content", [])
            return []
        with self.turn:
            return super().__call__(environ, start)


class _Server(ThreadedWSGIServer):
    """Leaves the connection open: it is the test's."""

    def _close_connections(self) -> None:
        pass


@contextmanager
def served() -> Iterator[str]:
    """Serve the site; gives its address, such as ``http://127.0.0.1:41234``."""
    connection = connections["default"]
    server = _Server(
        ("127.0.0.1", 0),
        QuietWSGIRequestHandler,
        connections_override={"default": connection},
    )
    server.set_app(Strict(WSGIHandler()))
    thread = threading.Thread(target=server.serve_forever, args=[POLL_SECONDS])
    connection.inc_thread_sharing()
    thread.start()
    # After a request Django closes a connection that is within a transaction.
    with patch.object(connection, "close_if_unusable_or_obsolete"):
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()
        server.server_close()
    connection.dec_thread_sharing()
