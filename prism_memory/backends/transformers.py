"""What every query transformer is, and the one door through which its words come in."""

from __future__ import annotations

import abc
from collections.abc import Sequence

from prism_memory.backends.base import answered_within, as_list
from prism_memory.backends.provider import Provider
from prism_memory.errors import ProviderRejected


class QueryTransformer(Provider):
    """Say a question in other words; base class of every backend."""

    @abc.abstractmethod
    def variants(self, query: str, n: int, *, timeout_seconds: float) -> Sequence[str]:
        """Return up to ``n`` other ways to ask ``query``, the best first.

        Args:
            query: What is asked.
            n: Most variants wanted, at least 1.
            timeout_seconds: Longest wait, retries included.

        Raises:
            ProviderUnavailable: The same call may succeed later.
            ProviderRejected: The input or the answer is unusable.
        """

    @abc.abstractmethod
    def passage(self, query: str, *, timeout_seconds: float) -> str:
        """Return a passage as it would stand in a memory that answers ``query``.

        It may be wrong: only its vector is used, which lies nearer to that of a true
        answer than the question's own does.
        Source: Gao, Ma, Lin & Callan, ACL 2023 (HyDE).

        Args:
            query: What is asked.
            timeout_seconds: Longest wait, retries included.

        Raises:
            ProviderUnavailable: The same call may succeed later.
            ProviderRejected: The input or the answer is unusable.
        """


class CheckedTransformer:
    """Ask a transformer and trust nothing of what it answers.

    What it raises comes out as an error of this app, and what is no text is refused.
    Never call it inside a transaction: a provider may take its whole timeout, and
    nothing interrupts code that overruns it.
    """

    def __init__(self, transformer: QueryTransformer) -> None:
        """Keep the transformer to ask."""
        self._transformer = transformer

    def variants(self, query: str, n: int, *, timeout_seconds: float) -> list[str]:
        """Return up to ``n`` variants. Calls the provider.

        Raises:
            ProviderUnavailable: The provider did not answer, or too late.
            ProviderRejected: The provider refused, or its answer is no list of texts.
        """
        with answered_within(self._transformer, timeout_seconds):
            found = self._transformer.variants(
                query, n, timeout_seconds=timeout_seconds
            )
        listed = as_list(found)  # None for a string, whose letters would be texts
        if listed is None or not all(isinstance(text, str) for text in listed):
            message = f"{self._transformer!r} gave variants that are no list of texts."
            raise ProviderRejected(message)
        return listed[:n]

    def passage(self, query: str, *, timeout_seconds: float) -> str:
        """Return the hypothetical passage. Calls the provider.

        Raises:
            ProviderUnavailable: The provider did not answer, or too late.
            ProviderRejected: The provider refused, or its answer is no text.
        """
        with answered_within(self._transformer, timeout_seconds):
            found: object = self._transformer.passage(
                query, timeout_seconds=timeout_seconds
            )
        if not isinstance(found, str) or not found.strip():
            message = f"{self._transformer!r} gave a passage that is no text."
            raise ProviderRejected(message)
        return found
