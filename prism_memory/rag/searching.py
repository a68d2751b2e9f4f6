"""The store's ways to ask: by vector, by words, or by both."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, TypedDict, Unpack

from asgiref.sync import sync_to_async

from prism_memory import backends
from prism_memory.errors import Invalid, Unsupported
from prism_memory.rag.asking import (
    asked,
    check_mode,
    check_rrf_k,
    check_scopes,
    check_vector,
    legs_of,
)
from prism_memory.rag.parts import Part
from prism_memory.rag.retrieving import Bounds, retrieve
from prism_memory.recall.options import limit
from prism_memory.types import Authorization, Options, Retrieved, Scope, Vector


class Wishes(TypedDict, total=False):
    """What every way of asking takes.

    Args:
        scopes: Up to 8, the store's own, above or below it; its own when None.
        candidates: Of each list, 1 to 128; ``candidates`` of the limits when None, and
            never fewer than the passages wanted.
        filter: Conditions on the metadata. It narrows, and grants nothing.
        authorization: As whom restricted documents are read; the store's when None.
        reranker: Alias of ``RERANKERS``; the setting when None, none when empty.
        max_bytes: UTF-8 of words and metadata; ``result_bytes`` when None.
        max_tokens: Characters / 4 of the words; ``context_tokens`` when None.
        deadline_seconds: Longest that it may take, above 0.
        cancelled: Asked between steps; True stops there.
    """

    scopes: Collection[Scope] | None
    candidates: int | None
    filter: Mapping[str, Any] | None
    authorization: Authorization | None
    reranker: str | None
    max_bytes: int | None
    max_tokens: int | None
    deadline_seconds: float | None
    cancelled: Callable[[], bool] | None


PASSED_ON = ("filter", "authorization", "reranker", "deadline_seconds", "cancelled")
"""Wishes that are options of recall as they are."""


class Searching(Part):
    """What ``DocumentStore`` is asked. See there."""

    def retrieve(
        self,
        query: str,
        top_k: int | None = None,
        *,
        lexical: str = "fts",
        rrf_k: float | None = None,
        **wishes: Unpack[Wishes],
    ) -> Retrieved:
        """Return the passages nearest by vector and by words, fused by their ranks.

        When the embedder is down words alone decide, and ``degraded`` says so.

        Args:
            query: Not blank.
            top_k: Passages wanted, 0 to 32; ``top_k`` of the limits when None.
            lexical: How words are searched: ``fts`` and ``bm25`` are full text ranked
                by BM25; ``off`` leaves words out.
            rrf_k: Rank offset of the fusion, above 0, 1,000 at most; 60 when None.

        Raises:
            Unsupported: There is no such way to search words.
        """
        options = Options(legs=legs_of(lexical), rrf_k=check_rrf_k(rrf_k))
        return self._ask(query, top_k, options, wishes)

    def query(
        self,
        query: str | None = None,
        top_k: int | None = None,
        *,
        vector: Vector | None = None,
        **wishes: Unpack[Wishes],
    ) -> Retrieved:
        """Return the passages nearest by vector alone.

        Args:
            query: A text, which the embedder is asked for; or None.
            vector: The question as a vector of the embedder's width; where ``query``
                is None.

        Raises:
            Invalid: Neither is given, or both; the vector is none.
            EmbedderMismatch: It is of another width.
            ProviderUnavailable: The embedder is down.
        """
        if (query is None) == (vector is None):
            message = "Ask by a query or by a vector: give one."
            raise Invalid(message, field="query")
        made = None if vector is None else self._vector(vector)
        return self._ask(query, top_k, Options(legs="vector"), wishes, made)

    def lexical_query(
        self,
        query: str,
        top_k: int | None = None,
        *,
        mode: str = "fts",
        **wishes: Unpack[Wishes],
    ) -> Retrieved:
        """Return the passages that hold the words. No embedder is asked.

        Args:
            mode: ``fts`` or ``bm25``.

        Raises:
            Unsupported: There is no such mode, or it is off.
        """
        check_mode(mode)
        if mode == "off":
            message = "Words cannot be searched while they are off."
            raise Unsupported(message, field="mode")
        return self._ask(query, top_k, Options(legs="text"), wishes)

    async def aretrieve(self, *args: Any, **kwargs: Any) -> Retrieved:  # noqa: ANN401
        """Do as ``retrieve``, for asynchronous code."""
        return await sync_to_async(self.retrieve)(*args, **kwargs)

    async def aquery(self, *args: Any, **kwargs: Any) -> Retrieved:  # noqa: ANN401
        """Do as ``query``, for asynchronous code."""
        return await sync_to_async(self.query)(*args, **kwargs)

    async def alexical_query(self, *args: Any, **kwargs: Any) -> Retrieved:  # noqa: ANN401
        """Do as ``lexical_query``, for asynchronous code."""
        return await sync_to_async(self.lexical_query)(*args, **kwargs)

    def _ask(
        self,
        query: str | None,
        top_k: int | None,
        options: Options,
        wishes: Wishes,
        vector: Vector | None = None,
    ) -> Retrieved:
        check_wishes(wishes)
        self._check_width()
        limits = self.memory.limits
        candidates = wishes.get("candidates")
        options["candidates"] = limit(limits, candidates, "candidates")
        options.update({n: wishes[n] for n in PASSED_ON if n in wishes})  # type: ignore[literal-required, typeddict-item]
        asker = self.memory._asker()  # noqa: SLF001 - its other half
        made = asked(
            asker,
            query,
            top_k,
            scopes=check_scopes(self.scope, wishes.get("scopes")),
            options=options,
            vector=vector,
        )
        return retrieve(
            recalling=self.memory._recalling(),  # noqa: SLF001 - its other half
            asked=made,
            bounds=Bounds(
                limit(limits, wishes.get("max_bytes"), "result_bytes", "max_bytes"),
                limit(limits, wishes.get("max_tokens"), "context_tokens", "max_tokens"),
            ),
            redaction=self.memory.redaction,
        )

    def _vector(self, vector: Vector) -> Vector:
        if not backends.are_vectors_used():
            message = "No vectors are stored here that one could be compared with."
            raise Unsupported(message, field="vector")
        return check_vector(vector, self._width())


def check_wishes(wishes: Mapping[str, Any]) -> None:
    """Check that a call asks for nothing that there is not.

    Raises:
        TypeError: It does.
    """
    if unknown := sorted(wishes.keys() - Wishes.__annotations__.keys()):
        message = f"A retrieval has no option {unknown[0]!r}."
        raise TypeError(message)
