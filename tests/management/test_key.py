"""``prism_memory_key``."""

from __future__ import annotations

import datetime as dt

import pytest
from django.core.management.base import CommandError
from django.utils import timezone

from prism_memory import lifecycle
from prism_memory.models import AccessKey, AuditEvent
from prism_memory.types import Authorization, Open, Permission, Scope, Trust
from tests.management.conftest import endings

pytestmark = pytest.mark.django_db

CREATE = ("prism_memory_key", "create", "--tenant=acme", "--label=bot")


def opened(token):
    return lifecycle.authenticate(using="default", token=token, at=timezone.now())


def test_create_prints_a_token_that_opens_its_scope_and_nothing_else(run):
    result = run(
        *CREATE,
        "--owner=ada",
        "--agent=support",
        "--permission=read",
        "--permission=write",
        "--trust=user",
    )
    token = result.out.removesuffix("\n")
    grant = opened(token)
    assert grant is not None
    assert grant.scope == Scope("acme", "ada", "support")
    assert grant.permissions == {Permission.READ, Permission.WRITE}
    assert grant.origin.trust is Trust.USER
    assert token not in result.err
    assert "not shown again" in result.err


def test_a_key_writes_as_an_agent_unless_told_otherwise(run):
    """C27."""
    grant = opened(run(*CREATE, "--permission=write").out.strip())
    assert grant is not None
    assert grant.origin.trust is Trust.AGENT


def test_the_audit_names_who_made_and_revoked_a_key(run):
    run(*CREATE, "--permission=read")
    run("prism_memory_key", "revoke", AccessKey.objects.get().id)
    events = list(AuditEvent.objects.values_list("action", "actor").order_by("id"))
    assert [action for action, _ in events] == ["key.create", "key.revoke"]
    assert all(actor.startswith("command") for _, actor in events)


def test_a_key_can_expire(run):
    run(*CREATE, "--permission=read", "--expires-in-days=30")
    key = AccessKey.objects.get()
    assert key.expires_at is not None
    assert key.expires_at - key.created_at > dt.timedelta(days=29)


def test_a_revoked_key_opens_nothing_and_is_listed_so(run):
    token = run(*CREATE, "--permission=read").out.strip()
    key_id = str(AccessKey.objects.get().id)
    assert (
        run("prism_memory_key", "revoke", key_id).out == f"Key {key_id} is revoked.\n"
    )
    assert opened(token) is None
    again = run("prism_memory_key", "revoke", key_id)
    assert (again.code, again.message) == (1, "The key was revoked before.")
    (listed,) = run("prism_memory_key", "list", "--json").json
    assert (listed["id"], listed["state"]) == (key_id, "revoked")


def test_revoking_a_key_that_is_not_there_fails(run):
    result = run("prism_memory_key", "revoke", "0192f0c1-0000-7000-8000-000000000000")
    assert result.code == 1


def test_a_key_reads_documents_as_the_principal_that_it_was_made_for(run):
    """B217."""
    words = ("--permission=read", "--principal=ada", "--group=hr", "--group=sales")
    grant = opened(run(*CREATE, *words).out.strip())
    assert grant.authorization == Authorization("ada", ["hr", "sales"], open=Open.ALLOW)
    (only,) = run("prism_memory_key", "list", "--json").json
    assert (only["principal"], only["groups"]) == ("ada", ["hr", "sales"])
    assert opened(run(*CREATE, "--permission=read").out.strip()).authorization is None


def test_a_list_shows_keys_but_no_secret(run):
    token = run(*CREATE, "--owner=ada", "--permission=read").out.strip()
    run("prism_memory_key", "create", "--tenant=beta", "--label=b", "--permission=read")
    AccessKey.objects.filter(tenant="beta").update(expires_at=timezone.now())
    result = run("prism_memory_key", "list")
    assert "acme / ada" in result.out
    assert "expired" in result.out
    assert token.rsplit("_", 1)[1] not in result.out
    (only,) = run("prism_memory_key", "list", "--tenant=acme", "--json").json
    assert (only["scope"], only["permissions"]) == ("acme / ada", ["read"])


def test_create_can_answer_in_json(run):
    found = run(*CREATE, "--permission=read", "--json").json
    assert opened(found["token"]) is not None
    assert found["state"] == "open"


@pytest.mark.parametrize(
    ("words", "field"),
    [
        (["--label= "], "label"),
        (["--thread=chat-1"], "owner"),
        (["--group=hr"], "principal"),
        (["--principal= "], "principal"),
        (["--principal=a", *(f"--group={n}" for n in range(33))], "groups"),
        (["--agent=support", "--owner= "], "owner"),
    ],
)
def test_a_refusal_names_the_field(run, words, field):
    result = run(*CREATE, "--permission=read", *words)
    assert (result.code, result.out) == (1, "")
    assert result.message.endswith(f"(field: {field})")
    assert not AccessKey.objects.exists()


def test_wrong_usage_ends_with_2():
    wrong = [
        [],
        ["create", "--tenant=acme", "--label=bot"],
        ["create", "--tenant=acme", "--label=bot", "--permission=all"],
        ["create", "--tenant=a", "--label=b", "--permission=read", "--trust=god"],
        ["revoke", "no-id"],
    ]
    out, _ = endings(*(["prism_memory_key", *words] for words in wrong))
    assert out == "2\n" * len(wrong)


def test_an_expiry_of_no_days_is_wrong_usage(run):
    result = run(*CREATE, "--permission=read", "--expires-in-days=0")
    assert "must be an integer of 1 to 36500" in result.message
    assert result.code == CommandError("").returncode
