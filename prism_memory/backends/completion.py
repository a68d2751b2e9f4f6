"""Any endpoint that speaks OpenAI's ``POST /v1/chat/completions``, over httpx.

What comes back is read strictly as JSON, and what cannot be read is refused.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from prism_memory.backends.endpoint import Endpoint
from prism_memory.errors import ProviderRejected

ANSWER_BYTES: Final = 131_072
"""Longest answer, with all that a service puts around a few lines of text."""


class Chat:
    """Ask a chat endpoint for a JSON object.

    Args:
        label: What errors call the backend; no key and no text.
        model: Name of the model, as the service knows it.
        parameters: Further keys of the request, such as ``temperature``.
        json_mode: Ask the service for JSON; a few do not know the wish.
        connection: Further arguments of ``Endpoint``.
    """

    def __init__(
        self,
        *,
        label: str,
        model: str,
        parameters: Mapping[str, Any] | None,
        json_mode: bool,
        **connection: Any,  # noqa: ANN401 - Endpoint's own
    ) -> None:
        self.endpoint = Endpoint(label=label, path="/chat/completions", **connection)
        self._label = label
        wished = {"temperature": 0, **(parameters or {})}
        if json_mode:
            wished["response_format"] = {"type": "json_object"}
        self._body = {k: v for k, v in wished.items() if v is not None}
        self._body["model"] = model

    def ask(
        self, instructions: str, material: str, *, timeout_seconds: float
    ) -> dict[str, Any]:
        """Return the object that the model answers. One request, and its retries.

        Raises:
            Misconfigured: The URL, the key or a header cannot be sent.
            ProviderUnavailable: Busy, out of reach, too slow, or the key has no access.
            ProviderRejected: The service refuses, or its answer is no JSON object.
        """
        messages = [
            {"role": "system", "content": instructions},
            {"role": "user", "content": material},
        ]
        answer = self.endpoint.post(
            {**self._body, "messages": messages},
            timeout_seconds=timeout_seconds,
            limit_bytes=ANSWER_BYTES,
        )
        try:
            content = json.loads(answer)["choices"][0]["message"]["content"]
            found = json.loads(content, object_pairs_hook=without_repeats)
        except (LookupError, RecursionError, TypeError, ValueError):
            # Without the cause: it may quote the answer, and that the passages.
            raise self.unreadable() from None
        if not isinstance(found, dict):
            raise self.unreadable()
        return found

    def unreadable(self) -> ProviderRejected:
        """Return the error for an answer that is not what was asked for."""
        return ProviderRejected(f"{self._label} gave an answer that is unreadable.")


def without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the object of ``pairs``.

    Raises:
        ValueError: A name occurs twice: which value was meant, nobody can tell.
    """
    found = dict(pairs)
    if len(found) < len(pairs):
        message = "A name occurs twice."
        raise ValueError(message)
    return found
