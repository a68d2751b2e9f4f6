"""Alice and Bob share the tenant acme; Carol is another tenant's."""

from __future__ import annotations

import datetime as dt
import json
from dataclasses import dataclass, field
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from prism_memory.lifecycle import create_key
from prism_memory.types import Actor, Permission, Scope, Trust

ALICE = Scope("acme", owner="alice")
BOB = Scope("acme", owner="bob")
CAROL = Scope("globex", owner="alice")
ALL = tuple(Permission)


def make_token(
    scope: Scope = ALICE,
    permissions: tuple[Permission, ...] = ALL,
    trust: Trust = Trust.AGENT,
    expires_at: dt.datetime | None = None,
    **given: Any,
) -> str:
    _, token = create_key(
        using="default",
        scope=scope,
        actor=Actor("test"),
        label="test",
        permissions=permissions,
        at=timezone.now(),
        trust=trust,
        expires_at=expires_at,
        **given,
    )
    return token


@dataclass
class Caller:
    """Somebody with a key, and the headers they send."""

    token: str
    headers: dict[str, str] = field(default_factory=dict)
    client: Client = field(default_factory=Client)

    def sends(self, **headers: str) -> Caller:
        """The same key with Prism headers: ``owner=…``."""
        named = {f"Prism-{name.capitalize()}": text for name, text in headers.items()}
        return Caller(self.token, named, self.client)

    def get(self, path: str, query: str = "") -> Any:
        return self.request("GET", path + query)

    def post(self, path: str, body: Any = None, query: str = "") -> Any:
        return self.request("POST", path + query, body)

    def request(self, method: str, path: str, body: Any = None) -> Any:
        raw = body if isinstance(body, str | bytes) else json.dumps(body or {})
        headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        return self.client.generic(
            method,
            f"/api/v1/{path}",
            raw,
            content_type="application/json",
            headers=headers | self.headers,
        )

    def remember(self, text: str, **given: Any) -> str:
        """Remember one text and return its id."""
        answer = self.post("memories", {"text": text, **given})
        assert answer.status_code == 201, answer.content
        return str(answer.json()["accepted"][0])

    def recalls(self, query: str, **given: Any) -> list[str]:
        """Return the texts of a recall, best first."""
        answer = self.post("recall", {"query": query, **given})
        assert answer.status_code == 200, answer.content
        return [hit["text"] for hit in answer.json()["hits"]]

    def lists(self, query: str = "") -> list[str]:
        answer = self.get("memories", query)
        assert answer.status_code == 200, answer.content
        return [item["text"] for item in answer.json()["items"]]


@pytest.fixture
def alice(db: None) -> Caller:
    return Caller(make_token(ALICE))


@pytest.fixture
def bob(db: None) -> Caller:
    return Caller(make_token(BOB))


@pytest.fixture
def carol(db: None) -> Caller:
    """Of another tenant, with Alice's name."""
    return Caller(make_token(CAROL))


def refused(answer: Any, status: int, code: str, field: str | None = None) -> None:
    """Assert that an answer is our problem+json."""
    assert answer.status_code == status, answer.content
    assert answer.headers["Content-Type"] == "application/problem+json"
    body = answer.json()
    assert body["type"] == f"urn:prism-memory:error:{code}"
    assert body["status"] == status
    assert body["title"]
    assert body["detail"]
    assert field is None or body.get("field") == field, body
