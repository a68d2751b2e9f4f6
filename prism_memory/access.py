"""Who may see what. The only way to rows: every read starts here.

The rule itself is one text, ``db/sql/access.sql``; each leg of recall, every list and
look-up, and the admin's search use it, inside SQL and before any LIMIT.
"""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

from django.db.models import QuerySet
from django.utils import timezone
from psycopg import sql

from prism_memory.conf import settings
from prism_memory.db import queries
from prism_memory.db.expressions import NamedCondition
from prism_memory.db.filters import Compiled
from prism_memory.db.queries import composed, named
from prism_memory.errors import Invalid, Misconfigured, NotVisible, ScopeDenied
from prism_memory.models import Record
from prism_memory.types import (
    Authorization,
    DenialReason,
    Kind,
    Open,
    ReadMode,
    Scope,
    Tier,
    check_authorization,
    check_bool,
    check_choice,
    check_part,
    check_scope,
    check_text,
    check_time,
    check_uuid,
    check_wish,
)

NARROWING: Final[Mapping[str, Callable[[object, str], object]]] = {
    "kinds": lambda value, name: check_choice(value, Kind, name),
    "tiers": lambda value, name: check_choice(value, Tier, name),
    "namespaces": check_text,
    "tags": check_text,
    "ids": check_uuid,
}
"""How each value of what narrows a reading is checked."""

BOOLEANS: Final = (
    "strict",
    "include_superseded",
    "include_quarantined",
    "include_retired",
    "include_restricted",
)


