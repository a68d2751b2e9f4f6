"""One address of a service that takes JSON and gives JSON, over httpx.

What every remote backend shares: connections that stay open, tries within one deadline,
a bound on the answer, and errors that quote neither texts nor keys.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from django.core import checks

from prism_memory.backends.base import check_option
from prism_memory.backends.loading import PerProcess, load, require
from prism_memory.backends.retrying import Retry, retry_after, retrying
from prism_memory.errors import (
    Misconfigured,
    ProviderRejected,
    ProviderUnavailable,
)

if TYPE_CHECKING:
    import httpx

ApiKey = str | Callable[[], str]

EXTRA: Final = "openai"
OPENAI_URL: Final = "https://api.openai.com/v1"

LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})

BUSY: Final = frozenset({408, 409, 425, 429})
"""Refusals that pass, beside all of 5xx."""

NO_ACCESS: Final = frozenset({401, 402, 403})
"""Refusals of the key or the account. No fault of the text, so not a rejection of it;
trying again at once is no use either."""


class Endpoint:
    """Post JSON to one path of a service.

    Args:
        label: What errors call the backend; no key and no text.
        base_url: Up to and without ``path``.
        path: Such as ``/embeddings``.
        api_key: The key, or a function that returns it (called at each request, for
            keys that change). None sends none.
        headers: Further HTTP headers.
        retries: Tries after the first, 0..10, all within the call's timeout.

    Raises:
        Misconfigured: ``retries`` is out of bounds, or the extra is missing.
    """

    def __init__(
        self,
        *,
        label: str,
        base_url: str,
        path: str,
        api_key: ApiKey | None = None,
        headers: Mapping[str, str] | None = None,
        retries: int = 3,
    ) -> None:
        require("httpx", extra=EXTRA)
        self.base_url = str(base_url).rstrip("/")
        self.retries = check_option(retries, "retries", 10, minimum=0)
        self._label = label
        self._path = path
        self._api_key = api_key
        self._headers = dict(headers or {})
        self._client: PerProcess[httpx.Client] = PerProcess(make_client)

    def __repr__(self) -> str:
        return f"<Endpoint of {self._label}>"

    def post(
        self, body: Mapping[str, Any], *, timeout_seconds: float, limit_bytes: int
    ) -> bytes:
        """Return the body of the answer. One request, and up to ``retries`` more.

        Args:
            body: Sent as JSON.
            timeout_seconds: Longest wait, retries included.
            limit_bytes: Longest answer.

        Raises:
            Misconfigured: The URL, the key or a header cannot be sent.
            ProviderUnavailable: Busy, out of reach, too slow, or the key has no access.
            ProviderRejected: The service refuses the request, or its answer is too
                long or cannot be decoded.
        """
        deadline = time.monotonic() + timeout_seconds
        return retrying(
            lambda: self._post(body, deadline=deadline, limit_bytes=limit_bytes),
            retries=self.retries,
            deadline=deadline,
        )

    def check(self, subject: str) -> list[checks.CheckMessage]:
        """Report a URL that is none, a missing key, and a key sent in clear.

        Args:
            subject: What the messages begin with, such as ``The embedder small``.
        """
        scheme, host = address(self.base_url)
        if scheme not in {"http", "https"} or not host:
            return [
                checks.Error(
                    f"{subject} has no http(s) address.",
                    hint=f"Set base_url, for instance to {OPENAI_URL!r}.",
                    id="prism_memory.E051",
                )
            ]
        return self._check_key(subject, scheme, host)

    def close(self) -> None:
        """Close the connections; a later call opens them again."""
        client = self._client.pop()
        if client is not None:
            client.close()

    def _check_key(
        self, subject: str, scheme: str, host: str
    ) -> list[checks.CheckMessage]:
        if not self._api_key and host == "api.openai.com":
            return [
                checks.Error(
                    f"{subject} has no api_key.",
                    hint="Set api_key in its OPTIONS; OpenAI answers nobody without.",
                    id="prism_memory.E052",
                )
            ]
        if self._api_key and scheme == "http" and host not in LOOPBACK:
            return [
                checks.Warning(
                    f"{subject} sends its api_key unencrypted.",
                    hint="Use an https base_url.",
                    id="prism_memory.W051",
                )
            ]
        return []

    def _post(
        self, body: Mapping[str, Any], *, deadline: float, limit_bytes: int
    ) -> bytes:
        """Return the body of one answer.

        Raises:
            Retry: It may work in a moment.
        """
        httpx = load("httpx", extra=EXTRA)
        try:
            with self._client.get().stream(
                "POST",
                self.base_url + self._path,
                json=body,
                headers=self._request_headers(),
                timeout=max(0.001, deadline - time.monotonic()),
            ) as response:
                self._check_status(response)
                return self._read(response, deadline, limit_bytes)
        except (
            httpx.InvalidURL,
            httpx.UnsupportedProtocol,
            httpx.LocalProtocolError,
        ) as error:
            # Without the cause: its text may hold the header with the key.
            kind = type(error).__name__
            message = f"{self._label}: base_url or a header cannot be sent ({kind})."
            raise Misconfigured(message) from None
        except httpx.DecodingError as error:
            message = f"{self._label} gave an answer that cannot be decoded."
            raise ProviderRejected(message) from error
        except httpx.TransportError as error:
            message = f"{self._label} did not answer ({type(error).__name__})."
            raise Retry(message) from error

    def _request_headers(self) -> dict[str, str]:
        key = self._api_key() if callable(self._api_key) else self._api_key
        if not key:
            return self._headers
        if not (key.isascii() and key.isprintable()):
            message = f"{self._label}: api_key holds what an HTTP header cannot."
            raise Misconfigured(message, field="api_key")
        return {**self._headers, "Authorization": f"Bearer {key}"}

    def _check_status(self, response: httpx.Response) -> None:
        # The number only: bodies of errors may quote the texts or the key.
        status = response.status_code
        message = f"{self._label} answered {status}."
        if status == 200:
            return
        if status in BUSY or status >= 500:
            raise Retry(message, after_seconds=retry_after(response.headers))
        if status in NO_ACCESS:
            raise ProviderUnavailable(message)
        raise ProviderRejected(message)

    def _read(
        self, response: httpx.Response, deadline: float, limit_bytes: int
    ) -> bytes:
        received = bytearray()
        for chunk in response.iter_bytes():
            received += chunk
            if len(received) > limit_bytes:
                message = f"{self._label} gave an answer of over {limit_bytes} bytes."
                raise ProviderRejected(message)
            if time.monotonic() > deadline:  # httpx times each read, not their sum
                message = f"{self._label} did not finish its answer in time."
                raise Retry(message)
        return bytes(received)


def address(url: str) -> tuple[str, str]:
    """Return scheme and host in lower case; empty where there is none."""
    try:
        parts = urlsplit(url)
        return parts.scheme, parts.hostname or ""
    except ValueError:
        return "", ""


def make_client() -> httpx.Client:
    """Return a client that keeps connections open. It follows no redirect.

    A redirect could carry the texts and the key to somebody else.
    """
    client: httpx.Client = load("httpx", extra=EXTRA).Client(follow_redirects=False)
    return client
