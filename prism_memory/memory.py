"""The Python door: one scope, its verbs, each a short method over one package.

memory = Memory(Scope("acme", owner="ada", agent="support", thread="chat-1"),
                origin=Origin(Trust.USER, "ada"))
memory.remember("I moved to Porto in May.")
memory.recall("Where does Ada live?")
"""

from __future__ import annotations

import datetime as dt
import re
import time
import uuid
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, TypeVar

from asgiref.sync import sync_to_async
from django.utils import timezone

from prism_memory import backends, indexing, lifecycle, recall
from prism_memory.access import Reader, strictness
from prism_memory.conf import Limits, check_limit, settings
from prism_memory.db.filters import compile_filter
from prism_memory.errors import (
    EmbedderMismatch,
    Invalid,
    LimitExceeded,
    Unsupported,
)
from prism_memory.lifecycle.entries import Given, ImportanceFrom, prepare, read
from prism_memory.recall import Question, VectorLeg
from prism_memory.redaction import Redaction
from prism_memory.types import (
    Actor,
    ConsentScope,
    ConsentSource,
    Item,
    Kind,
    Origin,
    Page,
    ReadMode,
    Recalled,
    Scope,
    Tier,
    Vector,
    check_bool,
    check_choice,
    check_part,
    check_scope,
    check_text,
    check_time,
    check_uuid,
    check_wish,
)

I = TypeVar("I", bound=Item)  # noqa: E741 - an item
WORD: Final = re.compile(r"\w+")
OUT_OF_TIME: Final = "WAIT_SECONDS are over; the rest is embedded later."

SHOWN: Final = (
    "text",
    "metadata",
    "key",
    "namespace",
    "partition",
    "source",
    "writer",
)
"""Fields of an item that never show a configured secret (B133)."""


@dataclass(frozen=True)
class Remembered:
    """What a remember did.

    Args:
        accepted: The record of each entry, in the caller's order.
        pending: Some wait for their vector; until then they are found by their words.
        done: ``done.wait(timeout_seconds)`` waits for the vectors.
        changed: Those that are new or differ from what was stored.
        degraded: Why ``wait=True`` left some pending, or empty. ``done.now()`` says
            which, and why for each.
    """

    accepted: tuple[uuid.UUID, ...]
    pending: bool
    done: indexing.Done
    changed: frozenset[uuid.UUID] = frozenset()
    degraded: str = ""


