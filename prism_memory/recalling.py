"""From a question to an answer: who asks, and who helps. Memory and rag ask by it."""

from __future__ import annotations

import contextlib
import itertools
import math
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, TypeVar

from prism_memory import backends, indexing, recall
from prism_memory.conf import settings
from prism_memory.errors import EmbedderMismatch, Invalid
from prism_memory.recall import Asker, Providers, Question, Request, VectorLeg
from prism_memory.recall.candidates import external_of
from prism_memory.recall.clock import Clock
from prism_memory.recall.denials import Gate
from prism_memory.recall.measuring import measured
from prism_memory.recall.options import (
    alias,
    limit,
    question_text,
    reader_of,
    request,
)
from prism_memory.types import (
    Actor,
    DeepRecalled,
    Grade,
    Hit,
    Neighbor,
    Recalled,
    Vector,
    check_bool,
)

T = TypeVar("T")

SWITCHES: Final = 3
"""So often a recall begins anew as the space was switched while it looked."""

WITHOUT_USE: Final[Mapping[str, Any]] = {
    "message_range": 0,
    "explain": False,
    "max_bytes": None,
    "max_tokens": None,
}
"""Options whose answer several passes do not carry, and what leaves it out."""


@dataclass(frozen=True)
class Recalling:
    """The readings of one memory.

    Args:
        using: Database alias.
        embedder: Alias of the embedder.
        actor: Who asks, for the traces.
        asker: What is the same in all questions.
    """

    using: str
    embedder: str
    actor: Actor
    asker: Asker

    def recall(
        self, query: str, top_k: int | None, options: Mapping[str, Any]
    ) -> Recalled:
        """Answer one question; see ``Memory.recall``."""
        return self.answer(request(self.asker, query, top_k, options))

    def answer(self, asked: Request, **told: int) -> Recalled:
        """Answer, and tell who listens.

        Args:
            told: Of how it was asked, beside the options.
        """
        found = self.found(asked)
        return replace(found, trace_id=self.announce(asked, found, **told))

    def found(self, asked: Request) -> Recalled:
        """Answer, and leave it to the caller to ``announce`` what comes of it."""
        with measured(self.using, asked.reader.scope.tenant) as told_of:
            found = self._with_providers(
                lambda providers: recall.recall(
                    using=self.using,
                    reader=asked.reader,
                    question=asked.question,
                    providers=providers,
                    shared=asked.shared,
                ),
                asked,
            )
            told_of(found)
        return found

    def deep_recall(
        self,
        query: str,
        top_k: int | None,
        options: Mapping[str, Any],
        *,
        max_iterations: int | None,
        threshold: float | None,
        force_hard: bool,
        grader: str | None,
    ) -> DeepRecalled:
        """Answer in passes; see ``Memory.deep_recall``."""
        refuse(options, WITHOUT_USE)
        asked = request(self.asker, query, top_k, options)
        question = asked.question
        judge = alias(grader, settings.GRADER, "grader", settings.GRADERS)
        passes = limit(
            self.asker.limits, max_iterations, "deep_iterations", "max_iterations"
        )

        clock = Clock(question.deadline_seconds, question.cancelled)
        counted = itertools.count(1)

        def search(text: str, hops: int) -> Recalled:
            each = {
                "deadline_seconds": clock.left(),
                "reinforce": False,
                "expand_hops": wider(question.expand_hops, hops),
            }
            kept = {**options, **WITHOUT_USE, **each}  # whatever is usual there
            one = request(self.asker, text, top_k, kept)
            return self._masked(self.answer(one, deep_pass=next(counted)))

        found = recall.deep(
            question.text,
            search=search,
            grader=grading(judge, clock) if judge else None,
            top_k=question.top_k,
            max_iterations=passes,
            threshold=settings.DEEP_THRESHOLD if threshold is None else threshold,
            force_hard=check_bool(force_hard, "force_hard"),
            still=partial(self._still, asked),
            cancelled=clock.is_over,
        )
        return replace(found, trace_id=self._announce_deep(asked, found))

    def neighbors(self, text: str, top_k: int | None) -> tuple[Neighbor, ...]:
        """Return what is near a text; see ``Memory.neighbors``."""
        # No option is asked for, and none is usual here: who looks for a duplicate
        # must see all that is in sight.
        asked = Request(
            reader=reader_of(self.asker, {}),
            question=Question(
                question_text(self.asker, text),
                limit(self.asker.limits, top_k, "top_k"),
                legs="vector",
            ),
        )

        def ask(providers: Providers) -> tuple[Neighbor, ...]:
            if providers.leg is None or providers.embed is None:
                return ()
            vector = providers.embed([asked.question.text], None)[0]
            return recall.neighbors(
                using=self.using,
                reader=asked.reader,
                leg=replace(providers.leg, vector=vector),
                top_k=asked.question.top_k,
            )

        return self._with_providers(ask, asked)

    def _masked(self, found: Recalled) -> Recalled:
        """Take secrets out of what a grader is shown."""
        mask = self.asker.redaction.mask
        hits = (replace(hit, text=mask(hit.text)) for hit in found.hits)
        return replace(found, hits=tuple(hits))

    def _still(self, asked: Request, hits: Sequence[Hit]) -> set[uuid.UUID]:
        """Return the ids of the hits that are in sight now, as they are. One query."""
        gate = Gate(self.using, asked.reader, asked.shared)
        try:
            found = gate.kept({str(hit.id): {"version": hit.version} for hit in hits})
        finally:
            gate.tell()
        return {*map(uuid.UUID, found)}

    def announce(
        self, asked: Request, found: Recalled, **told: int
    ) -> uuid.UUID | None:
        """Tell who listens of an answer; return the id of the trace that is kept."""
        return recall.announce(
            using=self.using,
            reader=asked.reader,
            question_text=asked.question.text,
            recalled=found,
            timings=found.timings_ms,
            reinforce=asked.reinforce,
            options={**asked.given, **told},
            actor=self.actor,
        )

    def _announce_deep(self, asked: Request, found: DeepRecalled) -> uuid.UUID | None:
        """Tell of the whole: what all passes came to, and what the verdict was.

        That is what is strengthened, once, however many passes found it.
        """
        return self.announce(
            asked,
            Recalled(found.hits, degraded=found.degraded),
            deep_passes=found.iterations,
            graded=found.graded,
            sufficient=found.sufficient,
            abstained=found.abstained,
        )

    def _with_providers(self, ask: Callable[[Providers], T], asked: Request) -> T:
        """Call with who helps; anew where another process switched the space."""
        for fresh in (False, *(True,) * SWITCHES):
            with contextlib.suppress(EmbedderMismatch):
                return ask(self._providers(asked, fresh=fresh))
        return ask(self._providers(asked, fresh=True))

    def _providers(self, asked: Request, *, fresh: bool = False) -> Providers:
        helpers: dict[str, Any] = {"without_vectors": settings.VECTOR_INDEX == "none"}
        if backends.are_vectors_used():
            helpers |= self._space(fresh=fresh)
        if asked.vector is not None:
            helpers["embed"] = partial(given_vector, asked.vector, helpers.get("leg"))
        if asked.question.is_varied and asked.transformer:
            transformer = backends.get_transformer(asked.transformer)
            helpers["transformer"] = backends.CheckedTransformer(transformer)
        if asked.reranker:
            helpers["reranker"] = backends.get_reranker(asked.reranker)
        return Providers(
            **helpers,
            check=partial(question_text, self.asker),
            mask=self.asker.redaction.mask,
        )

    def _space(self, *, fresh: bool) -> dict[str, Any]:
        """Return where to look, and what embeds for it: the one goes by the other."""
        try:
            space = indexing.known_space(
                using=self.using, alias=self.embedder, fresh=fresh
            )
        except EmbedderMismatch:
            if not fresh or settings.EMBEDDER_CHANGED == "refuse":
                raise  # one that is remembered may just have been switched
            return {"lost": recall.CHANGED}
        if space is None:
            embedder = backends.get_embedder(self.embedder)
            return {"embed": partial(embed_queries, embedder)}
        external = external_of(tenant=self.asker.scope.tenant, space_id=space.id)
        width = space.identity.dimensions
        return {
            "leg": VectorLeg(space.id, width, space.indexed, external=external),
            "embed": partial(embed_queries, indexing.embedder_of(space)),
        }


