"""Any cross-encoder behind ``POST /rerank``, in the words of Cohere or of TEI.

Cohere, Jina, vLLM, Infinity, llama.cpp; and text-embeddings-inference.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from django.core import checks

from prism_memory.backends.base import check_option
from prism_memory.backends.endpoint import ApiKey, Endpoint
from prism_memory.backends.reranking import Reranker
from prism_memory.errors import Misconfigured, ProviderRejected

MAX_BATCH: Final = 1_000
"""Most texts of one request. Source: Cohere's API reference."""

TEI_BATCH: Final = 32
"""Texts of one request that TEI takes as it comes (``--max-client-batch-size``)."""

ITEM_BYTES: Final = 256
"""Most bytes of one item of an answer around its text."""

ENVELOPE_BYTES: Final = 65_536
"""Most bytes of an answer around its items."""

ESCAPED: Final = 6
"""Most bytes of JSON for one byte of text. Some services send the texts back."""


class HTTPReranker(Reranker):
    """Ask a service for the relevance of texts.

    Args:
        model: Name of the model, as the service knows it.
        base_url: Up to and without ``/rerank``.
        dialect: ``cohere`` (Cohere, Jina, vLLM) or ``tei``.
        api_key: The key, or a function that returns it. None sends none.
        retries: Tries after the first, 0..10, all within the call's timeout.
        headers: Further HTTP headers.
        max_batch: Most texts of one request, 1..1,000; more are asked for in turn.
            None: 1,000, of TEI 32.
        truncate: TEI only: cut a text that is too long instead of refusing it.

    Raises:
        Misconfigured: A value is out of bounds, or the extra ``openai`` is missing.
    """

    def __init__(
        self,
        *,
        model: str,
        base_url: str,
        dialect: str = "cohere",
        api_key: ApiKey | None = None,
        retries: int = 1,
        headers: Mapping[str, str] | None = None,
        max_batch: int | None = None,
        truncate: bool = True,
    ) -> None:
        if dialect not in DIALECTS:
            message = f"dialect must be one of {', '.join(DIALECTS)}."
            raise Misconfigured(message, field="dialect")
        super().__init__(provider=dialect, model=model)
        if max_batch is None:
            max_batch = TEI_BATCH if dialect == "tei" else MAX_BATCH
        self.max_batch = check_option(max_batch, "max_batch", MAX_BATCH)
        self.truncate = truncate
        self._ask, self._read = DIALECTS[dialect]
        self._endpoint = Endpoint(
            label=repr(self),
            base_url=base_url,
            path="/rerank",
            api_key=api_key,
            headers=headers,
            retries=retries,
        )

    def rerank(
        self, query: str, texts: Sequence[str], *, timeout_seconds: float
    ) -> list[float]:
        """Return one score a text. One request a batch, and up to ``retries`` more.

        Raises:
            Misconfigured: The URL, the key or a header cannot be sent.
            ProviderUnavailable: Busy, out of reach, too slow, or the key has no access.
            ProviderRejected: The service refuses the texts, or its answer is not one
                score a text.
        """
        deadline = time.monotonic() + timeout_seconds
        scores: list[float] = []
        for start in range(0, len(texts), self.max_batch):
            part = list(texts[start : start + self.max_batch])
            answer = self._endpoint.post(
                self._ask(self, query, part),
                timeout_seconds=deadline - time.monotonic(),
                limit_bytes=limit_bytes(part),
            )
            scores += self._scores(answer, len(part))
        return scores

    def check(self) -> list[checks.CheckMessage]:
        """Report a URL that is none, a missing key, and a key sent in clear."""
        return self._endpoint.check(f"The reranker {self.provider}/{self.model}")

    def close(self) -> None:
        """Close the connections; a later call opens them again."""
        self._endpoint.close()

    def _scores(self, answer: bytes, count: int) -> list[float]:
        try:
            found = self._read(json.loads(answer))
            indexed = {check_index(index): score for index, score in found}
            scores = [indexed[position] for position in range(count)]
        except (LookupError, RecursionError, TypeError, ValueError):
            # Without the cause: it may quote the answer, and that the texts.
            message = f"{self!r} gave an answer that is not {count} scores."
            raise ProviderRejected(message) from None
        if len(found) != count:  # one twice, or of a text that was not sent
            message = f"{self!r} gave {len(found)} scores for {count} texts."
            raise ProviderRejected(message)
        return scores


def check_index(index: object) -> int:
    """Return ``index`` if it is an integer. True and 1.0 would pass for 1."""
    if type(index) is not int:
        raise TypeError
    return index


def limit_bytes(texts: Sequence[str]) -> int:
    """Return the longest answer that is read, the texts sent back included."""
    octets = sum(len(text.encode(errors="replace")) for text in texts)
    return ENVELOPE_BYTES + ITEM_BYTES * len(texts) + ESCAPED * octets


def cohere_body(reranker: HTTPReranker, query: str, texts: list[str]) -> dict[str, Any]:
    return {
        "model": reranker.model,
        "query": query,
        "documents": texts,
        "top_n": len(texts),
    }


def cohere_scores(answer: Any) -> list[tuple[Any, Any]]:  # noqa: ANN401 - JSON
    found = answer["results"]
    return [(item["index"], item["relevance_score"]) for item in found]


def tei_body(reranker: HTTPReranker, query: str, texts: list[str]) -> dict[str, Any]:
    return {"query": query, "texts": texts, "truncate": reranker.truncate}


def tei_scores(answer: Any) -> list[tuple[Any, Any]]:  # noqa: ANN401 - JSON
    return [(item["index"], item["score"]) for item in answer]


Ask = Callable[[HTTPReranker, str, list[str]], dict[str, Any]]
Read = Callable[[Any], list[tuple[Any, Any]]]

DIALECTS: Final[dict[str, tuple[Ask, Read]]] = {
    "cohere": (cohere_body, cohere_scores),
    "tei": (tei_body, tei_scores),
}
