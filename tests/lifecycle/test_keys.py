"""Keys of the HTTP API: shown once, hashed, bounded, revocable, audited."""

from __future__ import annotations

import datetime as dt
import uuid
from typing import Any

import pytest
from django.db import connection, transaction

from prism_memory.errors import Conflict, Invalid, LimitExceeded, NotVisible
from prism_memory.lifecycle import authenticate, create_key, revoke_key
from prism_memory.models import AccessKey, AuditEvent
from prism_memory.types import Actor, Grant, Origin, Permission, Trust
from tests.factories import NOON, make_scope
from tests.tables import holding
from tests.together import together

pytestmark = pytest.mark.django_db

HOUR = dt.timedelta(hours=1)


def make_key(**given: Any) -> tuple[AccessKey, str]:
    defaults: dict[str, Any] = {
        "using": "default",
        "scope": make_scope(agent="", thread=""),
        "actor": Actor("user:7"),
        "label": "Ada's laptop",
        "permissions": [Permission.READ, Permission.WRITE],
        "at": NOON,
    }
    return create_key(**{**defaults, **given})


def opens(token: str, at: dt.datetime = NOON) -> Grant | None:
    return authenticate(using="default", token=token, at=at)


def revoke(key_id: uuid.UUID) -> None:
    revoke_key(using="default", key_id=key_id, actor=Actor("user:8"), at=NOON)


class TestCreating:
    def test_the_token_opens_what_was_granted(self):
        key, token = make_key(trust=Trust.TOOL)
        assert opens(token) == Grant(
            scope=make_scope(agent="", thread=""),
            permissions=frozenset({Permission.READ, Permission.WRITE}),
            origin=Origin(Trust.TOOL, f"key:{key.id}"),
            actor=Actor(f"key:{key.id}"),
        )

    def test_the_secret_is_in_the_token_only(self):
        key, token = make_key()
        secret = token.removeprefix(f"pm_{key.id.hex}_")
        assert len(secret) >= 43
        assert holding(secret) == holding(token) == []
        stored = AccessKey.objects.values().get(id=key.id)
        assert secret not in repr(stored)
        assert secret not in repr(vars(key))

    def test_two_keys_share_nothing(self):
        (first, one), (second, two) = make_key(), make_key()
        assert first.id != second.id
        swapped = f"pm_{first.id.hex}_{two.rpartition(second.id.hex)[2][1:]}"
        assert opens(swapped) is None
        assert opens(one)
        assert opens(two)

    @pytest.mark.parametrize(
        ("given", "field", "error"),
        [
            ({"label": " "}, "label", Invalid),
            ({"label": "a\0"}, "label", Invalid),
            ({"label": "a" * 257}, "label", LimitExceeded),
            ({"permissions": []}, "permissions", Invalid),
            ({"permissions": ["fly"]}, "permissions", Invalid),
            ({"permissions": "read"}, "permissions", Invalid),
            ({"trust": "god"}, "trust", Invalid),
            ({"expires_at": NOON}, "expires_at", Invalid),
            ({"expires_at": NOON - HOUR}, "expires_at", Invalid),
            ({"expires_at": NOON.replace(tzinfo=None)}, "expires_at", Invalid),
        ],
    )
    def test_what_makes_no_key_is_refused_and_leaves_nothing(self, given, field, error):
        with pytest.raises(error) as refused:
            make_key(**given)
        assert refused.value.field == field
        assert not AccessKey.objects.exists()
        assert not AuditEvent.objects.exists()

    def test_permissions_are_stored_once_each(self):
        twice = [Permission.WRITE, "read", Permission.WRITE]
        key, _ = make_key(permissions=twice)
        assert key.permissions == ["read", "write"]


