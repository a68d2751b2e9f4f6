"""Retention where PostgreSQL itself keeps tenants apart."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest

from prism_memory.db.tenancy import acting_for
from prism_memory.models import Record
from tests.factories import make_memory, make_scope
from tests.governance.retention.test_tenants import calls
from tests.governance.retention.written import make_policy, old
from tests.governance.test_row_security import guarded
from tests.swept import sweep

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _site(db: None) -> Iterator[None]:
    with guarded():
        yield


def remembered(tenant: str) -> uuid.UUID:
    with acting_for(tenant):
        return old(9, scope=make_scope(tenant=tenant))


def left(tenant: str) -> int:
    with acting_for(tenant):
        return Record.objects.count()


def test_every_verb_acts_for_its_tenant() -> None:
    policy = make_policy(expired=True)
    for call in calls(policy).values():
        remembered("acme")
        call()


def test_a_sweep_takes_one_tenant_after_the_other() -> None:
    for tenant in ("acme", "globex", "initech"):
        remembered(tenant)
        if tenant != "initech":
            make_policy(tenant=tenant, max_age_days=1)
    sweep("retention")
    assert [left(tenant) for tenant in ("acme", "globex", "initech")] == [0, 0, 1]


def test_an_application_acts_for_the_memorys_tenant() -> None:
    remembered("acme")
    remembered("globex")
    assert make_memory().apply_retention(max_age_days=1).deleted == 1
    assert (left("acme"), left("globex")) == (0, 1)
