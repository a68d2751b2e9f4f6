"""Recall on one page: embed, find candidates, fuse and score, choose, pack.

Providers are called first and outside any transaction; then one statement asks all
legs; the rest is arithmetic. A reranker, where one is asked for, comes between, and
what it took its time over is looked at once more before it is shown.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from prism_memory import integrity
from prism_memory.access import Reader
from prism_memory.conf import settings
from prism_memory.db.local import limited
from prism_memory.errors import EmbedderMismatch
from prism_memory.recall.adjacent import adjacent
from prism_memory.recall.asking import Asked, Providers, ask
from prism_memory.recall.candidates import Found, find
from prism_memory.recall.choosing import choose
from prism_memory.recall.clock import Clock
from prism_memory.recall.denials import Gate
from prism_memory.recall.explain import explain
from prism_memory.recall.intact import only_intact
from prism_memory.recall.labelled import facts_of, labelled
from prism_memory.recall.packing import fitting, pack
from prism_memory.recall.question import CANDIDATES_AT_MOST, Question
from prism_memory.recall.ranking import Pool, Ranked, rank
from prism_memory.recall.sharing import check_share, own_hits, with_shared
from prism_memory.recall.strengths import strengths_of
from prism_memory.recall.widening import Widening
from prism_memory.types import Recalled

RERANKED_AT_LEAST: Final = 64
"""Candidates of each leg where a reranker chooses among them."""

NOTICED_MILLISECONDS: Final = 100.0
"""So long a provider may take before what expired meanwhile is looked for."""

UNEMBEDDED: Final = "some records have no vector yet"
WITHHELD: Final = "some records are withheld: their signatures are not theirs"


def recall(
    *,
    using: str,
    reader: Reader,
    question: Question,
    providers: Providers | None = None,
    shared: Reader | None = None,
) -> Recalled:
    """Return the best visible records, best first.

    Calls the embedder once, unless only words are asked; then one query. Variants of
    the question, decay, a reranker, diversity, neighbours, explanations and an
    authorization each cost what ``types.Options`` says.

    Args:
        shared: Who reads what another thread shares with the reader's, if anybody; see
            ``sharing``. Two queries more.

    Raises:
        ScopeDenied: That thread shares nothing with the reader's.
        Invalid: What it shares has expired.
        ProviderUnavailable: The embedder is down and only vectors were asked for;
            otherwise the answer is by words alone, and says so.
        ProviderRejected: The embedder refused the question; likewise.
        EmbedderMismatch: The space that was looked in is not active any more.
        DeadlineExceeded: The time was not enough.
        Aborted: The caller does not want the answer any more.
    """
    if question.top_k == 0:
        return Recalled()
    gate = Gate(using, reader, shared)
    try:
        return _recalled(using, reader, question, providers or Providers(), gate)
    finally:
        gate.tell()


def _recalled(
    using: str, reader: Reader, question: Question, providers: Providers, gate: Gate
) -> Recalled:
    shared = gate.shared
    clock = Clock(question.deadline_seconds, question.cancelled)
    if shared is not None:
        with clock.step("share") as left, limited(using, left):
            check_share(using, shared)
    with clock.step("embed") as left:
        asked, degraded = ask(question, providers, left)
    reader = _after(reader, clock.timings["embed"])
    shared = None if shared is None else _after(shared, clock.timings["embed"])
    rows = question.candidate_rows
    if providers.reranker is not None:
        rows = max(rows, RERANKED_AT_LEAST)
    search = Search(using, reader, question, clock, rows, shared)
    pool, found = search.candidates(asked)
    if question.is_widened:
        found = search.widened(pool, found, asked[0])
    ranked = search.ranked(pool)
    with clock.step("choose"):
        chosen = choose(
            using=using,
            reader=reader,
            question=question,
            pool=pool,
            ranked=ranked,
            providers=providers,
            left=clock.left,
            gate=gate,
        )
    found_hits = pack(chosen, pool, reader.scope.tenant)
    hits = fitting(
        found_hits,
        max_bytes=question.max_bytes,
        max_tokens=question.max_tokens,
        mask=providers.mask,
    )
    unembedded = UNEMBEDDED if pool.unembedded or found.waiting else ""
    withheld = WITHHELD if found.withheld else ""
    reasons = (degraded, found.lost, unembedded, withheld, chosen.reason)
    answer = Recalled(
        hits,
        strategy=strategy_of(found, providers),
        degraded="; ".join(filter(None, reasons)),
        bounded=found.bounded,
        truncated=len(hits) < len(found_hits),
        timings_ms=clock.timings,
    )
    return search.told(answer)


def strategy_of(found: Found, providers: Providers) -> str:
    """Return how the vector leg looked; ``text`` where the host wants words alone."""
    by_words = providers.without_vectors and "text" in found.legs
    return "text" if by_words else found.strategy


def _after(reader: Reader, milliseconds: float) -> Reader:
    """Return the reader as of later: what expired while a provider worked is over.

    Only where it was long: who was quick sees by the moment of the call.
    """
    if milliseconds < NOTICED_MILLISECONDS:
        return reader
    return replace(reader, at=reader.at + dt.timedelta(milliseconds=milliseconds))


@dataclass(frozen=True)
class Search:
    """What is the same in all steps of one recall."""

    using: str
    reader: Reader
    question: Question
    clock: Clock
    rows: int
    shared: Reader | None = None

    def candidates(self, asked: list[Asked]) -> tuple[Pool, Found]:
        """Ask the legs, once for each variant; the first is the question itself."""
        pool, answers = Pool(), list[Found]()
        for variant, one in enumerate(asked, 1):
            legs = [leg for leg in self.question.asked if one.text or leg == "vector"]
            legs = legs if variant == 1 else [n for n in legs if n != "recency"]
            found = self.found(one, legs, self.rows)
            if self.is_short(found):
                found = self.found(one, legs, CANDIDATES_AT_MOST)
            if one.leg.vector is not None and not found.current:
                raise EmbedderMismatch
            pool.add(found.rows, found.legs, variant)
            answers.append(found)
        bounded = any(found.bounded for found in answers)
        withheld = sum(found.withheld for found in answers)
        lost = next((found.lost for found in answers if found.lost), "")
        first = replace(answers[0], bounded=bounded, withheld=withheld, lost=lost)
        return pool, first

    def is_short(self, found: Found) -> bool:
        """Tell whether a page is short for what was withheld, and more may be there."""
        seen = len(found.rows) + found.withheld
        short = len(found.rows) < self.question.top_k
        return found.withheld > 0 and short and seen >= self.rows

    def found(self, one: Asked, legs: Sequence[str], rows: int) -> Found:
        """Ask for candidates of each leg, with what is shared, and only what is whole.

        Args:
            rows: Candidates wanted of each leg.
        """
        with self.clock.step("candidates") as left:
            found = find(
                using=self.using,
                reader=self.reader,
                query=one.text,
                leg=one.leg,
                rows=rows,
                legs=legs,
                beside=self.question.uses_context,
                weighed=self.shared is not None,
                timeout_seconds=left,
            )
        if self.shared is not None:
            with self.clock.step("shared") as left, limited(self.using, left):
                found = with_shared(
                    using=self.using,
                    reader=self.shared,
                    asked=one,
                    found=found,
                    rows=rows,
                )
        if integrity.is_enforced():
            with self.clock.step("integrity") as left, limited(self.using, left):
                found = only_intact(self.using, self.reader, found)
        return found

    def widened(self, pool: Pool, found: Found, asked: Asked) -> Found:
        """Add what shares an entity, by the reader's own sight."""
        widening = Widening(
            self.using, self.reader, self.question, asked.leg, self.rows, self.clock
        )
        return widening.widen(pool, found)

    def ranked(self, pool: Pool) -> Ranked:
        """Fuse and score."""
        strengths = {}
        if self.question.decay_days is not None:
            with self.clock.step("strengths") as left, limited(self.using, left):
                strengths = strengths_of(self.using, self.reader, list(pool.rows))
        with self.clock.step("rank"):
            return rank(
                pool,
                self.question,
                at=self.reader.at,
                factors=settings.TRUST_FACTORS,
                strengths=strengths,
            )

    def told(self, answer: Recalled) -> Recalled:
        """Add which facts are accepted, what stands beside the hits, and why."""
        question, using, reader = self.question, self.using, self.reader
        if facts_of(answer.hits):
            with self.clock.step("label") as left, limited(using, left):
                hits = labelled(using=using, reader=reader, hits=answer.hits)
            answer = replace(answer, hits=hits)
        hits = answer.hits
        if question.message_range:
            with self.clock.step("adjacent") as left, limited(using, left):
                rows = adjacent(
                    using=using,
                    reader=reader,
                    hits=own_hits(hits, self.shared),
                    message_range=question.message_range,
                )
            answer = replace(answer, adjacent=rows)
        if question.explain:
            with self.clock.step("explain") as left, limited(using, left):
                reasons = explain(
                    using=using,
                    reader=reader,
                    shared=self.shared,
                    hits=hits,
                    weights=question.weight_of,
                    strategy=answer.strategy,
                )
            answer = replace(answer, explanations=reasons)
        return answer
