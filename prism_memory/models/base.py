"""What every tenant's table shares. Every statement names the tenant."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from functools import reduce
from operator import and_
from typing import Any, Final

from django.db import models
from django.db.models import Q
from django.db.models.lookups import LessThanOrEqual

from prism_memory.db.expressions import OctetLength
from prism_memory.db.fields import TenantField
from prism_memory.types import NAME_BYTES, uuid7

CALENDAR: Final = (
    dt.datetime(1, 1, 1, tzinfo=dt.UTC),
    dt.datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=dt.UTC),
)
"""What Python's times can hold; PostgreSQL's go further, and to infinity."""


def at_most_a_name(field: str, name: str) -> models.CheckConstraint:
    """Return a check that ``field`` is at most 256 bytes: what a btree entry holds."""
    return models.CheckConstraint(
        condition=LessThanOrEqual(OctetLength(field), NAME_BYTES), name=name
    )


def in_calendar(*fields: str, name: str) -> models.CheckConstraint:
    """Return a check that times can be read: none is infinite or beyond year 9999."""
    within = (
        Q(**{f"{f}__isnull": True}) | Q(**{f"{f}__range": CALENDAR}) for f in fields
    )
    return models.CheckConstraint(condition=reduce(and_, within), name=name)


def one_of(field: str, choices: type[models.TextChoices], name: str) -> Any:
    """Return a check that ``field`` holds one of ``choices``."""
    return models.CheckConstraint(
        condition=Q(**{f"{field}__in": [str(value) for value in choices.values]}),
        name=name,
    )


def names(field: str, pattern: str, name: str) -> models.CheckConstraint:
    """Return a check that ``field`` is written as ``pattern`` says."""
    return models.CheckConstraint(
        condition=Q(**{f"{field}__regex": pattern}), name=name
    )


class TenantModel(models.Model):
    """A row of one tenant.

    Django identifies rows by ``id`` alone; here ``save``, ``delete`` and
    ``refresh_from_db`` name the tenant too.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant = TenantField(editable=False)

    class Meta:
        abstract = True

    def refresh_from_db(
        self,
        using: str | None = None,
        fields: Iterable[str] | None = None,
        from_queryset: models.QuerySet[Any] | None = None,
    ) -> None:
        rows = from_queryset
        if rows is None:
            rows = type(self)._base_manager.using(using or self._state.db)
        super().refresh_from_db(using, fields, rows.filter(tenant=self.tenant))

    def delete(
        self,
        using: str | None = None,
        keep_parents: bool = False,
    ) -> tuple[int, dict[str, int]]:
        """Delete the row; children are the caller's to remove first."""
        del keep_parents  # there are none
        rows = type(self)._base_manager.using(using or self._state.db)
        rows = rows.filter(tenant=self.tenant, pk=self.pk)
        count = rows._raw_delete(rows.db)
        return count, {self._meta.label: count}

    def _do_update(self, base_qs: Any, *args: Any, **kwargs: Any) -> Any:
        named = base_qs.filter(tenant=self.tenant)
        return super()._do_update(named, *args, **kwargs)
