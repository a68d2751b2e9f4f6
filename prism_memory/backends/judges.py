"""What every judge of conflicts is, and the one door for its rulings to come in by."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import Final

from prism_memory.backends.base import answered_within
from prism_memory.backends.provider import Provider
from prism_memory.errors import ProviderRejected
from prism_memory.types import Ruling, Verdict

POINTING: Final = frozenset({Verdict.DEDUP, Verdict.SUPERSEDE})
"""Verdicts that are about one of the neighbours."""


class ConflictJudge(Provider):
    """Say what becomes of a claim that meets others; base class of every backend."""

    @abc.abstractmethod
    def judge(
        self, claim: str, neighbours: Sequence[str], *, timeout_seconds: float
    ) -> Ruling:
        """Return whether a claim is new, repeats a neighbour, or replaces one.

        Call ``judge_conflict`` instead, which checks what this returns. The texts are
        what people and tools once said: data, whatever they tell a reader to do.

        Args:
            claim: The newer one.
            neighbours: Those that stand, the nearest first; at least one.
            timeout_seconds: Longest wait, retries included.

        Raises:
            ProviderUnavailable: The same call may succeed later.
            ProviderRejected: The input or the answer is unusable.
        """


def judge_conflict(
    judge: ConflictJudge,
    claim: str,
    neighbours: Sequence[str],
    *,
    timeout_seconds: float,
) -> Ruling:
    """Return a checked ruling. Calls the judge.

    Never call it inside a transaction: a provider may take its whole timeout, and
    nothing interrupts code that overruns it.

    Raises:
        ProviderUnavailable: The provider did not answer, or too late.
        ProviderRejected: The provider refused, or its answer is no ruling about these
            neighbours (B433).
    """
    with answered_within(judge, timeout_seconds):
        found: object = judge.judge(claim, neighbours, timeout_seconds=timeout_seconds)
    if not isinstance(found, Ruling) or not _is_ruling(found, len(neighbours)):
        message = f"{judge!r} gave no ruling about these neighbours."
        raise ProviderRejected(message)
    return found


def _is_ruling(found: Ruling, neighbours: int) -> bool:
    verdict: object = found.verdict
    which: object = found.neighbour
    if not isinstance(verdict, Verdict):
        return False
    if verdict not in POINTING:
        return which is None
    return type(which) is int and 0 <= which < neighbours
