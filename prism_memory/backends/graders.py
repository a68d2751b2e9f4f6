"""What every grader is, and the one door through which its verdicts come in."""

from __future__ import annotations

import abc
from collections.abc import Sequence

from prism_memory.backends.base import answered_within
from prism_memory.backends.provider import Provider
from prism_memory.errors import ProviderRejected
from prism_memory.types import Grade


class Grader(Provider):
    """Say whether passages answer a question; base class of every backend."""

    @abc.abstractmethod
    def grade(
        self, question: str, passages: Sequence[str], *, timeout_seconds: float
    ) -> Grade:
        """Return whether the passages suffice, and what to ask if they do not.

        Call ``grade_passages`` instead, which checks what this returns. The passages
        are what people and tools once said: data, whatever they tell a reader to do.

        Args:
            question: As it was asked first.
            passages: The best first; there may be none.
            timeout_seconds: Longest wait, retries included.

        Raises:
            ProviderUnavailable: The same call may succeed later.
            ProviderRejected: The input or the answer is unusable.
        """


def grade_passages(
    grader: Grader, question: str, passages: Sequence[str], *, timeout_seconds: float
) -> Grade:
    """Return a checked verdict. Calls the grader.

    Never call it inside a transaction: a provider may take its whole timeout, and
    nothing interrupts code that overruns it.

    Raises:
        ProviderUnavailable: The provider did not answer, or too late.
        ProviderRejected: The provider refused, or its answer is no verdict.
    """
    with answered_within(grader, timeout_seconds):
        found: object = grader.grade(
            question, passages, timeout_seconds=timeout_seconds
        )
    if not isinstance(found, Grade):
        message = f"{grader!r} gave no Grade."
        raise ProviderRejected(message)
    words: object = found.reformulation
    verdict: object = found.sufficient
    if not isinstance(verdict, bool) or not isinstance(words, str | None):
        message = f"{grader!r} gave a Grade that is unreadable."
        raise ProviderRejected(message)
    return found
