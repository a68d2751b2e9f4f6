"""Who a request is: access keys, the host's own users, CSRF, throttles."""

from __future__ import annotations

import datetime as dt
from typing import Any, ClassVar

import pytest
from django.contrib.auth.models import User
from django.http import HttpRequest
from django.test import Client, override_settings
from django.utils import timezone
from rest_framework.throttling import SimpleRateThrottle

from prism_memory.api import auth
from prism_memory.models import AccessKey, Record
from prism_memory.types import Actor, Grant, Origin, Permission, Scope, Trust
from tests.api.conftest import Caller, make_token, refused

pytestmark = pytest.mark.django_db

RESOLVED = {
    "EMBEDDERS": {},
    "API_RESOLVER": "tests.api.test_auth.grant_of",
}


def grant_of(request: HttpRequest) -> Grant | None:
    """One owner per Django user, as docs/rest.md shows it."""
    user = request.user
    if not user.is_authenticated:
        return None
    name = f"user:{user.pk}"
    return Grant(
        scope=Scope("acme", owner=name),
        permissions=frozenset({Permission.READ, Permission.WRITE}),
        origin=Origin(Trust.USER, name),
        actor=Actor(name),
    )


def no_grant(request: HttpRequest) -> Any:
    return {"scope": "acme"}


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
def test_the_scheme_is_read_in_any_case(alice: Caller, scheme: str) -> None:
    answer = Client().get(
        "/api/v1/limits", headers={"Authorization": f"{scheme} {alice.token}"}
    )

    assert answer.status_code == 200


@pytest.mark.parametrize("scheme", ["Basic", "Token", "", "Bearer Bearer"])
def test_another_scheme_opens_nothing(alice: Caller, scheme: str) -> None:
    answer = Client().get(
        "/api/v1/limits", headers={"Authorization": f"{scheme} {alice.token}"}
    )

    refused(answer, 401, "unauthenticated")


def test_a_token_in_the_query_opens_nothing(alice: Caller) -> None:
    refused(Client().get(f"/api/v1/limits?token={alice.token}"), 401, "unauthenticated")


def test_a_key_ends_at_its_expiry(alice: Caller) -> None:
    now = timezone.now()
    AccessKey.objects.update(expires_at=now + dt.timedelta(hours=1))
    assert alice.get("limits").status_code == 200

    AccessKey.objects.update(expires_at=now)
    refused(alice.get("limits"), 401, "unauthenticated")


def test_the_use_of_a_key_is_noted(alice: Caller) -> None:
    alice.get("limits")

    assert AccessKey.objects.get().last_used_at is not None


def test_the_keys_trust_is_the_records(db: None) -> None:
    """case_C27."""
    Caller(make_token(trust=Trust.TOOL)).remember("The tool says so.")

    assert Record.objects.get().trust == "tool"


def signed_in(name: str, *, csrf: bool = False) -> Client:
    client = Client(enforce_csrf_checks=csrf)
    client.force_login(User.objects.create_user(name))
    return client


def remember(client: Client, text: str, **headers: str) -> Any:
    return client.post(
        "/api/v1/memories", {"text": text}, "application/json", headers=headers
    )


@override_settings(PRISM_MEMORY=RESOLVED)
def test_a_resolver_gives_each_user_their_own_memory() -> None:
    alice, bob = signed_in("alice"), signed_in("bob")

    assert remember(alice, "Alice's").status_code == 201

    assert len(alice.get("/api/v1/memories").json()["items"]) == 1
    assert bob.get("/api/v1/memories").json()["items"] == []
    (found,) = alice.get("/api/v1/memories").json()["items"]
    assert found["trust"] == "user"
    assert found["writer"] == found["scope"]["owner"]


@override_settings(PRISM_MEMORY=RESOLVED)
def test_a_resolver_that_vouches_for_nobody_is_a_401() -> None:
    refused(Client().get("/api/v1/memories"), 401, "unauthenticated")


