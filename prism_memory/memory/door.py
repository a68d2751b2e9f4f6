"""The Python door: one scope, its verbs, each a short method over one package.

memory = Memory(Scope("acme", owner="ada", agent="support", thread="chat-1"),
                origin=Origin(Trust.USER, "ada"))
memory.remember("I moved to Porto in May.")
memory.recall("Where does Ada live?")
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, TypeVar, Unpack

from asgiref.sync import sync_to_async
from django.utils import timezone

from prism_memory import backends, indexing, lifecycle, recall
from prism_memory.conf import Limits, settings
from prism_memory.db.aliases import check_database
from prism_memory.db.tenancy import for_its_tenant
from prism_memory.errors import EmbedderMismatch, Invalid, Unsupported
from prism_memory.lifecycle.entries import Given, ImportanceFrom, prepare, read
from prism_memory.memory.claims import Facts
from prism_memory.memory.entities import Entities
from prism_memory.memory.erasing import Removing
from prism_memory.memory.forgetting import Forgetting
from prism_memory.memory.gating import Gating
from prism_memory.memory.generating import Generating
from prism_memory.memory.governing import Governing
from prism_memory.memory.keeping import Keeping
from prism_memory.memory.rebuilding import Rebuilding
from prism_memory.memory.runs import Runs
from prism_memory.memory.sharing import Sharing
from prism_memory.memory.sources import Sources
from prism_memory.memory.waiting import why_pending
from prism_memory.recall import Asker
from prism_memory.recall.options import check_values, reader_of
from prism_memory.recall.options import limit as rows_of
from prism_memory.recalling import Recalling
from prism_memory.redaction import Redaction
from prism_memory.spans import spanned
from prism_memory.types import (
    Actor,
    Authorization,
    DeepRecalled,
    Entry,
    Explanation,
    Item,
    Kind,
    Neighbor,
    Options,
    Origin,
    Page,
    ReadMode,
    Recalled,
    Scope,
    Tier,
    check_authorization,
    check_bool,
    check_choice,
    check_part,
    check_scope,
    check_uuid,
    check_wish,
)

I = TypeVar("I", bound=Item)  # noqa: E741 - an item
T = TypeVar("T")

SHOWN: Final = (
    "text",
    "metadata",
    "key",
    "namespace",
    "partition",
    "source",
    "writer",
    "gate_reason",
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
        quarantined: Those that the gate holds back: stored, and not recalled until
            they are validated.
    """

    accepted: tuple[uuid.UUID, ...]
    pending: bool
    done: indexing.Done
    changed: frozenset[uuid.UUID] = frozenset()
    degraded: str = ""
    quarantined: frozenset[uuid.UUID] = frozenset()


