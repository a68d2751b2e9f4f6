"""Any endpoint that speaks OpenAI's ``POST /v1/embeddings``, over httpx.

OpenAI itself, Ollama, vLLM, TEI, LM Studio and others.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from django.core import checks

from prism_memory.backends.base import MAX_BATCH, Embedder, check_option
from prism_memory.backends.loading import PerProcess, load, require
from prism_memory.backends.retrying import Retry, retry_after, retrying
from prism_memory.errors import (
    Misconfigured,
    ProviderRejected,
    ProviderUnavailable,
)
from prism_memory.types import Role, Vector

if TYPE_CHECKING:
    import httpx

ApiKey = str | Callable[[], str]

EXTRA: Final = "openai"
OPENAI_URL: Final = "https://api.openai.com/v1"

LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})

NUMBER_BYTES: Final = 64
"""Most bytes of one number in an answer: 25 digits and generous white space."""

ENVELOPE_BYTES: Final = 65_536
"""Most bytes of an answer around its numbers."""

BUSY: Final = frozenset({408, 409, 425, 429})
"""Refusals that pass, beside all of 5xx."""

NO_ACCESS: Final = frozenset({401, 402, 403})
"""Refusals of the key or the account. No fault of the text, so not a rejection of it;
trying again at once is no use either."""


class OpenAIEmbedder(Embedder):
    """Ask an OpenAI-compatible service for vectors.

    Args:
        model: Name of the model, as the service knows it.
        dimensions: Width of its vectors, 1..4,000.
        base_url: Up to and without ``/embeddings``.
        api_key: The key, or a function that returns it (called at each request, for
            keys that change). None sends none.
        send_dimensions: Ask the service for ``dimensions``; some models can shorten.
        query_prefix: Put before a text that asks.
        passage_prefix: Put before a text that is searched.
        retries: Tries after the first, 0..10, all within the call's timeout.
        headers: Further HTTP headers.
        max_batch: Most texts of one request, 1..128; TEI takes 32 as it comes.

    Raises:
        Misconfigured: A value is out of bounds, or the extra ``openai`` is missing.
    """

    def __init__(  # noqa: PLR0913 - the OPTIONS
        self,
        *,
        model: str,
        dimensions: int,
        base_url: str = OPENAI_URL,
        api_key: ApiKey | None = None,
        send_dimensions: bool = False,
        query_prefix: str = "",
        passage_prefix: str = "",
        retries: int = 3,
        headers: Mapping[str, str] | None = None,
        max_batch: int = MAX_BATCH,
    ) -> None:
        require("httpx", extra=EXTRA)
        super().__init__(
            provider="openai",
            model=model,
            dimensions=dimensions,
            query_prefix=query_prefix,
            passage_prefix=passage_prefix,
        )
        self.base_url = str(base_url).rstrip("/")
        self.send_dimensions = send_dimensions
        self.retries = check_option(retries, "retries", 10, minimum=0)
        self.max_batch = check_option(max_batch, "max_batch", MAX_BATCH)
        self._api_key = api_key
        self._headers = dict(headers or {})
        self._client: PerProcess[httpx.Client] = PerProcess(make_client)

    def embed_texts(
        self, texts: Sequence[str], *, role: Role, timeout_seconds: float
    ) -> list[Vector]:
        """Return one vector a text. One request, and up to ``retries`` more.

        Raises:
            Misconfigured: The URL, the key or a header cannot be sent.
            ProviderUnavailable: Busy, out of reach, too slow, or the key has no access.
            ProviderRejected: The service refuses the texts, or its answer is not the
                vectors that were asked for.
        """
        body: dict[str, Any] = {
            "model": self.identity.model,
            "input": self.prefixed(texts, role),
            "encoding_format": "float",
        }
        if self.send_dimensions:
            body["dimensions"] = self.dimensions
        limit = ENVELOPE_BYTES + NUMBER_BYTES * self.dimensions * len(texts)
        deadline = time.monotonic() + timeout_seconds
        answer = retrying(
            lambda: self._post(body, deadline=deadline, limit_bytes=limit),
            retries=self.retries,
            deadline=deadline,
        )
        return self._vectors(answer, len(texts))

    def check(self) -> list[checks.CheckMessage]:
        """Report a URL that is none, a missing key, and a key sent in clear."""
        scheme, host = address(self.base_url)
        if scheme not in {"http", "https"} or not host:
            return [
                checks.Error(
                    f"The embedder {self.identity} has no http(s) address.",
                    hint=f"Set base_url, for instance to {OPENAI_URL!r}.",
                    id="prism_memory.E051",
                )
            ]
        return self._check_key(scheme, host)

    def close(self) -> None:
        """Close the connections; a later call opens them again."""
        client = self._client.pop()
        if client is not None:
            client.close()

    def _check_key(self, scheme: str, host: str) -> list[checks.CheckMessage]:
        if not self._api_key and host == "api.openai.com":
            return [
                checks.Error(
                    f"The embedder {self.identity} has no api_key.",
                    hint="Set api_key in its OPTIONS; OpenAI answers nobody without.",
                    id="prism_memory.E052",
                )
            ]
        if self._api_key and scheme == "http" and host not in LOOPBACK:
            return [
                checks.Warning(
                    f"The embedder {self.identity} sends its api_key unencrypted.",
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
                f"{self.base_url}/embeddings",
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
            message = f"{self!r}: base_url or a header cannot be sent ({kind})."
            raise Misconfigured(message) from None
        except httpx.DecodingError as error:
            message = f"{self!r} gave an answer that cannot be decoded."
            raise ProviderRejected(message) from error
        except httpx.TransportError as error:
            message = f"{self!r} did not answer ({type(error).__name__})."
            raise Retry(message) from error

    def _request_headers(self) -> dict[str, str]:
        key = self._api_key() if callable(self._api_key) else self._api_key
        if not key:
            return self._headers
        if not (key.isascii() and key.isprintable()):
            message = f"{self!r}: api_key holds what an HTTP header cannot."
            raise Misconfigured(message, field="api_key")
        return {**self._headers, "Authorization": f"Bearer {key}"}

    def _check_status(self, response: httpx.Response) -> None:
        # The number only: bodies of errors may quote the texts or the key.
        status = response.status_code
        message = f"{self!r} answered {status}."
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
                message = f"{self!r} gave an answer of over {limit_bytes} bytes."
                raise ProviderRejected(message)
            if time.monotonic() > deadline:  # httpx times each read, not their sum
                message = f"{self!r} did not finish its answer in time."
                raise Retry(message)
        return bytes(received)

    def _vectors(self, answer: bytes, count: int) -> list[Vector]:
        try:
            found = json.loads(answer)["data"]
            indexed = {item["index"]: item["embedding"] for item in found}
            vectors = [indexed[position] for position in range(count)]
        except (LookupError, RecursionError, TypeError, ValueError):
            # Without the cause: it may quote the answer, and that the texts.
            message = f"{self!r} gave an answer that is not {count} embeddings."
            raise ProviderRejected(message) from None
        if len(found) != count:
            message = f"{self!r} gave {len(found)} vectors for {count} texts."
            raise ProviderRejected(message)
        return vectors


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