@dataclass(frozen=True)
class Reader:
    """Where a reader stands and what they ask for.

    A collection that is None does not narrow; an empty one lets nothing through.

    Args:
        scope: Where the reader stands.
        mode: How far up they see.
        scopes: See exactly these instead, all of the scope's tenant.
        strict: See only what was consented to.
        at: Moment of the reading; expiry is judged by it.
        as_of: Moment that validity is judged by; ``at`` when None.
        known_at: See only what was there, and in sight, at this moment too.
        include_superseded: Do not judge validity, unless ``as_of`` asks for it.
        include_quarantined: See also what the gate holds back.
        include_retired: See also what left search: for histories, never for recall.
        include_restricted: See restricted documents whoever may read them: for who
            governs, never for recall.
        authorization: As whom restricted documents are read; none of them is seen when
            None. Its tenant is the scope's.
        tags: See what has one of these: its ``tags`` in the metadata, a list or a text.
        shared_with: See only what a grant in force shares with this thread.
        where: Conditions on the metadata.

    Raises:
        ScopeDenied: ``scopes`` names another tenant's.
        Invalid: An unknown mode, kind or tier, a name that cannot be stored, an id that
            is none, a naive time, a wish that is no bool, or a single value where a
            collection is meant.
        ScopeDenied: The authorization is of another tenant.
    """

    scope: Scope
    mode: ReadMode = ReadMode.CHAIN
    scopes: Collection[Scope] | None = None
    strict: bool = False
    at: dt.datetime = field(default_factory=timezone.now)
    as_of: dt.datetime | None = None
    known_at: dt.datetime | None = None
    include_superseded: bool = False
    include_quarantined: bool = False
    include_retired: bool = False
    include_restricted: bool = False
    authorization: Authorization | None = None
    kinds: Collection[Kind] | None = None
    tiers: Collection[Tier] | None = None
    namespaces: Collection[str] | None = None
    tags: Collection[str] | None = None
    partition: str | None = None
    ids: Collection[uuid.UUID] | None = None
    shared_with: Scope | None = None
    where: Compiled = field(default_factory=Compiled)

    def __post_init__(self) -> None:
        object.__setattr__(self, "mode", check_choice(self.mode, ReadMode, "mode"))
        self._check_scopes()
        for name in BOOLEANS:
            check_bool(getattr(self, name), name)
        self._check_moments()
        for name, check in NARROWING.items():
            values = getattr(self, name)
            if values is None:
                continue
            if isinstance(values, str) or not isinstance(values, Collection):
                message = f"{name} must be a collection."
                raise Invalid(message, field=name)
            object.__setattr__(self, name, [check(value, name) for value in values])
        if self.partition is not None:
            check_text(self.partition, "partition")
        check_part(self.shared_with, Scope, "shared_with")
        check_authorization(self.authorization, self.scope)

    def _check_scopes(self) -> None:
        if self.scopes is None:
            return
        places = tuple(self.scopes)
        if any(check_scope(place).tenant != self.scope.tenant for place in places):
            message = "A reader sees scopes of one tenant."
            raise ScopeDenied(message, field="scopes")
        object.__setattr__(self, "scopes", tuple(dict.fromkeys(places)))

    @property
    def places(self) -> tuple[Scope, ...]:
        """The scopes whose records they see."""
        if self.scopes is None:
            return self.scope.visible(self.mode)
        return tuple(self.scopes)

    def _check_moments(self) -> None:
        for name in ("at", "as_of", "known_at"):
            moment = check_time(getattr(self, name), name)
            if moment is None and name == "at":
                message = "A reading needs its moment."
                raise Invalid(message, field="at")
            object.__setattr__(self, name, moment)

    def condition(self, *, guarded: bool = False) -> sql.Composable:
        """Return the rule as SQL over the row called ``record``.

        Args:
            guarded: See ``documents``.
        """
        documents = self.documents(guarded=guarded)
        rule = sql.SQL(_rule(tuple(self.narrowed_by), documents))
        if not self.where.comparisons:
            return rule
        return sql.SQL("{}\nAND {}").format(rule, self.where.text)

    @property
    def is_unauthorized(self) -> bool:
        """Whether they see nothing of any restricted document."""
        return self.authorization is None and not self.include_restricted

    def documents(self, *, guarded: bool = False) -> tuple[str, ...]:
        """Return which parts of the rule say what documents they may read.

        Args:
            guarded: Take it that the tenant restricts none, where the reader is
                unauthorized: if it does, nothing is seen, and whoever asks so must ask
                again (``restricts``).
        """
        if self.include_restricted:
            return ("everything",)
        if self.authorization is None:
            return ("guarded" if guarded else "unrestricted",)
        if self.authorization.open is Open.ALLOW:
            return ("authorized",)
        return ("authorized", "granted_alone")

    @property
    def narrowed_by(self) -> list[str]:
        """What is given that narrows sight, but for the metadata."""
        names = (*NARROWING, "partition", "known_at", "shared_with")
        return [name for name in names if getattr(self, name) is not None]

    def narrowing(self) -> tuple[sql.Composable, dict[str, Any]] | None:
        """Return what an index can answer of the rule, and its parameters.

        SQL over the row called ``record``, to begin with the few rows that meet it. The
        rule holds it too, so it takes nothing away. None where there is nothing.
        """
        contained = self.where.containment()
        return None if contained is None else (contained, self.where.parameters)

    @property
    def is_narrowed(self) -> bool:
        """Whether more than the scope decides which of its records are in sight."""
        few = self.strict or self.authorization is not None
        return few or self.where.comparisons > 0 or bool(self.narrowed_by)

    def parameters(self) -> dict[str, Any]:
        """Return the values of the rule's parameters."""
        scopes = self.places
        return {
            "tenant": self.scope.tenant,
            "scope_ids": [scope.id for scope in scopes],
            "owners": [scope.owner for scope in scopes],
            "agents": [scope.agent for scope in scopes],
            "threads": [scope.thread for scope in scopes],
            "strict": self.strict,
            "at": self.at,
            "as_of": self.as_of or self.at,
            "known_at": self.known_at,
            "include_superseded": self.include_superseded and self.as_of is None,
            "include_quarantined": self.include_quarantined,
            "include_retired": self.include_retired,
            "kinds": _texts(self.kinds),
            "tiers": _texts(self.tiers),
            "namespaces": _texts(self.namespaces),
            "tags": _texts(self.tags),
            "partition": self.partition,
            "ids": self.ids,
            **child_parameters(scope=self.shared_with),
            **granted_to(authorization=self.authorization),
            **self.where.parameters,
        }


@lru_cache(maxsize=128)
def _rule(narrowed_by: tuple[str, ...], documents: tuple[str, ...]) -> str:
    """Return the rule with only the clauses that are asked for.

    One that lets everything through would be parsed with every statement too.
    """
    texts = named("access")
    rule = (
        sql.SQL(texts["visible"])
        .format(placed=placed(), unwithheld=_unwithheld(documents))
        .as_string(None)
    )
    return "\nAND ".join([rule, *(texts[name] for name in narrowed_by)])


