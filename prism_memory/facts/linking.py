"""Link a fact to whom and what it speaks of.

By name, without a model (B353): a name that was ever linked in the scope is found
again, however old (B390). A link goes to the entity of the name itself; what that is
merged into is seen by reading, so that a merge can be undone.
"""

from __future__ import annotations

import datetime as dt
import logging
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from django.db import DataError, IntegrityError, OperationalError, transaction
from django.utils.module_loading import import_string

from prism_memory import signals
from prism_memory.conf import ENTITY_RESOLVERS, settings
from prism_memory.db import queries
from prism_memory.db.queries import named
from prism_memory.errors import (
    Conflict,
    Misconfigured,
    PrismMemoryError,
    ProviderRejected,
)
from prism_memory.types import NAME_BYTES, MentionRole, Scope, check_text, uuid7
from prism_memory.types.naming import fold

logger = logging.getLogger("prism_memory")

EntityResolver = Callable[[Sequence[str]], Sequence[str]]
"""Of folded names: what each is known by, in their order. It must be quick and local,
as it is asked within a write. Where it cannot tell it raises whatever it likes."""

LONGEST: Final = 4 * NAME_BYTES
"""Characters up to which a text is looked at as a name."""

TRIES: Final = 100
"""Sweeps of one name that a writer meets in a row, at most."""

FAILURES: Final = (DataError, IntegrityError, OperationalError, PrismMemoryError)
"""What may go wrong with a link, and leaves the fact as it is without one (B355)."""


def link(
    *,
    using: str,
    scope: Scope,
    fact_id: uuid.UUID,
    subject: str,
    value: str,
    at: dt.datetime,
) -> bool:
    """Link a fact of exactly ``scope``; tell whether it was done, where it was to be.

    Call it in the transaction that writes the fact; the scope's row must be there. What
    goes wrong is logged, without a name, and undone to where this began (B355). Two
    queries and a savepoint, three where a name is new; none without a name.

    Args:
        subject: As written; empty for none.
        value: The object, as written. Longer than a name it is none.
    """
    if settings.ENTITY_RESOLVER == "off":
        return False
    said = {MentionRole.SUBJECT: subject, MentionRole.OBJECT: value}
    try:
        with transaction.atomic(using=using):
            names = _names(said)
            if names:
                _write(using, scope, fact_id, names, at)
    except FAILURES as error:
        logger.warning("A fact is not linked (%s).", type(error).__name__)
        return False
    return bool(names)


@dataclass(frozen=True)
class Name:
    """What an entity is found by, and how that is written."""

    folded: str
    label: str


def _names(said: Mapping[MentionRole, str]) -> dict[MentionRole, Name]:
    """Return what is to be linked, by role.

    Raises:
        Misconfigured: The resolver cannot be imported.
        ProviderRejected: It failed, or gave no names.
    """
    names = {role: name_of(text) for role, text in said.items()}
    found = {role: name for role, name in names.items() if name.folded}
    path = settings.ENTITY_RESOLVER
    if path in ENTITY_RESOLVERS or not found:
        return found
    given = _resolved(path, [name.folded for name in found.values()])
    known = {
        role: name if told == name.folded else name_of(told)
        for (role, name), told in zip(found.items(), given, strict=True)
    }
    return {role: name for role, name in known.items() if name.folded}


def name_of(text: str) -> Name:
    """Return a text as a name; without a folded form where it is none."""
    label = text.strip()
    if len(label) > LONGEST:
        return Name("", "")
    return Name(fold(label), label[:NAME_BYTES])


def _resolved(path: str, names: list[str]) -> list[str]:
    try:
        resolver: EntityResolver = import_string(path)
    except ImportError as error:
        message = "ENTITY_RESOLVER cannot be imported."
        raise Misconfigured(message, field="ENTITY_RESOLVER") from error
    try:
        told: object = resolver(names)
    except Exception as error:  # noqa: BLE001 - the host's code: its error loses no write (B355)
        # Its class alone: the words of the error may hold a name.
        logger.warning("ENTITY_RESOLVER failed: %s", type(error).__name__)
        raise ProviderRejected from None
    given = list(told) if isinstance(told, Sequence) else []
    if len(given) != len(names) or not all(isinstance(name, str) for name in given):
        message = "ENTITY_RESOLVER must return a name for each name."
        raise ProviderRejected(message)
    return [check_text(name, "a name of ENTITY_RESOLVER") for name in given]


def _write(
    using: str,
    scope: Scope,
    fact_id: uuid.UUID,
    names: Mapping[MentionRole, Name],
    at: dt.datetime,
) -> None:
    labels: dict[str, str] = {}
    for name in names.values():
        labels.setdefault(name.folded, name.label)
    ids = ensure_entities(using=using, scope=scope, labels=labels, at=at)
    given = {
        "tenant": scope.tenant,
        "fact_id": fact_id,
        "roles": [role.value for role in names],
        "entity_ids": [ids[name.folded] for name in names.values()],
    }
    queries.execute(using, named("entities")["insert_mentions"], given)


def ensure_entities(
    *, using: str, scope: Scope, labels: Mapping[str, str], at: dt.datetime
) -> dict[str, uuid.UUID]:
    """Return the entity of each name of exactly ``scope``, made where there is none.

    They stay until the transaction ends. One query, three where one is new.

    Args:
        labels: By folded name, how it was written.

    Raises:
        Conflict: A name is swept again and again.
    """
    place = {"tenant": scope.tenant, "scope_id": scope.id}
    for _ in range(TRIES):
        wanted = {**place, "names": sorted(labels)}
        rows = queries.fetch(using, named("entities")["find_names"], wanted)
        found: dict[str, uuid.UUID] = {row["name"]: row["id"] for row in rows}
        missing = [name for name in labels if name not in found]
        if not missing:
            return found
        given = {
            **place,
            "ids": [uuid7() for _ in missing],
            "names": missing,
            "labels": [labels[name] for name in missing],
            "at": at,
        }
        queries.execute(using, named("entities")["insert_names"], given)
        _tell(using, scope.tenant)
    message = "The entity was swept each time it was made; try again."
    raise Conflict(message, field="subject")


def _tell(using: str, tenant: str) -> None:
    """Wake who compares names, once they stand."""
    if settings.ENTITY_RESOLVER == "vectors":
        given = {"sender": Scope, "using": using, "tenant": tenant}
        send = partial(signals.resolving_wanted.send_robust, **given)
        transaction.on_commit(send, using=using, robust=True)