class Memory:
    """The memory of one scope.

    Args:
        scope: Where writes land and readers stand.
        origin: Who vouches for what is written, unless an entry or a call says so.
        actor: Who acts, as the audit names them.
        read: ``chain`` sees the scope and every level above, ``exact`` only itself.
        limits: Limits of this memory by lower-case name, up to their hard caps.
        redactor: Run over every text before it is stored; on top, ``SECRETS``.
        secrets: More strings to take out, of what is stored and of what is shown.
        require_consent: See only what was consented to; the setting when None.
        importance_from: Derives an entry's importance from its reflection.
        embedder: Alias of the embedder; the setting when None.
        using: Database alias; the setting when None.

    Raises:
        LimitExceeded: A limit is unknown or over its hard cap.
        Invalid: An argument is not acceptable; the error names it.
        Misconfigured: A setting is not.
    """

    def __init__(  # noqa: PLR0913 - keywords, all of them optional
        self,
        scope: Scope,
        *,
        origin: Origin | None = None,
        actor: Actor | None = None,
        read: ReadMode = ReadMode.CHAIN,
        limits: Mapping[str, int] | None = None,
        redactor: Callable[[str], str] | None = None,
        secrets: Collection[str] = (),
        require_consent: bool | None = None,
        importance_from: ImportanceFrom | None = None,
        embedder: str | None = None,
        using: str | None = None,
    ) -> None:
        self.scope = check_scope(scope)
        self.origin = check_part(origin, Origin, "origin")
        self.actor = check_part(actor, Actor, "actor") or Actor()
        self.mode = check_choice(read, ReadMode, "read")
        self.limits = Limits(limits)
        self.redaction = Redaction.configured(redactor, secrets)
        self.require_consent = check_wish(require_consent, "require_consent")
        self.importance_from = importance_from
        self.embedder = embedder or settings.EMBEDDER
        self.using = using or settings.DATABASE

    def remember(
        self,
        entries: Given | Iterable[Given],
        *,
        origin: Origin | None = None,
        wait: bool = False,
        cancelled: Callable[[], bool] | None = None,
    ) -> Remembered:
        """Store entries at exactly this scope: all of them, or none.

        An entry whose identity (kind, namespace, partition, key) is known replaces
        what is stored, and changes nothing when it is the same. By default the vectors
        come later, from a Celery worker.

        Args:
            entries: A text, an ``Entry``, a mapping of its fields, or a list of them.
            origin: Of this call's entries; the memory's own when None.
            wait: Embed in this call, after its own commit. Calls the embedder. What
                it cannot embed, or not within ``WAIT_SECONDS``, stays stored and
                pending, and is tried again later.
            cancelled: Asked between two batches of embedding; True stops there. What
                was stored stays, and the worker embeds it.

        Raises:
            Invalid: A field is not acceptable; the error names it.
            LimitExceeded: A limit was exceeded; the error names it.
            Conflict: An entry would overwrite a revoked or held record.
            NotVisible: Lineage names a record that is not in sight.
            EmbedderMismatch: The stored vectors are another embedder's.
            Unsupported: ``wait`` inside an open transaction: nothing can be embedded
                before it commits; lineage in one that is not READ COMMITTED.
            Aborted: ``cancelled`` said so.
        """
        check_bool(wait, "wait")
        if wait and indexing.in_host_transaction(self.using):
            message = "wait=True cannot embed inside an open transaction."
            raise Unsupported(message, field="wait")
        self._refuse_secret_scope()
        rows = prepare(
            read(entries, limits=self.limits),
            origin=check_part(origin, Origin, "origin") or self.origin,
            limits=self.limits,
            redaction=self.redaction,
            importance_from=self.importance_from,
        )
        space = self._space_to_write()
        stored = lifecycle.remember(
            using=self.using,
            scope=self.scope,
            rows=rows,
            embedder=self.embedder,
            at=timezone.now(),
            wake=not wait,
        )
        done = indexing.Done(
            self.using, self.scope.tenant, space, frozenset(stored.ids)
        )
        remembered = Remembered(stored.ids, bool(stored.pending), done, stored.changed)
        if wait and space is not None and stored.pending:
            end = time.monotonic() + settings.WAIT_SECONDS
            outage = self._embed_now(space, stored.pending, cancelled)
            return settled(remembered, outage, end - time.monotonic())
        return remembered

    def get(self, record_id: uuid.UUID | str) -> Item:
        """Return one record in sight. One query.

        Raises:
            NotVisible: No such record, or it is not in sight.
        """
        found = recall.get(
            using=self.using, reader=self._reader(), record_id=check_uuid(record_id)
        )
        return self._masked(found)

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        kinds: Collection[Kind] | None = None,
        tiers: Collection[Tier] | None = None,
        namespaces: Collection[str] | None = None,
        partition: str | None = None,
        filter: Mapping[str, Any] | None = None,  # noqa: A002 - the field's own word
    ) -> Page:
        """Return a page of what is in sight, in the order of (sequence, id).

        One query. The narrowing arguments are as in ``recall``.

        Args:
            limit: Rows of the page, 1 to 200; ``list_rows`` when None.
            cursor: The ``next_cursor`` of the page before.

        Raises:
            Invalid: The cursor or the filter is not acceptable.
            LimitExceeded: ``limit`` is out of its bounds.
        """
        rows = self._limit(limit, "list_rows", "limit")
        reader = self._reader(
            kinds=kinds,
            tiers=tiers,
            namespaces=namespaces,
            partition=partition,
            where=compile_filter(filter, terms=self.limits.filter_terms),
        )
        page = recall.list_page(
            using=self.using, reader=reader, rows=rows, cursor=cursor
        )
        return replace(page, items=tuple(map(self._masked, page.items)))

    def recall(  # noqa: PLR0913 - keywords, all of them optional
        self,
        query: str,
        top_k: int | None = None,
        *,
        legs: str = "hybrid",
        kinds: Collection[Kind] | None = None,
        tiers: Collection[Tier] | None = None,
        namespaces: Collection[str] | None = None,
        partition: str | None = None,
        filter: Mapping[str, Any] | None = None,  # noqa: A002 - the field's own word
        ids: Collection[uuid.UUID] | None = None,
        as_of: dt.datetime | None = None,
        require_consent: bool | None = None,
    ) -> Recalled:
        """Return the best records in sight for a question, best first.

        Embeds the query, then one query. When the embedder is down, or what was found
        is not embedded yet, words alone decide there, and ``degraded`` says so.

        Args:
            query: Not blank.
            top_k: Hits wanted, 0 to 32; ``top_k`` of the limits when None.
            legs: ``hybrid``, ``vector`` or ``text``.
            kinds: Only these; like each that follows, None does not narrow and an
                empty collection lets nothing through.
            tiers: Only these.
            namespaces: Only these.
            partition: Only this one, matched exactly.
            filter: Conditions on the metadata; see ``prism_memory.db.filters``.
            ids: Only these records; 256 at most (``recall_ids``).
            as_of: Moment that validity is judged by; now when None. Aware.
            require_consent: See only what was consented to; the memory's when None.

        Raises:
            Invalid: The query is blank, or an argument is not acceptable.
            LimitExceeded: ``top_k``, the query, the filter or ``ids`` is over a limit.
            EmbedderMismatch: The stored vectors are another embedder's.
        """
        reader = self._reader(
            kinds=kinds,
            tiers=tiers,
            namespaces=namespaces,
            partition=partition,
            ids=self._listed(ids),
            where=compile_filter(filter, terms=self.limits.filter_terms),
            as_of=check_time(as_of, "as_of"),
            require_consent=require_consent,
        )
        question = Question(
            text=self._question(query),
            top_k=self._limit(top_k, "top_k", "top_k"),
            legs=legs,
        )
        recalled = self._recall(reader, question)
        return replace(recalled, hits=tuple(map(self._masked, recalled.hits)))

    def pending(self) -> indexing.Pending:
        """Return what in sight still waits for its vector. Two queries."""
        space = indexing.find_active(using=self.using, alias=self.embedder)
        scopes = self.scope.visible(self.mode)
        return indexing.pending(using=self.using, space=space, scopes=scopes)

    def set_consent(
        self,
        record_id: uuid.UUID | str,
        *,
        visible: bool | None = None,
        source: ConsentSource | None = None,
        label: ConsentScope | None = None,
        reason: str = "",
    ) -> None:
        """Show or hide a record of exactly this scope, and all derived from it.

        Args:
            visible: True grants, False revokes, None keeps.
            source: Who consents; None keeps.
            label: What for; None keeps.
            reason: For the audit; no text content.

        Raises:
            NotVisible: No such record in this scope.
            Unsupported: In a host's transaction that is not READ COMMITTED.
        """
        lifecycle.set_consent(
            using=self.using,
            scope=self.scope,
            actor=self.actor,
            record_id=check_uuid(record_id),
            at=timezone.now(),
            visible=visible,
            source=source,
            label=label,
            reason=self.redaction.text(check_text(reason, "reason")),
        )

    async def aset_consent(self, record_id: uuid.UUID | str, **kwargs: Any) -> None:  # noqa: ANN401
        """Do as ``set_consent``, for asynchronous code."""
        await sync_to_async(self.set_consent)(record_id, **kwargs)

    async def aremember(self, *args: Any, **kwargs: Any) -> Remembered:  # noqa: ANN401
        """Do as ``remember``, for asynchronous code."""
        return await sync_to_async(self.remember)(*args, **kwargs)

    async def aget(self, record_id: uuid.UUID | str) -> Item:
        """Do as ``get``, for asynchronous code."""
        return await sync_to_async(self.get)(record_id)

    async def alist(self, **kwargs: Any) -> Page:  # noqa: ANN401 - as list
        """Do as ``list``, for asynchronous code."""
        return await sync_to_async(self.list)(**kwargs)

    async def arecall(self, *args: Any, **kwargs: Any) -> Recalled:  # noqa: ANN401
        """Do as ``recall``, for asynchronous code."""
        return await sync_to_async(self.recall)(*args, **kwargs)

    async def apending(self) -> indexing.Pending:
        """Do as ``pending``, for asynchronous code."""
        return await sync_to_async(self.pending)()

    def _recall(self, reader: Reader, question: Question) -> Recalled:
        embedder = self._embedder()
        ask = partial(recall.recall, using=self.using, reader=reader, question=question)
        if embedder is None:
            return ask()
        embed = partial(embed_query, embedder)
        try:
            return ask(leg=self._leg(embedder), embed=embed)
        except EmbedderMismatch:
            return ask(leg=self._leg(embedder, fresh=True), embed=embed)

    def _leg(
        self, embedder: backends.Embedder, *, fresh: bool = False
    ) -> VectorLeg | None:
        space = indexing.known_space(
            using=self.using,
            alias=self.embedder,
            identity=embedder.identity,
            fresh=fresh,
        )
        if space is None:
            return None
        return VectorLeg(space.id, space.identity.dimensions, space.indexed)

    def _embedder(self) -> backends.Embedder | None:
        if not settings.EMBEDDERS:
            return None
        return backends.get_embedder(self.embedder)

    def _refuse_secret_scope(self) -> None:
        """A scope is an identity as a key is: it cannot be redacted."""
        for level in ("owner", "agent", "thread"):
            self.redaction.check_names({level: getattr(self.scope, level)})

    def _space_to_write(self) -> indexing.Space | None:
        embedder = self._embedder()
        if embedder is None:
            return None
        return indexing.active(
            using=self.using, alias=self.embedder, identity=embedder.identity
        )

    def _embed_now(
        self,
        space: indexing.Space,
        record_ids: Collection[uuid.UUID],
        cancelled: Callable[[], bool] | None,
    ) -> str:
        embedder = backends.get_embedder(self.embedder)
        done = indexing.drain(
            using=self.using,
            tenant=self.scope.tenant,
            space=space,
            embed=partial(
                backends.embed, embedder, role="passage", cancelled=cancelled
            ),
            batch=self.limits.embed_batch,
            record_ids=record_ids,
            max_seconds=settings.WAIT_SECONDS,
        )
        return done.outage

    def _reader(
        self,
        *,
        require_consent: bool | None = None,
        **narrowing: Any,  # noqa: ANN401 - fields of Reader
    ) -> Reader:
        strict = strictness(asked=require_consent, usual=self.require_consent)
        return Reader(scope=self.scope, mode=self.mode, strict=strict, **narrowing)

    def _question(self, query: str) -> str:
        text = self.redaction.text(check_text(query, "query"))
        if not text.strip():
            message = "query must not be blank."
            raise Invalid(message, field="query")
        if len(text) > self.limits.query_characters:
            most = self.limits.query_characters
            message = f"query is over {most} characters (query_characters)."
            raise LimitExceeded(message, field="query")
        if len(set(WORD.findall(text.lower()))) > self.limits.query_words:
            most = self.limits.query_words
            message = f"query has more than {most} different words (query_words)."
            raise LimitExceeded(message, field="query")
        return text

    def _listed(
        self, ids: Collection[uuid.UUID] | None
    ) -> Collection[uuid.UUID] | None:
        most = self.limits.recall_ids
        if isinstance(ids, Collection) and len(ids) > most:
            message = f"ids holds more than {most} (recall_ids)."
            raise LimitExceeded(message, field="ids")
        return ids

    def _limit(self, given: int | None, limit: str, name: str) -> int:
        value = getattr(self.limits, limit) if given is None else given
        return check_limit(value, limit, name)

    def _masked(self, found: I) -> I:
        redaction = self.redaction
        if not redaction.secrets:
            return found
        shown = {name: redaction.mask_json(getattr(found, name)) for name in SHOWN}
        return replace(found, **shown)


def settled(remembered: Remembered, outage: str, seconds: float) -> Remembered:
    """Return what a remember did, after it tried to embed.

    What another worker holds is waited for, but not an embedder that is down.

    Args:
        seconds: What is left of the time to wait.
    """
    done = remembered.done
    state = done.now() if outage else done.settle(seconds)
    late = OUT_OF_TIME if state.pending - state.errors.keys() else ""
    reasons = [outage, late, *state.errors.values()] if state.pending else []
    degraded = next(filter(None, reasons), "")
    return replace(remembered, pending=bool(state.pending), degraded=degraded)


def embed_query(embedder: backends.Embedder, text: str) -> Vector:
    """Return the vector of one question. Calls the embedder."""
    return backends.embed(embedder, [text], role="query")[0]
