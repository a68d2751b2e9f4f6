"""Places in the tree tenant > owner > agent > thread, and who acts there."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from prism_memory.errors import Invalid, PermissionDenied, ScopeDenied
from prism_memory.types.authorizations import Authorization
from prism_memory.types.checks import check_name, check_part
from prism_memory.types.vocabulary import Permission, ReadMode, Trust, check_choice

SCOPE_NAMESPACE: Final = uuid.UUID("6f1d6c58-6f0c-5e0b-9b9e-7d3a1f0c2b64")
"""UUIDv5 namespace of scope ids. Changing it orphans every stored scope."""

KNOWN_SCOPES: Final = 4_096
"""Scopes whose id and levels a process keeps: each question asks for them."""


@dataclass(frozen=True, slots=True)
class Scope:
    """A place in the tree tenant > owner > agent > thread.

    Args:
        tenant: 1 to 256 bytes of UTF-8, not blank.
        owner: As above, or empty for the tenant's own level.
        agent: As above, or empty. Needs an owner.
        thread: As above, or empty. Needs an owner; may do without an agent.

    Raises:
        ScopeDenied: The tenant is blank, or a level lacks the owner above it.
        Invalid: A level cannot be stored.
        LimitExceeded: A level is over 256 bytes.
    """

    tenant: str
    owner: str = ""
    agent: str = ""
    thread: str = ""

    def __post_init__(self) -> None:
        tenant: object = self.tenant
        if not isinstance(tenant, str):
            kind = type(tenant).__name__
            message = f"The tenant of a scope must be a string, not {kind}."
            raise ScopeDenied(message, field="tenant")
        if not tenant.strip():
            message = "A scope needs a tenant."
            raise ScopeDenied(message, field="tenant")
        for level in ("tenant", "owner", "agent", "thread"):
            check_name(getattr(self, level), level, blank=level != "tenant")
        if not self.owner and (self.agent or self.thread):
            message = "An agent or a thread needs an owner."
            raise ScopeDenied(message, field="owner")

    @property
    def id(self) -> uuid.UUID:
        """UUIDv5 of the four levels in UTF-8, joined by NUL: nobody looks it up."""
        return _id(self)

    def with_owner(self, owner: str) -> Scope:
        """Return the scope of ``owner`` in this tenant."""
        return self._below("owner", owner)

    def with_agent(self, agent: str) -> Scope:
        """Return the scope of ``agent`` under this owner."""
        return self._below("agent", agent)

    def with_thread(self, thread: str) -> Scope:
        """Return the scope of ``thread`` under this owner and agent."""
        return self._below("thread", thread)

    def beside(self, thread: str) -> Scope:
        """Return the thread of this name beside this one: same owner and agent."""
        check_name(thread, "thread")
        return replace(self, thread=thread)

    def _below(self, level: str, name: str) -> Scope:
        if getattr(self, level) or self.thread:
            message = f"This scope cannot be narrowed by another {level}."
            raise ScopeDenied(message, field=level)
        check_name(name, level)
        return replace(self, **{level: name})

    def chain(self) -> Iterator[Scope]:
        """Yield this level and every level above it, narrowest first; at most four."""
        yield from _chain(self)

    def visible(self, mode: ReadMode) -> tuple[Scope, ...]:
        """Return the scopes that a reader standing here sees.

        Raises:
            Invalid: An unknown mode.
        """
        chosen = check_choice(mode, ReadMode, "mode")
        return tuple(self.chain()) if chosen is ReadMode.CHAIN else (self,)

    def opens(self, other: Scope) -> bool:
        """Tell whether ``other`` is this scope or lies below it.

        A thread that belongs to no agent has nothing below it: an agent's thread of the
        same name lies below that agent, whose rows this scope does not see.
        """
        return self in other.chain()

    def __str__(self) -> str:
        return " / ".join(
            level
            for level in (self.tenant, self.owner, self.agent, self.thread)
            if level
        )


@dataclass(frozen=True, slots=True)
class Origin:
    """Where words come from: their trust class, and who wrote them.

    Raises:
        Invalid: An unknown trust class, or a blank writer (B274, B275).
    """

    trust: Trust
    writer: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "trust", check_choice(self.trust, Trust, "trust"))
        check_name(self.writer, "writer")


@dataclass(frozen=True, slots=True)
class Actor:
    """Who acts, as the audit names them: ``user:7``, ``key:0192…``, ``system``."""

    name: str = "system"

    def __post_init__(self) -> None:
        check_name(self.name, "actor")


@dataclass(frozen=True)
class Grant:
    """What an authenticated caller may do, and as whom.

    Args:
        scope: The widest scope that is open.
        permissions: What is allowed there and below.
        origin: Trust and writer of what the caller writes; no request changes it.
        actor: Who acts, as the audit names them.
        authorization: As whom restricted documents are read, and deleted; none is when
            None. No request changes it either.

    Raises:
        ScopeDenied: The authorization is of another tenant.
        Invalid: A permission is unknown, or one is given where a set is meant: in
            ``"readwrite"`` each would be found.
    """

    scope: Scope
    permissions: frozenset[Permission]
    origin: Origin
    actor: Actor
    authorization: Authorization | None = None

    def __post_init__(self) -> None:
        check_authorization(self.authorization, self.scope)
        given: object = self.permissions
        if isinstance(given, str) or not isinstance(given, Collection):
            message = "permissions must be a set of them."
            raise Invalid(message, field="permissions")
        chosen = {check_choice(one, Permission, "permissions") for one in given}
        object.__setattr__(self, "permissions", frozenset(chosen))

    def narrowed(self, *, owner: str = "", agent: str = "", thread: str = "") -> Scope:
        """Return the scope that a caller chose: the grant's own, or one below it.

        Args:
            owner: Empty, the grant's own, or one below it; likewise what follows.

        Raises:
            ScopeDenied: The choice is wider than the grant, beside it or malformed.
        """
        mine = self.scope
        chosen = Scope(
            mine.tenant, owner or mine.owner, agent or mine.agent, thread or mine.thread
        )
        if not mine.opens(chosen):
            message = "The credentials do not open that scope."
            raise ScopeDenied(message, field="scope")
        return chosen

    def require(self, permission: Permission) -> None:
        """Do nothing if ``permission`` is held.

        Raises:
            PermissionDenied: It is not.
        """
        if permission not in self.permissions:
            message = f"The credentials lack the permission {permission.value!r}."
            raise PermissionDenied(message, field="permission")


@lru_cache(maxsize=KNOWN_SCOPES)
def _id(scope: Scope) -> uuid.UUID:
    parts = (scope.tenant, scope.owner, scope.agent, scope.thread)
    return uuid.uuid5(SCOPE_NAMESPACE, "\0".join(parts))


@lru_cache(maxsize=KNOWN_SCOPES)
def _chain(scope: Scope) -> tuple[Scope, ...]:
    seen = [
        scope,
        Scope(scope.tenant, scope.owner, scope.agent),
        Scope(scope.tenant, scope.owner),
        Scope(scope.tenant),
    ]
    return tuple(dict.fromkeys(seen))


def check_authorization(authorization: object, scope: Scope) -> Authorization | None:
    """Return who reads documents in ``scope``, if anybody.

    Raises:
        Invalid: It is no authorization.
        ScopeDenied: It is of another tenant (B216).
    """
    found = check_part(authorization, Authorization, "authorization")
    if found is not None and found.tenant not in {None, scope.tenant}:
        message = "The authorization is of another tenant."
        raise ScopeDenied(message, field="authorization")
    return found


def check_scope(scope: object) -> Scope:
    """Return ``scope`` if it is one: there is no memory without.

    Raises:
        ScopeDenied: It is none.
    """
    if not isinstance(scope, Scope):
        message = "A memory needs a Scope."
        raise ScopeDenied(message, field="scope")
    return scope