def strictness(*, asked: bool | None = None, usual: bool | None = None) -> bool:
    """Return the first that was given, else the setting ``REQUIRE_CONSENT``.

    Args:
        asked: Of this call.
        usual: Of its memory.

    Raises:
        Invalid: A wish is neither true nor false.
        Misconfigured: The setting is neither: ``"off"`` must not pass for true.
    """
    wishes = [check_wish(wish, "require_consent") for wish in (asked, usual)]
    given = [wish for wish in wishes if wish is not None]
    setting: object = settings.REQUIRE_CONSENT
    if not isinstance(setting, bool):
        message = "The setting REQUIRE_CONSENT must be True or False."
        raise Misconfigured(message, field="REQUIRE_CONSENT")
    return given[0] if given else setting


def child_parameters(*, scope: Scope | None) -> dict[str, Any]:
    """Return the values of ``shared_with`` in the rule, where it is asked for."""
    if scope is None:
        return {}
    return {
        "child_id": scope.id,
        "child_owner": scope.owner,
        "child_agent": scope.agent,
        "child_thread": scope.thread,
    }


def _texts(values: Collection[str] | None) -> list[str] | None:
    return None if values is None else [str(value) for value in values]


def placed() -> sql.SQL:
    """Return whether a row called ``record`` is of the reader's scopes, as SQL.

    A part of the rule: for what tells that something was, and nothing of what it said.
    """
    return sql.SQL(named("access")["placed"])


def source_placed(*, reader: Reader) -> sql.SQL:
    """Return whether a reader may know of a row called ``source``, as SQL.

    By the reader's scopes and by what they may read; by their parameters.
    """
    placed = sql.SQL(named("access")["source_placed"])
    both = sql.SQL("{} AND {}").format(placed, readable(reader=reader))
    return sql.SQL(both.as_string(None))


def unwithheld(*, reader: Reader, guarded: bool = False) -> sql.SQL:
    """Return what a row called ``record`` says of itself: a part of the rule.

    Args:
        guarded: See ``Reader.documents``.
    """
    return _unwithheld(reader.documents(guarded=guarded))


def restricts() -> sql.SQL:
    """Return whether the reader's tenant restricts any document, as SQL."""
    return sql.SQL(named("access")["restricts"])


@lru_cache(maxsize=8)
def _unwithheld(documents: tuple[str, ...]) -> sql.SQL:
    text = sql.SQL(named("access")["unwithheld"])
    return sql.SQL(text.format(accessible=_accessible(documents)).as_string(None))


@lru_cache(maxsize=8)
def _accessible(documents: tuple[str, ...]) -> sql.SQL:
    texts = named("access")
    parts = {
        "granted": granted(),
        "restricts": restricts(),
        "undrawn_at_all": _undrawn("closed_to_all"),
        "undrawn_beyond_grants": _undrawn("closed_to_reader"),
    }
    chosen = (sql.SQL(texts[name]).format(**parts) for name in documents)
    return sql.SQL(sql.SQL("\nAND ").join(chosen).as_string(None))


def _undrawn(closed: str) -> sql.Composed:
    texts = named("access")
    return sql.SQL(texts["undrawn"]).format(
        drawn=sql.SQL(texts["drawn"]),
        closed=sql.SQL(texts[closed]).format(granted=granted()),
    )


def denied_sources(
    *, using: str, reader: Reader, ids: Collection[uuid.UUID]
) -> dict[uuid.UUID, DenialReason]:
    """Return the sources for which some records are withheld from a reader, and why.

    Those that they draw upon, however far, and that are closed to the reader; none for
    one who governs. Whether the records are in sight otherwise is not asked. One query.
    """
    if reader.include_restricted or not ids:
        return {}
    texts = named("access")
    parts = {n: sql.SQL(texts[n]) for n in ("granted", "granted_once", "drawn")}
    statement = composed("access", "denied", **parts)
    given = {
        "tenant": reader.scope.tenant,
        "record_ids": list(ids),
        **granted_to(authorization=reader.authorization),
    }
    return {
        row["id"]: DenialReason.VERSION_MISMATCH
        if row["granted_once"]
        else DenialReason.NO_GRANT
        for row in queries.fetch(using, statement, given)
    }


