"""Who may see how it runs, and of whom."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from prism_memory import metrics
from prism_memory.metrics.walking import walk
from prism_memory.types import Permission, Scope
from tests.api.conftest import Caller, make_token, refused
from tests.factories import make_memory
from tests.metrics.shown import value

pytestmark = pytest.mark.django_db

TOKEN = "a-token-of-a-scraper"


@pytest.fixture(autouse=True)
def _rows() -> None:
    walk.forget()
    for tenant in ("acme", "globex"):
        make_memory(Scope(tenant)).remember("tea")


def test_a_tenants_operator_sees_that_tenant_alone() -> None:
    caller = Caller(make_token(Scope("acme"), (Permission.OPERATE,)))
    answer = caller.get("metrics")
    assert answer.status_code == 200
    assert answer.headers["Content-Type"] == metrics.MEDIA_TYPE
    assert answer.headers["Cache-Control"] == "no-store"
    text = answer.content.decode()
    assert value(text, "pending_embeddings", alias="default") == 1
    assert "prism_memory_records" not in text  # of all tenants


def test_a_scraper_with_the_token_sees_all(
    settings: Any, django_assert_num_queries: Any
) -> None:
    settings.PRISM_MEMORY = settings.PRISM_MEMORY | {"METRICS_TOKEN": TOKEN}
    with django_assert_num_queries(2 + 1 + 3 + 1):  # no look-up of a key
        text = Caller(TOKEN).get("metrics").content.decode()
    assert value(text, "pending_embeddings", alias="default") == 2
    refused(Caller(TOKEN + "x").get("metrics"), 401, "unauthenticated")
    refused(Caller(TOKEN).get("memories"), 401, "unauthenticated")


@pytest.mark.parametrize("token", ["", "short"])
def test_no_token_and_a_short_one_open_nothing(settings: Any, token: str) -> None:
    settings.PRISM_MEMORY = settings.PRISM_MEMORY | {"METRICS_TOKEN": token}
    for header in ({}, {"Authorization": f"Bearer {token}"}):
        answer = Client().get("/api/v1/metrics", headers=header)
        refused(answer, 401, "unauthenticated")


def test_an_owners_key_opens_it_not_and_neither_does_another_permission() -> None:
    owner = Caller(make_token(Scope("acme", "ada"), (Permission.OPERATE,)))
    refused(owner.get("metrics"), 403, "scope", "scope")
    reader = Caller(make_token(Scope("acme"), (Permission.GOVERN,)))
    refused(reader.get("metrics"), 403, "permission", "permission")


def test_without_prometheus_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(metrics, "is_there", lambda: False)
    caller = Caller(make_token(Scope("acme"), (Permission.OPERATE,)))
    refused(caller.get("metrics"), 501, "unsupported")
