"""Any endpoint that speaks OpenAI's ``POST /v1/embeddings``, over httpx.

OpenAI itself, Ollama, vLLM, TEI, LM Studio and others.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from django.core import checks

from prism_memory.backends.base import MAX_BATCH, Embedder, check_option
from prism_memory.backends.endpoint import OPENAI_URL, ApiKey, Endpoint
from prism_memory.errors import ProviderRejected
from prism_memory.types import Role, Vector

NUMBER_BYTES: Final = 64
"""Most bytes of one number in an answer: 25 digits and generous white space."""

ENVELOPE_BYTES: Final = 65_536
"""Most bytes of an answer around its numbers."""


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
        super().__init__(
            provider="openai",
            model=model,
            dimensions=dimensions,
            query_prefix=query_prefix,
            passage_prefix=passage_prefix,
        )
        self.send_dimensions = send_dimensions
        self.max_batch = check_option(max_batch, "max_batch", MAX_BATCH)
        self.endpoint = Endpoint(
            label=repr(self),
            base_url=base_url,
            path="/embeddings",
            api_key=api_key,
            headers=headers,
            retries=retries,
        )

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
        answer = self.endpoint.post(
            body, timeout_seconds=timeout_seconds, limit_bytes=limit
        )
        return self._vectors(answer, len(texts))

    def check(self) -> list[checks.CheckMessage]:
        """Report a URL that is none, a missing key, and a key sent in clear."""
        return self.endpoint.check(f"The embedder {self.identity}")

    def close(self) -> None:
        """Close the connections; a later call opens them again."""
        self.endpoint.close()

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
