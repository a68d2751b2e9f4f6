"""What one method of one route does: the permission, the inputs, the answers.

Declared once; the permission check, the parsing and the OpenAPI document read it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from rest_framework.serializers import Serializer

from prism_memory.types import Permission

Form = type[Serializer[Any]]


@dataclass(frozen=True)
class Operation:
    """One method of one route.

    Args:
        id: The operation's id in the OpenAPI document.
        summary: One line, for people.
        permission: What the caller must hold; None is open to all.
        answers: What comes back, by status; None is an empty answer.
        query: What the query string may hold; None: nothing.
        bodies: What the body may be: one of these forms; empty: nothing.
        download: Media type of the file that comes back; empty: JSON.
        refusals: Statuses of ``problem+json`` beyond those that every operation has.
    """

    id: str
    summary: str
    permission: Permission | None
    answers: Mapping[HTTPStatus, Form | None] = field(default_factory=dict)
    query: Form | None = None
    bodies: tuple[Form, ...] = ()
    download: str = ""
    refusals: tuple[HTTPStatus, ...] = ()
