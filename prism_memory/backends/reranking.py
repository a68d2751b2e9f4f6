"""What every reranker is, and the one door through which its scores come in.

``rerank_scores`` trusts no backend: it counts and measures what comes back.
"""

from __future__ import annotations

import abc
import math
from collections.abc import Sequence
from typing import ClassVar

from prism_memory.backends.base import answered_within, as_float, as_list
from prism_memory.backends.provider import Provider
from prism_memory.errors import ProviderRejected


class Reranker(Provider):
    """Say how well each text answers a query; base class of every backend.

    Attributes:
        deterministic: True when the same question always gives the same scores.
    """

    deterministic: ClassVar[bool] = False

    @abc.abstractmethod
    def rerank(
        self, query: str, texts: Sequence[str], *, timeout_seconds: float
    ) -> Sequence[float]:
        """Return one finite score a text, in the order of ``texts``; higher is better.

        Call ``rerank_scores`` instead, which checks what this returns. The scale is
        the backend's own. It runs in a thread of its own, so ask no database in it.

        Args:
            query: What is asked.
            texts: Any number, none included.
            timeout_seconds: Longest wait, retries included.

        Raises:
            ProviderUnavailable: The same call may succeed later.
            ProviderRejected: The input or the answer is unusable.
        """


def rerank_scores(
    reranker: Reranker, query: str, texts: Sequence[str], *, timeout_seconds: float
) -> list[float]:
    """Return one finite score a text, in order; higher is better. Calls the reranker.

    Never call it inside a transaction: a provider may take its whole timeout. Nothing
    interrupts one that overruns it; ``recall.rerank`` leaves such a one behind.

    Raises:
        ProviderUnavailable: The provider did not answer, or too late; the same call
            may succeed.
        ProviderRejected: The provider refused, or its answer is not one finite number
            a text.
    """
    if not texts:
        return []
    with answered_within(reranker, timeout_seconds):
        found = as_list(reranker.rerank(query, texts, timeout_seconds=timeout_seconds))
    if found is None or len(found) != len(texts):
        count = "no list" if found is None else f"{len(found)} scores"
        message = f"{reranker!r} gave {count} for {len(texts)} texts."
        raise ProviderRejected(message)
    scores = [as_float(value) for value in found]
    if not all(map(math.isfinite, scores)):
        message = f"{reranker!r} gave a score that is no finite number."
        raise ProviderRejected(message)
    return scores