@override_settings(PRISM_MEMORY=RESOLVED)
def test_a_resolvers_grant_has_its_permissions_and_its_bounds() -> None:
    client = signed_in("alice")
    (record_id,) = remember(client, "Alice's").json()["accepted"]

    answer = client.post(
        f"/api/v1/memories/{record_id}/consent", {"visible": False}, "application/json"
    )
    refused(answer, 403, "permission")
    wider = client.get("/api/v1/memories", headers={"Prism-Owner": "user:0"})
    refused(wider, 403, "scope")


@override_settings(PRISM_MEMORY=RESOLVED)
def test_a_session_needs_a_csrf_token_to_write() -> None:
    client = signed_in("alice", csrf=True)

    refused(remember(client, "forged"), 403, "permission")
    assert client.get("/api/v1/memories").json()["items"] == []

    client.get("/admin/login/")
    client.cookies["csrftoken"] = "a" * 32
    assert remember(client, "meant", **{"X-CSRFToken": "a" * 32}).status_code == 201


@override_settings(PRISM_MEMORY=RESOLVED)
def test_an_access_key_still_opens_its_own(alice: Caller) -> None:
    alice.client = signed_in("bob", csrf=True)

    alice.remember("By key.")

    assert Record.objects.get().writer.startswith("key:")


@override_settings(PRISM_MEMORY=RESOLVED)
def test_a_wrong_access_key_does_not_fall_back_to_the_session(alice: Caller) -> None:
    client = signed_in("alice")

    answer = client.get(
        "/api/v1/memories", headers={"Authorization": f"Bearer {alice.token}x"}
    )

    refused(answer, 401, "unauthenticated")


@override_settings(PRISM_MEMORY=RESOLVED | {"API_AUTHENTICATION": ()})
def test_a_host_can_do_without_access_keys(alice: Caller) -> None:
    refused(alice.get("memories"), 401, "unauthenticated")
    assert signed_in("alice").get("/api/v1/memories").status_code == 200


@override_settings(
    PRISM_MEMORY={
        "API_AUTHENTICATION": ("rest_framework.authentication.SessionAuthentication",)
    }
)
def test_a_user_without_a_grant_is_a_401() -> None:
    refused(signed_in("alice").get("/api/v1/memories"), 401, "unauthenticated")


@override_settings(PRISM_MEMORY={"API_RESOLVER": "tests.api.test_auth.no_grant"})
def test_a_resolver_that_answers_something_else_is_a_503() -> None:
    refused(Client().get("/api/v1/memories"), 503, "misconfigured")


class Seeing(auth.AccessKeyAuthentication):
    """Keeps what it found, for the test below."""

    found: ClassVar[list[Any]] = []

    def authenticate(self, request: Any) -> Any:
        answer = super().authenticate(request)
        self.found.append(answer)
        return answer


@override_settings(PRISM_MEMORY={"API_AUTHENTICATION": ("tests.api.test_auth.Seeing",)})
def test_who_calls_is_no_row_of_the_hosts_users(
    alice: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Seeing, "found", [])

    alice.get("limits")

    ((user, grant),) = Seeing.found
    assert str(user) == user.pk == grant.actor.name
    assert user.is_authenticated
    assert not any((user.is_anonymous, user.is_staff, user.is_superuser))


class OncePerDay(SimpleRateThrottle):
    rate = "1/day"

    def get_cache_key(self, request: Any, view: Any) -> str:  # noqa: ARG002
        return f"prism-memory-test-{request.user.pk}"


@override_settings(
    PRISM_MEMORY={"API_THROTTLES": ("tests.api.test_auth.OncePerDay",)},
)
def test_a_host_can_throttle(alice: Caller, bob: Caller) -> None:
    """B499."""
    assert alice.get("limits").status_code == 200

    answer = alice.get("limits")
    refused(answer, 429, "throttled")
    assert 0 < int(answer.headers["Retry-After"]) <= 86_400
    assert bob.get("limits").status_code == 200
