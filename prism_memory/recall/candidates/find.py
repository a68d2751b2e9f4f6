"""Ask all legs in one statement, and once more where the first way was the wrong."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from prism_memory.access import Reader
from prism_memory.db import queries
from prism_memory.db.local import local_settings, one_plan
from prism_memory.errors import ProviderRejected, ProviderUnavailable
from prism_memory.recall.candidates import text, vector
from prism_memory.recall.candidates.attempts import Attempt, first_attempt
from prism_memory.recall.candidates.places import (
    count_page,
    is_index_short,
    known_size,
    remember_short,
    remember_size,
)
from prism_memory.recall.candidates.statement import statement
from prism_memory.recall.candidates.vector import VectorLeg
from prism_memory.recall.narrowing import digest

Rows = list[dict[str, Any]]

UNREACHABLE: Final = "the external index of vectors could not be asked"


@dataclass(frozen=True)
class Found:
    """What the legs found.

    Args:
        rows: By record id, the columns of the statement.
        strategy: How the vector leg looked: ``exact``, ``index``, ``external``, or
            ``none`` where it was not asked.
        waiting: Something in sight has no vector yet.
        weighed: What the words weigh, as JSON, where that was asked.
        legs: Those that were asked.
        bounded: Common words were searched only beside others.
        current: The space is still the active one.
        withheld: How many were found and left out, as their signatures are not theirs.
        lost: Why an external index could not be asked, or empty.
    """

    rows: dict[str, dict[str, Any]]
    strategy: str
    legs: tuple[str, ...] = ()
    bounded: bool = False
    current: bool = True
    waiting: bool = False
    weighed: str | None = None
    withheld: int = 0
    lost: str = ""


def find(  # noqa: PLR0913 - keywords, most of them optional
    *,
    using: str,
    reader: Reader,
    query: str,
    leg: VectorLeg,
    rows: int,
    legs: Sequence[str] = ("vector", "text"),
    beside: bool = True,
    weighed: bool = False,
    timeout_seconds: float | None = None,
) -> Found:
    """Return up to ``rows`` visible candidates of each leg, with their records.

    One query. What would be read exactly though an index is there, an index that ends
    before it has enough, nearest that are mostly invisible, and words that are too
    common are learnt by asking: each costs one query more, all but the third only the
    first time in a process. Settings of its own are put back. An external index is
    asked before each query, outside any transaction of this app's.

    Args:
        query: What the text leg searches.
        leg: What the vector leg compares; without a vector it is left out.
        legs: ``vector``, ``text`` and ``recency``, any of them.
        beside: Add what stands beside the best candidates.
        weighed: Tell what the words weigh.
        timeout_seconds: Longest a statement may run.

    Raises:
        DeadlineExceeded: It ran longer; nothing of it is left in a host's transaction.
    """
    place = (using, leg.space_id, reader.places)
    known = known_size(place)
    attempt = first_attempt(
        reader, leg, legs, rows, known, beside=beside, weighed=weighed
    )
    if not attempt.plan.legs:
        return Found(rows={}, strategy="none")
    narrowed = (place, digest(reader), rows)
    told_short = attempt.plan.index and is_index_short(narrowed)
    if told_short:
        attempt = attempt.exactly()
    search = Search(using, reader, query, leg, _end(timeout_seconds))
    attempt = search.located(attempt)
    answer = search.ask(attempt)
    while (following := attempt.following(answer)) is not None:
        if attempt.plan.index and not following.plan.index:
            remember_short(narrowed)
        attempt = search.located(following)
        answer = search.ask(attempt)
    if told_short:
        count_page(narrowed, full=attempt.is_full(answer))
    remember_size(place, known.seen(attempt.plan, answer[0], indexed=leg.indexed))
    return _found(answer, attempt)


def _end(timeout_seconds: float | None) -> float | None:
    return None if timeout_seconds is None else time.perf_counter() + timeout_seconds


@dataclass(frozen=True)
class Search:
    """What is the same in all attempts.

    Args:
        end: When the time is over, by the performance counter.
    """

    using: str
    reader: Reader
    query: str
    leg: VectorLeg
    end: float | None = None

    @property
    def left(self) -> float | None:
        """Seconds that are left."""
        return None if self.end is None else self.end - time.perf_counter()

    def located(self, attempt: Attempt) -> Attempt:
        """Return the attempt with what the external index names, if it is to be asked.

        Where that is down, PostgreSQL is asked alone, and the answer says so.
        """
        external, query = self.leg.external, self.leg.vector
        wanted = attempt.plan.external and attempt.named is None
        if external is None or query is None or not wanted:
            return attempt
        scopes = [scope.id for scope in self.reader.scope.visible(self.reader.mode)]
        try:
            named = external.nearest(scopes, query, attempt.look, self.left)
        except (ProviderUnavailable, ProviderRejected):
            return replace(attempt.within(self.leg), lost=UNREACHABLE)
        return replace(attempt, named=tuple(named))

    def ask(self, attempt: Attempt) -> Rows:
        """Return the rows of one statement, at least one."""
        plan, leg, timeout_seconds = attempt.plan, self.leg, self.left
        exact_rows, look = attempt.exact_rows, attempt.look
        given = {
            **self.reader.parameters(),
            **text.parameters(self.query),
            **vector.parameters(
                leg, exact_rows=exact_rows, look=look, named=attempt.named
            ),
            "legs": list(plan.legs),
        }
        needed = {
            **(vector.index_settings() if plan.index else {}),
            **one_plan(self.using),
        }
        composed = statement(self.reader, plan, leg.space_id, leg.dimensions)
        if not needed and timeout_seconds is None:
            return queries.fetch(self.using, composed, given)
        with local_settings(self.using, needed, timeout_seconds=timeout_seconds):
            return queries.fetch(self.using, composed, given)


def _found(answer: Rows, attempt: Attempt) -> Found:
    rows = {row["record_id"]: row for row in answer if row["record_id"] is not None}
    way = "index" if attempt.plan.index else "exact"
    way = "external" if attempt.plan.external else way
    return Found(
        rows=rows,
        strategy=way if "vector" in attempt.plan.legs else "none",
        legs=attempt.plan.legs,
        bounded=attempt.plan.bounded and bool(answer[0]["bounded"]),
        current=bool(answer[0]["current"]),
        waiting=bool(answer[0]["waiting"]),
        weighed=answer[0].get("weighed"),
        lost=attempt.lost,
    )