@spanned("memory")
@for_its_tenant
class Memory(
    Governing,
    Gating,
    Generating,
    Forgetting,
    Keeping,
    Removing,
    Sharing,
    Rebuilding,
):
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
        authorization: As whom restricted documents are read, by every reading of this
            memory; none of them is in sight when None.
        search_defaults: Options that each recall takes unless it gives its own; none
            that is about trust.
        importance_from: Derives an entry's importance from its reflection.
        embedder: Alias of the embedder; the setting when None.
        using: Database alias; the setting when None.

    Raises:
        ScopeDenied: The authorization is of another tenant.
        LimitExceeded: A limit is unknown or over its hard cap.
        Invalid: An argument is not acceptable; the error names it.
        Misconfigured: A setting or a default of the search is not.
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
        authorization: Authorization | None = None,
        search_defaults: Options | None = None,
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
        self.authorization = check_authorization(authorization, self.scope)
        check_values(search_defaults, self.limits)
        self.search_defaults = search_defaults
        self.importance_from = importance_from
        self.embedder = embedder or settings.EMBEDDER
        self.using = check_database(using or settings.DATABASE)

    @property
    def facts(self) -> Facts:
        """What is held to be true: ``memory.facts("Ada")``, and its verbs."""
        return Facts(self)

    @property
    def entities(self) -> Entities:
        """Who and what facts speak of: ``memory.entities()``, and its verbs."""
        return Entities(self)

    @property
    def runs(self) -> Runs:
        """The tenant's long work: ``memory.runs(state="failed")``, and its verbs."""
        return Runs(self)

    @property
    def sources(self) -> Sources:
        """Documents: ``memory.sources.ingest(key, text)``, and its verbs."""
        return Sources(self)

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
            Conflict: An entry would overwrite a revoked or held record, or one that is
                blocked by what it was derived from; or one that this memory may not
                read for a restricted document, or that would leave its source.
            NotVisible: Lineage names a record that is neither in sight nor shared.
            EmbedderMismatch: The stored vectors are another embedder's.
            Unsupported: ``wait`` inside an open transaction: nothing can be embedded
                before it commits; lineage, or overwriting a record, in one that is
                not READ COMMITTED.
            Aborted: ``cancelled`` said so.
        """
        check_bool(wait, "wait")
        if wait and indexing.in_host_transaction(self.using):
            message = "wait=True cannot embed inside an open transaction."
            raise Unsupported(message, field="wait")
        self._refuse_secret_scope()
        rows = prepare(
            said(read(entries, limits=self.limits)),
            origin=check_part(origin, Origin, "origin") or self.origin,
            limits=self.limits,
            redaction=self.redaction,
            importance_from=self.importance_from,
        )
        spaces = self._spaces_to_write()
        space = spaces[0] if spaces else None
        stored = lifecycle.remember(
            using=self.using,
            scope=self.scope,
            actor=self.actor,
            rows=rows,
            embedder=self.embedder,
            at=timezone.now(),
            wakes=not wait,
            authorization=self.authorization,
        )
        done = indexing.Done(
            self.using, self.scope.tenant, space, frozenset(stored.ids)
        )
        remembered = Remembered(
            stored.ids,
            bool(stored.pending),
            done,
            stored.changed,
            quarantined=stored.quarantined,
        )
        if wait and spaces and stored.pending:
            end = time.monotonic() + settings.WAIT_SECONDS
            outage = self._embed_now(spaces, stored.pending, cancelled)
            return settled(remembered, outage, end - time.monotonic())
        if wait and stored.pending and backends.are_vectors_used():
            return replace(remembered, degraded=recall.CHANGED)
        return remembered

    def get(self, record_id: uuid.UUID | str) -> Item:
        """Return one record in sight, also one that was retired (B286). One query.

        Raises:
            NotVisible: No such record, or it is not in sight.
        """
        found = recall.get(
            using=self.using,
            reader=replace(reader_of(self._asker(), {}), include_retired=True),
            record_id=check_uuid(record_id),
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
        tags: Collection[str] | None = None,
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
        narrowing = {
            "kinds": kinds,
            "tiers": tiers,
            "namespaces": namespaces,
            "tags": tags,
            "partition": partition,
            "filter": filter,
        }
        page = recall.list_page(
            using=self.using,
            reader=reader_of(self._asker(), narrowing),
            rows=rows_of(self.limits, limit, "list_rows", "limit"),
            cursor=cursor,
        )
        return replace(page, items=tuple(map(self._masked, page.items)))

    def recall(
        self, query: str, top_k: int | None = None, **options: Unpack[Options]
    ) -> Recalled:
        """Return the best records in sight for a question, best first.

        Embeds the query, then one query. When the embedder is down, or what was found
        is not embedded yet, words alone decide there, and ``degraded`` says so.

        Args:
            query: Not blank.
            top_k: Hits wanted, 0 to 32; ``top_k`` of the limits when None.
            options: See ``prism_memory.types.Options``.

        Raises:
            Invalid: The query is blank, or an option is not acceptable.
            LimitExceeded: ``top_k``, the query, the filter or ``ids`` is over a limit.
            EmbedderMismatch: The stored vectors are another embedder's.
            DeadlineExceeded: ``deadline_seconds`` were not enough.
            Aborted: ``cancelled`` said so.
            ProviderUnavailable: Only vectors were asked for, and the embedder is down.
        """
        return self._shown(self._recalling().recall(query, top_k, options))

    def deep_recall(
        self,
        query: str,
        top_k: int | None = None,
        *,
        max_iterations: int | None = None,
        threshold: float | None = None,
        force_hard: bool = False,
        grader: str | None = None,
        **options: Unpack[Options],
    ) -> DeepRecalled:
        """Recall, let a grader judge, and search in other words where it says so.

        A simple question takes one pass and asks nobody; so does every question when
        no grader is configured. Each pass costs what ``recall`` does, each verdict a
        call of the grader.

        Args:
            max_iterations: Passes at most, 1 to 5; ``deep_iterations`` when None.
            threshold: Difficulty from which a question is hard, 0..1; the setting
                ``DEEP_THRESHOLD`` when None.
            force_hard: Take the question for hard, whatever its words.
            grader: Alias of ``GRADERS``; the setting ``GRADER`` when None.
            options: As in ``recall``, for each pass; the deadline is that of all.

        Raises:
            Invalid: As ``recall``.
            LimitExceeded: As ``recall``; or ``max_iterations`` is out of its bounds.
        """
        found = self._recalling().deep_recall(
            query,
            top_k,
            options,
            max_iterations=max_iterations,
            threshold=threshold,
            force_hard=force_hard,
            grader=grader,
        )
        return replace(
            found,
            hits=tuple(map(self._masked, found.hits)),
            queries=tuple(map(self.redaction.mask, found.queries)),
        )

    def neighbors(self, text: str, top_k: int | None = None) -> tuple[Neighbor, ...]:
        """Return the records nearest to a text by cosine, nearest first.

        What the gate holds back is among them, which ``get`` does not show. Empty
        without an embedder or vectors. Embeds the text, then one query.

        Raises:
            Invalid: The text is blank.
            LimitExceeded: The text or ``top_k`` is over a limit.
            ProviderUnavailable: The embedder is down.
        """
        return self._recalling().neighbors(text, top_k)

    def pending(self) -> indexing.Pending:
        """Return what in sight still waits for its vector. Two queries."""
        space = indexing.find_active(using=self.using, alias=self.embedder)
        scopes = self.scope.visible(self.mode)
        return indexing.pending(using=self.using, space=space, scopes=scopes)

    async def aremember(self, *args: Any, **kwargs: Any) -> Remembered:  # noqa: ANN401
        """Do as ``remember``, for asynchronous code."""
        return await sync_to_async(self.remember)(*args, **kwargs)

    async def aget(self, record_id: uuid.UUID | str) -> Item:
        """Do as ``get``, for asynchronous code."""
        return await sync_to_async(self.get)(record_id)

    async def alist(self, **kwargs: Any) -> Page:  # noqa: ANN401 - as list
        """Do as ``list``, for asynchronous code."""
        return await sync_to_async(self.list)(**kwargs)

    async def arecall(
        self, query: str, top_k: int | None = None, **options: Unpack[Options]
    ) -> Recalled:
        """Do as ``recall``, for asynchronous code."""
        return await sync_to_async(self.recall)(query, top_k, **options)

    async def adeep_recall(self, *args: Any, **kwargs: Any) -> DeepRecalled:  # noqa: ANN401
        """Do as ``deep_recall``, for asynchronous code."""
        return await sync_to_async(self.deep_recall)(*args, **kwargs)

    async def aneighbors(
        self, text: str, top_k: int | None = None
    ) -> tuple[Neighbor, ...]:
        """Do as ``neighbors``, for asynchronous code."""
        return await sync_to_async(self.neighbors)(text, top_k)

    async def apending(self) -> indexing.Pending:
        """Do as ``pending``, for asynchronous code."""
        return await sync_to_async(self.pending)()

    def _asker(self) -> Asker:
        return Asker(
            scope=self.scope,
            mode=self.mode,
            limits=self.limits,
            redaction=self.redaction,
            require_consent=self.require_consent,
            defaults=self.search_defaults,
            authorization=self.authorization,
        )

    def _recalling(self) -> Recalling:
        return Recalling(self.using, self.embedder, self.actor, self._asker())

    def _refuse_secret_scope(self) -> None:
        """A scope is an identity as a key is: it cannot be redacted."""
        for level in ("owner", "agent", "thread"):
            self.redaction.check_names({level: getattr(self.scope, level)})

    def _spaces_to_write(self) -> tuple[indexing.Space, ...]:
        """Return the active space, then one that is being built. One query.

        None where the settings name another embedder and that is not refused (B487).
        """
        if not backends.are_vectors_used():
            return ()
        try:
            return indexing.live(using=self.using, alias=self.embedder)
        except EmbedderMismatch:
            if settings.EMBEDDER_CHANGED == "refuse":
                raise
            return ()

    def _space_to_write(self) -> indexing.Space | None:
        spaces = self._spaces_to_write()
        return spaces[0] if spaces else None

    def _embed_now(
        self,
        spaces: tuple[indexing.Space, ...],
        record_ids: Collection[uuid.UUID],
        cancelled: Callable[[], bool] | None,
    ) -> str:
        """Embed in the active space, and before it where one is being built.

        In that order: once it answers, it shall lack nothing that stands in the other.
        """
        return indexing.embed_now(
            using=self.using,
            tenant=self.scope.tenant,
            spaces=spaces,
            record_ids=record_ids,
            batch=self.limits.embed_batch,
            max_seconds=settings.WAIT_SECONDS,
            cancelled=cancelled,
        )

    def _shown(self, found: Recalled) -> Recalled:
        return replace(
            found,
            hits=tuple(map(self._masked, found.hits)),
            adjacent=tuple(map(self._masked, found.adjacent)),
            explanations=tuple(map(self._explained, found.explanations)),
        )

    def _explained(self, why: Explanation) -> Explanation:
        """What it derives from may be named by a caller: a message's id, say."""
        refs = tuple(map(self.redaction.mask, why.source_refs))
        return replace(why, source_refs=refs)

    def _masked(self, found: I) -> I:
        redaction = self.redaction
        if not redaction.secrets:
            return found
        shown = {name: redaction.mask_json(getattr(found, name)) for name in SHOWN}
        return replace(found, **shown)


def said(entries: tuple[Entry, ...]) -> tuple[Entry, ...]:
    """Return the entries if none is a fact: that cites evidence, and is judged.

    Raises:
        Invalid: One is.
    """
    if any(entry.kind is Kind.FACT for entry in entries):
        message = "A fact is asserted: memory.facts.assert_fact(…)."
        raise Invalid(message, field="kind")
    return entries


def settled(remembered: Remembered, outage: str, seconds: float) -> Remembered:
    """Return what a remember did, after it tried to embed.

    What another worker holds is waited for, but not an embedder that is down.

    Args:
        seconds: What is left of the time to wait.
    """
    done = remembered.done
    state = done.now() if outage else done.settle(seconds)
    degraded = why_pending(state, outage)
    return replace(remembered, pending=bool(state.pending), degraded=degraded)
