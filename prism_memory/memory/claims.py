"""``memory.facts``: what is held to be true, on what evidence, since when."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields
from typing import Any, Final

from asgiref.sync import sync_to_async

from prism_memory import facts as floor
from prism_memory.db.tenancy import for_its_tenant
from prism_memory.errors import Invalid
from prism_memory.facts import OnUnaccepted, Superseded, Wanted, Which
from prism_memory.memory.deciding import Deciding
from prism_memory.memory.remembering import Remembering
from prism_memory.memory.reviewing import Reviewing
from prism_memory.memory.settling import Settling
from prism_memory.spans import spanned
from prism_memory.types import (
    Claim,
    FactItem,
    FactPage,
    Origin,
    Principal,
    check_choice,
    check_name,
    check_text,
    check_time,
    check_uuid,
    check_wish,
)

FIELDS: Final = frozenset(field.name for field in fields(Claim)) - {
    *("subject", "predicate", "value", "evidence", "provenance"),
}
"""What ``assert_fact`` takes besides. The provenance is of ``remember``."""


@spanned("facts")
@for_its_tenant
class Facts(Deciding, Remembering, Reviewing, Settling):
    """The facts of one memory. Call it to ask what holds; its verbs change that.

    memory.facts.assert_fact("Ada", "lives in", "Porto", evidence=[record_id])
    memory.facts("Ada")
    """

    def __call__(
        self,
        subject: str | None = None,
        *,
        predicate: str | None = None,
        at: dt.datetime | None = None,
        known_at: dt.datetime | None = None,
        unaccepted: bool = False,
        principals: Collection[Principal] | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> FactPage:
        """Return accepted facts in sight that hold, in the order of (valid_from, id).

        One query.

        Args:
            subject: Compared without case, width and white space; any when None.
            predicate: Exactly; any when None.
            at: When it holds in the world; now when None.
            known_at: When memory held it; now when None. The two combine.
            unaccepted: Proposals and beliefs too, each labelled with its acceptance.
            principals: Of these alone.
            limit: Rows of the page, 1 to 200; ``list_rows`` when None.
            cursor: The ``next_cursor`` of the page before.

        Raises:
            Invalid: A naive time, or the cursor is none of this list.
            LimitExceeded: ``limit`` is out of its bounds.
        """
        wanted = Wanted(
            subject=_optional(subject, "subject"),
            predicate=_optional(predicate, "predicate"),
            at=check_time(at, "at"),
            known_at=check_time(known_at, "known_at"),
            unaccepted=bool(check_wish(unaccepted, "unaccepted")),
            principals=_principals(principals),
        )
        page = floor.facts(
            reader=self._reader(), wanted=wanted, **self._page(limit, cursor)
        )
        return self._shown(page)

    def assert_fact(
        self,
        subject: str,
        predicate: str,
        value: str,
        *,
        evidence: Sequence[uuid.UUID | str],
        origin: Origin | None = None,
        reason: str = "",
        **more: Any,  # noqa: ANN401 - the fields of a Claim
    ) -> FactItem:
        """Store a claim that cites what is in sight, as the policy judges it.

        The same claim on the same evidence under an open key is the one that is there.

        Args:
            evidence: Ids of records in sight, 1 to 32 (B294).
            origin: Who asserts it; the memory's own when None. The policy looks at who
                vouches for the evidence, never at this.
            reason: For the audit and the history; no text content.
            more: More fields of ``prism_memory.types.Claim``: ``key``, ``valid_from``,
                ``text`` and so on.

        Raises:
            Invalid: A field is not acceptable; or nothing is cited.
            LimitExceeded: A limit was exceeded; the error names it.
            NotVisible: What is cited is not in sight.
            FactKeyInUse: An open fact has the key and says something else.
            Unsupported: In a host's transaction that is not READ COMMITTED.
        """
        claim = claimed(subject, predicate, value, evidence, more)
        fact_id = floor.assert_fact(
            **self._who(reason),
            reader=self._reader(),
            prepared=self._prepared(claim, origin),
            embedder=self.memory.embedder,
        )
        return self._stored(fact_id)

    def supersede(
        self,
        old: Which,
        subject: str,
        predicate: str,
        value: str,
        *,
        evidence: Sequence[uuid.UUID | str],
        on_unaccepted: OnUnaccepted = OnUnaccepted.REFUSE,
        origin: Origin | None = None,
        reason: str = "",
        **more: Any,  # noqa: ANN401 - the fields of a Claim
    ) -> FactItem:
        """Replace a fact of exactly this scope: the world changed.

        The old one holds until the new one's ``valid_from``, now when not given.

        Args:
            old: Its id or its key.
            on_unaccepted: ``refuse``, or ``pending``: what becomes of a successor that
                the policy does not accept, of an accepted fact.

        Raises:
            NotVisible: No such fact here, or what is cited is not in sight.
            NotAccepted: See ``on_unaccepted``; nothing is written (B307).
            Conflict: The old fact is open no more, perhaps by a rival in this moment.
            Invalid: A field is not acceptable; or it begins before the old one does.
            FactKeyInUse: Another open fact has its key.
        """
        claim = claimed(subject, predicate, value, evidence, more)
        done = self._superseded(old, claim, on_unaccepted, origin, reason)
        return self._stored(done.id)

    def get(self, fact_id: uuid.UUID | str) -> FactItem:
        """Return a fact in sight as it stands now, superseded or not.

        Raises:
            NotVisible: No such fact in sight, or it was retracted, forgotten or
                archived (B419).
        """
        found = floor.get_fact(
            using=self.memory.using, reader=self._reader(), fact_id=check_uuid(fact_id)
        )
        return self._masked(found)

    def timeline(
        self,
        subject: str,
        *,
        predicate: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> FactPage:
        """Return every version of what is known of a subject, the oldest first (B304).

        Both time axes show; superseded and retracted ones are among it. Of what the
        gate holds back, only that there is something.

        Raises:
            Invalid: The subject is blank, or the cursor is none of this list.
            LimitExceeded: ``limit`` is out of its bounds.
        """
        page = floor.timeline(
            reader=self._reader(),
            subject=check_name(subject, "subject"),
            predicate=_optional(predicate, "predicate"),
            **self._page(limit, cursor),
        )
        return self._shown(page)

    def history(self, fact_id: uuid.UUID | str) -> FactPage:
        """Return the chain of facts that replaced each other, from any member.

        The oldest first; also retracted and forgotten ones, of these no words (B416,
        B420).

        Raises:
            NotVisible: No such fact in sight.
        """
        page = floor.history(
            using=self.memory.using, reader=self._reader(), fact_id=check_uuid(fact_id)
        )
        return self._shown(page)

    async def aassert_fact(self, *args: Any, **kwargs: Any) -> FactItem:  # noqa: ANN401
        """Do as ``assert_fact``, for asynchronous code."""
        return await sync_to_async(self.assert_fact)(*args, **kwargs)

    async def asupersede(self, *args: Any, **kwargs: Any) -> FactItem:  # noqa: ANN401
        """Do as ``supersede``, for asynchronous code."""
        return await sync_to_async(self.supersede)(*args, **kwargs)

    async def aget(self, fact_id: uuid.UUID | str) -> FactItem:
        """Do as ``get``, for asynchronous code."""
        return await sync_to_async(self.get)(fact_id)

    async def alist(self, *args: Any, **kwargs: Any) -> FactPage:  # noqa: ANN401
        """Do as a call of this, for asynchronous code."""
        return await sync_to_async(self.__call__)(*args, **kwargs)

    async def atimeline(self, *args: Any, **kwargs: Any) -> FactPage:  # noqa: ANN401
        """Do as ``timeline``, for asynchronous code."""
        return await sync_to_async(self.timeline)(*args, **kwargs)

    async def ahistory(self, fact_id: uuid.UUID | str) -> FactPage:
        """Do as ``history``, for asynchronous code."""
        return await sync_to_async(self.history)(fact_id)

    def _superseded(
        self,
        old: Which,
        claim: Claim,
        on_unaccepted: OnUnaccepted,
        origin: Origin | None,
        reason: str,
    ) -> Superseded:
        return floor.supersede(
            **self._who(reason),
            reader=self._reader(),
            which=self._which(old),
            prepared=self._prepared(claim, origin),
            embedder=self.memory.embedder,
            on_unaccepted=check_choice(on_unaccepted, OnUnaccepted, "on_unaccepted"),
        )


def claimed(
    subject: str,
    predicate: str,
    value: str,
    evidence: Sequence[uuid.UUID | str],
    more: Mapping[str, Any],
) -> Claim:
    """Return a claim of somebody's fields.

    Raises:
        Invalid: One is unknown, or not acceptable.
    """
    if unknown := sorted(more.keys() - FIELDS):
        message = f"A claim has no field {', '.join(unknown)}."
        raise Invalid(message, field=unknown[0])
    check_name(subject, "subject")
    check_name(predicate, "predicate")
    if not check_text(value, "value").strip():
        message = "value must not be blank."
        raise Invalid(message, field="value")
    given: Any = evidence
    return Claim(subject, predicate, value, evidence=given, **more)


def _optional(value: str | None, name: str) -> str | None:
    return None if value is None else check_name(value, name)


def _principals(values: object) -> list[Principal] | None:
    if values is None:
        return None
    if isinstance(values, str) or not isinstance(values, Collection):
        message = "principals must be a collection."
        raise Invalid(message, field="principals")
    return [check_choice(value, Principal, "principals") for value in values]