def wider(asked: int, hops: int) -> int:
    """Return by how many hops a pass is widened: as asked, or more (B403).

    No further than asked where facts are linked to no entities.
    """
    return asked if settings.ENTITY_RESOLVER == "off" else max(asked, hops)


def refuse(options: Mapping[str, Any], names: Iterable[str]) -> None:
    """Refuse options that would be paid for and then dropped.

    Raises:
        Invalid: One of them is asked for.
    """
    for name in names:
        if options.get(name):
            message = f"{name} belongs to recall; deep_recall shows hits alone."
            raise Invalid(message, field=name)


def grading(alias: str, clock: Clock) -> recall.Grading:
    """Return what judges passages, while there is time."""
    grader = backends.get_grader(alias)

    def grade(question: str, hits: Sequence[Hit]) -> Grade:
        return backends.grade_passages(
            grader,
            question,
            [hit.text for hit in hits],
            timeout_seconds=min(settings.GRADE_SECONDS, clock.left() or math.inf),
        )

    return grade


def given_vector(
    vector: Vector,
    leg: VectorLeg | None,
    texts: Sequence[str],
    timeout_seconds: float | None,
) -> Sequence[Vector]:
    """Return the vector that a caller made of a question, for ``embed_queries``.

    Raises:
        EmbedderMismatch: It is not of the width of the space that is looked in.
    """
    del texts, timeout_seconds  # it is made already
    if leg is not None and len(vector) != leg.dimensions:
        message = f"The vector has {len(vector)} dimensions, not {leg.dimensions}."
        raise EmbedderMismatch(message, field="vector")
    return [vector]


def embed_queries(
    embedder: backends.Embedder, texts: Sequence[str], timeout_seconds: float | None
) -> Sequence[Vector]:
    """Return the vectors of questions. Calls the embedder.

    Args:
        timeout_seconds: Longest wait, where shorter than ``EMBED_TIMEOUT_SECONDS``.
    """
    most = settings.EMBED_TIMEOUT_SECONDS
    seconds = most if timeout_seconds is None else min(most, timeout_seconds)
    return backends.embed(embedder, texts, role="query", timeout_seconds=seconds)
