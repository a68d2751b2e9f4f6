"""Who reads restricted documents, and who may: values of the document access."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from prism_memory.errors import Invalid, LimitExceeded
from prism_memory.types.checks import check_count, check_name
from prism_memory.types.vocabulary import check_choice

GROUPS_AT_MOST: Final = 32
"""Groups of one authorization. Source: S0 (B218)."""

ACCESS_GRANTS_AT_MOST: Final = 1_024
"""Grants of one call. Source: S0 (B218)."""

VERSION_AT_MOST: Final = 2**31 - 1
"""What the column holds."""


class Open(StrEnum):
    """What an authorization does with what no grant speaks of."""

    DENY = "deny"
    ALLOW = "allow"


class DenialReason(StrEnum):
    """Why a source was withheld when it was looked at again."""

    NO_GRANT = "no_grant"
    VERSION_MISMATCH = "version_mismatch"
    CHECK_FAILED = "check_failed"


@dataclass(frozen=True)
class Authorization:
    """On whose behalf documents are read; the host has verified it.

    Args:
        principal: Who reads, 1 to 256 bytes.
        groups: Theirs, 32 at most.
        access_version: Only grants of this version count, from 1; of any when None.
        tenant: Where it holds; the reader's own when None.
        open: What becomes of what no grant speaks of, because it is of no source or of
            one that is not restricted: ``deny`` leaves it out, ``allow`` lets it in.

    Raises:
        Invalid: A name cannot be stored or is blank, or ``groups`` is no collection.
        LimitExceeded: More than 32 groups, a name over 256 bytes, or a version that
            is none.
    """

    principal: str
    groups: Collection[str] = ()
    access_version: int | None = None
    tenant: str | None = None
    open: Open = Open.DENY

    def __post_init__(self) -> None:
        check_name(self.principal, "principal")
        object.__setattr__(self, "groups", check_groups(self.groups))
        check_version(self.access_version)
        if self.tenant is not None:
            check_name(self.tenant, "tenant")
        object.__setattr__(self, "open", check_choice(self.open, Open, "open"))


@dataclass(frozen=True)
class AccessGrant:
    """Who may read one document: a principal, or a group.

    Args:
        principal: A name, or empty.
        group: A name where ``principal`` is empty.
        access_version: From 1.

    Raises:
        Invalid: Neither is given, or both; or a name cannot be stored.
        LimitExceeded: A name is over 256 bytes, or the version is none.
    """

    principal: str = ""
    group: str = ""
    access_version: int = 1

    def __post_init__(self) -> None:
        check_name(self.principal, "principal", blank=True)
        check_name(self.group, "group", blank=True)
        if bool(self.principal.strip()) == bool(self.group.strip()):
            message = "A grant names a principal or a group, one of both."
            raise Invalid(message, field="principal")
        if check_version(self.access_version) is None:
            message = "A grant has a version."
            raise Invalid(message, field="access_version")


@dataclass(frozen=True)
class Repointed:
    """A source goes by another key.

    Args:
        moved: Records that are cited by the new key now.
        next_cursor: Always None: all of them move at once.
    """

    moved: int
    next_cursor: None = None


def check_groups(groups: object) -> tuple[str, ...]:
    """Return the groups, each once.

    Raises:
        Invalid: They are no collection, or one cannot be stored or is blank.
        LimitExceeded: More than 32.
    """
    if isinstance(groups, str) or not isinstance(groups, Collection):
        message = "groups must be a collection."
        raise Invalid(message, field="groups")
    if len(groups) > GROUPS_AT_MOST:
        message = f"groups holds more than {GROUPS_AT_MOST}."
        raise LimitExceeded(message, field="groups")
    return tuple(dict.fromkeys(check_name(name, "groups") for name in groups))


def check_version(version: object) -> int | None:
    """Return an access version if it is one, or None.

    Raises:
        Invalid: It is no integer.
        LimitExceeded: It is not 1 to 2,147,483,647.
    """
    if version is None:
        return None
    if check_count(version, "access_version", minimum=1) > VERSION_AT_MOST:
        message = f"access_version must be 1 to {VERSION_AT_MOST}."
        raise LimitExceeded(message, field="access_version")
    return int(str(version))