def drawn() -> sql.SQL:
    """Return the sources that a row called ``record`` draws upon, as a WITH of SQL."""
    return sql.SQL(named("access")["drawn"])


def closed() -> sql.SQL:
    """Return whether a row called ``record`` draws upon what is closed, as SQL.

    To who may read what ``granted_to`` says; what is not restricted is open to all.
    """
    parts = {
        "restricts": restricts(),
        "undrawn_beyond_grants": _undrawn("closed_to_reader"),
    }
    text = sql.SQL(named("access")["closed_at_all"]).format(**parts)
    return sql.SQL(text.as_string(None))


def accessible(*, reader: Reader) -> sql.SQL:
    """Return whether a reader may read what a row called ``record`` draws upon, as SQL.

    A part of the rule: for what tells that something was, and nothing of what it said.
    """
    return _accessible(reader.documents())


def readable(*, reader: Reader) -> sql.SQL:
    """Return whether a reader may know of a row called ``source``, as SQL.

    For lists of documents, by the reader's parameters. Whether it is of the reader's
    scopes is not asked.
    """
    texts = named("access")
    parts = [
        sql.SQL(texts[f"source_{name}"]).format(granted=granted())
        for name in reader.documents()
    ]
    return sql.SQL(sql.SQL(" AND ").join(parts).as_string(None))


def granted() -> sql.SQL:
    """Return whether a grant lets somebody read a row called ``source``, as SQL.

    Its parameters are those of ``granted_to``.
    """
    return sql.SQL(named("access")["granted"])


def granted_to(*, authorization: Authorization | None) -> dict[str, Any]:
    """Return the values of the parameters of ``granted``; nobody's for None."""
    if authorization is None:
        return {"reads_as": [], "reads_in": [], "reads_version": None}
    groups = list(authorization.groups)
    return {
        "reads_as": [authorization.principal, *("" for _ in groups)],
        "reads_in": ["", *groups],
        "reads_version": authorization.access_version,
    }


def held() -> sql.SQL:
    """Return whether a hold keeps a row called ``record`` from deletion, as SQL.

    One on it, or on a fact that rests on it (B326).
    """
    texts = named("access")
    itself = sql.SQL(texts["held_itself"])
    return sql.SQL(sql.SQL(texts["held"]).format(held_itself=itself).as_string(None))


def shared() -> sql.SQL:
    """Return whether a grant shares a row called ``record`` with a thread, as SQL."""
    return sql.SQL(named("access")["shared_with"])


def changed() -> sql.SQL:
    """Return whether a row called ``record`` changed after ``known_at``, as SQL."""
    return sql.SQL(named("access")["changed"])


def visible(*, using: str, reader: Reader) -> QuerySet[Record]:
    """Return the records that ``reader`` may see. Lazy; no query."""
    rule = NamedCondition(reader.condition().as_string(None), reader.parameters())
    return Record.objects.using(using).filter(rule)


def visible_in(
    *, using: str, reader: Reader, scopes: Collection[Scope]
) -> QuerySet[Record]:
    """Return the records of exactly these scopes that each one's own reader may see.

    For a governor's pages, which list rows of many scopes of one tenant. The reader's
    own scope names the tenant alone, and nothing of another tenant is seen. Lazy.
    """
    places = [scope for scope in scopes if scope.tenant == reader.scope.tenant]
    given = {
        "scope_ids": [scope.id for scope in places],
        "owners": [scope.owner for scope in places],
        "agents": [scope.agent for scope in places],
        "threads": [scope.thread for scope in places],
    }
    rule = NamedCondition(
        reader.condition().as_string(None), {**reader.parameters(), **given}
    )
    return Record.objects.using(using).filter(rule)


def get_visible(*, using: str, reader: Reader, record_id: uuid.UUID) -> Record:
    """Return one record, with its scope and source. One query.

    Raises:
        NotVisible: No such record, or the reader may not know of it.
    """
    rows = visible(using=using, reader=reader).select_related("scope", "source")
    record = rows.filter(id=record_id).first()
    if record is None:
        raise NotVisible
    return record