class TestOpening:
    @pytest.mark.parametrize(
        "spoil",
        [
            lambda _: "",
            lambda _: "pm",
            lambda _: "pm__",
            lambda token: token[:-1],
            lambda token: token + "x",
            lambda token: token.upper(),
            lambda token: f" {token}",
            lambda token: token.replace("pm_", "mp_"),
            lambda token: token.rpartition("_")[0],
            lambda token: f"pm_{uuid.UUID(int=7).hex}_{token[-43:]}",
            lambda token: f"pm_nonsense_{token[-43:]}",
            lambda token: f"{token[:36]}\0",
            lambda token: f"{token[:36]}\ud800",
            lambda token: f"{token[:36]}é",
            lambda token: token * 10_000,
        ],
    )
    def test_anything_else_opens_nothing(self, spoil):
        _, token = make_key()
        assert opens(spoil(token)) is None

    def test_an_expired_key_opens_nothing(self):
        """B176: expiry is inclusive."""
        _, token = make_key(expires_at=NOON + HOUR)
        assert opens(token, NOON + HOUR - dt.timedelta(microseconds=1))
        assert opens(token, NOON + HOUR) is None

    def test_a_revoked_key_opens_nothing(self):
        key, token = make_key()
        revoke(key.id)
        assert opens(token) is None

    def test_a_refused_use_is_not_noted(self):
        key, token = make_key(expires_at=NOON + HOUR)
        assert opens(token + "x") is None
        assert opens(token, NOON + HOUR) is None
        assert AccessKey.objects.get(id=key.id).last_used_at is None

    def test_found_and_not_found_take_one_query(self, django_assert_num_queries):
        """Neither the number of queries nor their kind tells the two apart."""
        key, token = make_key()
        opens(token)
        unknown = f"pm_{uuid.UUID(int=7).hex}_{token[-43:]}"
        for given in (token, unknown, token[:-1] + "_"):
            with django_assert_num_queries(1):
                opens(given)
        revoke(key.id)
        with django_assert_num_queries(1):
            opens(token)

    def test_the_last_use_is_noted_at_most_once_a_minute(
        self, django_assert_num_queries
    ):
        key, token = make_key()

        def noted(at: dt.datetime, queries: int) -> dt.datetime | None:
            with django_assert_num_queries(queries):
                opens(token, at)
            return AccessKey.objects.get(id=key.id).last_used_at

        minute = dt.timedelta(minutes=1)
        tick = dt.timedelta(microseconds=1)
        assert noted(NOON, 2) == NOON
        assert noted(NOON + minute - tick, 1) == NOON
        assert noted(NOON + minute, 2) == NOON + minute
        # A clock that went back does not move it back.
        assert noted(NOON, 1) == NOON + minute


@pytest.mark.django_db(transaction=True)
def test_a_key_whose_row_is_locked_opens_without_waiting():
    """A backup, a slow revocation: the use is not noted then, the request goes on."""
    key, token = make_key()
    other = connection.copy()
    try:
        other.set_autocommit(False)
        with other.cursor() as cursor:
            cursor.execute(
                "SELECT 1 FROM prism_memory_accesskey WHERE id = %s FOR UPDATE",
                [key.id],
            )
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET LOCAL lock_timeout = '1s'")
            assert opens(token) is not None
        other.rollback()
    finally:
        other.close()
    assert AccessKey.objects.get(id=key.id).last_used_at is None
    assert opens(token) is not None
    assert AccessKey.objects.get(id=key.id).last_used_at == NOON


class TestRevoking:
    def test_an_unknown_key_is_not_visible(self):
        with pytest.raises(NotVisible):
            revoke(uuid.uuid4())
        assert not AuditEvent.objects.exists()

    def test_a_second_time_is_a_conflict(self):
        key, _ = make_key()
        revoke(key.id)
        with pytest.raises(Conflict):
            revoke(key.id)
        assert AuditEvent.objects.filter(action="key.revoke").count() == 1

    def test_another_key_goes_on(self):
        (first, _), (_, token) = make_key(), make_key()
        revoke(first.id)
        assert opens(token)


class TestAudit:
    def test_both_acts_are_told_without_label_or_secret(self):
        key, token = make_key(label="secret label")
        revoke(key.id)
        created, revoked = AuditEvent.objects.order_by("id")
        assert (created.actor, created.action) == ("user:7", "key.create")
        assert (revoked.actor, revoked.action) == ("user:8", "key.revoke")
        for event in (created, revoked):
            assert (event.tenant, event.target) == ("acme", f"key:{key.id}")
            assert event.detail["permissions"] == ["read", "write"]
            assert "secret label" not in repr(event.detail)
            assert token[-43:] not in repr(event.detail)


@pytest.mark.django_db(transaction=True)
def test_of_many_revocations_at_once_one_succeeds():
    key, _ = make_key()

    def attempt() -> bool:
        try:
            revoke(key.id)
        except Conflict:
            return False
        return True

    assert sorted(together([attempt] * 8)) == [False] * 7 + [True]
    assert AuditEvent.objects.filter(action="key.revoke").count() == 1
