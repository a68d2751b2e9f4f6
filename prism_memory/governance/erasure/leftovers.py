"""Prove that nothing of an erased target is left in the app's tables and exports.

Two looks: for rows that bear the names or the id of the target where the registry says
that they go, and for files of exports that may hold it; and for words that the operator
kept, in every column of every table, and in every file of the tenant's exports.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from django.apps import apps
from django.db.models import Model, Q

from prism_memory.db.tenancy import acting_for, for_tenant
from prism_memory.governance.erasure.copies import EXPORTS
from prism_memory.governance.erasure.files_left import count_files, count_files_with
from prism_memory.governance.erasure.target import (
    Target,
    find,
    holds_by_name,
    named_tables,
)
from prism_memory.governance.erasure.words import count_in, forms
from prism_memory.governance.erasure.words import wanted as words_of
from prism_memory.lifecycle.registry import (
    ERASURE,
    Kept,
    WithRecord,
    WithScope,
    WithSource,
)
from prism_memory.models import Record, Source
from prism_memory.models import Scope as ScopeRow
from prism_memory.types import ErasureLevel, Scope

OUTSIDE: Final = (
    "Rows that are deleted stay in the files of the tables until VACUUM.",
    "The write-ahead log, its archive and replicas that lag hold what was written.",
    "Backups and snapshots hold it until they are gone.",
    "What was disclosed before: exports that were downloaded, answers, prompts.",
    "Logs and stores of the providers that embedded, reranked or graded it.",
    "The host's own tables, logs, caches, and the results its Celery keeps.",
)
"""What lies outside of what this look, or the database itself, has power over."""


@dataclass(frozen=True)
class Leftover:
    """Rows that are still there.

    Args:
        place: Table and column, or ``exports``.
        rows: How many; of ``exports``, files.
        why: ``target``, or ``words`` that were searched for; ``installation`` where
            they stand in rows of no tenant.
    """

    place: str
    rows: int
    why: str


@for_tenant
def leftovers(
    *,
    using: str,
    scope: Scope,
    record_id: uuid.UUID | None = None,
    source_key: str | None = None,
    words: Sequence[str] = (),
) -> list[Leftover]:
    """Return what is left of a target, and where words still stand in its tenant.

    Reads every table of the app, row by row where words are given, and then every file
    of the tenant's exports too. What a hold keeps is found too: the receipt says that
    it was kept.

    Args:
        words: Searched for literally, in whatever case and composition, in every column
            of whatever type: in the tenant's rows, and in those of no tenant.

    Raises:
        Invalid: As ``erase``.
        Misconfigured: The storage of exports failed.
    """
    target = find(using=using, scope=scope, record_id=record_id, source_key=source_key)
    found = [
        *_of_target(using, target),
        Leftover(EXPORTS, count_files(using=using, target=target), "target"),
        *_of_words(using, target.tenant, words),
    ]
    return [one for one in found if one.rows]


def _of_target(using: str, target: Target) -> Iterator[Leftover]:
    if target.is_scope:
        yield from _of_scope(using, target)
    elif target.level is ErasureLevel.SOURCE:
        yield _counted(using, Source, Q(tenant=target.tenant, id=target.id), "id")
        for model, how in ERASURE.items():
            if isinstance(how, WithSource) or model is Record:
                column = how.column if isinstance(how, WithSource) else "source_id"
                where = Q(**{"tenant": target.tenant, column: target.id})
                yield _counted(using, model, where, column)
    else:
        for model, how in ERASURE.items():
            if isinstance(how, WithRecord):
                where = how.rows(target.tenant, [target.id])
                yield _counted(using, model, where, how.columns[0])


def _of_scope(using: str, target: Target) -> Iterator[Leftover]:
    tables: list[type[Model]] = [ScopeRow, *named_tables()]
    for model in tables:
        yield _counted(using, model, target.by_names(), "owner")
    holds = holds_by_name(using=using, target=target)
    yield Leftover("prism_memory_legalhold.owner", holds.count(), "target")
    places = ScopeRow.objects.using(using).filter(target.by_names())
    ids = [*places.values_list("id", flat=True), target.scope.id]
    for model, how in ERASURE.items():
        if isinstance(how, Kept) or model is ScopeRow:
            continue
        named = set(how.columns) if isinstance(how, WithScope) else set()
        for column in sorted(named | (_column_names(model) & {"scope_id"})):
            where = Q(**{"tenant": target.tenant, f"{column}__in": ids})
            yield _counted(using, model, where, column)


def _column_names(model: type[Model]) -> set[str]:
    return {str(field.column) for field in model._meta.concrete_fields}  # noqa: SLF001


def _counted(using: str, model: type[Model], where: Q, column: str) -> Leftover:
    rows = model._base_manager.using(using).filter(where)  # noqa: SLF001
    table = model._meta.db_table  # noqa: SLF001 - Django has no other name for it
    return Leftover(f"{table}.{column}", rows.count(), "target")


def _of_words(using: str, tenant: str, words: Sequence[str]) -> Iterator[Leftover]:
    wanted = words_of(words)
    if not wanted:
        return
    for model in apps.get_app_config("prism_memory").get_models():
        table = model._meta.db_table  # noqa: SLF001
        for why, owner in (("words", tenant), ("installation", "")):
            with acting_for(owner):
                found = count_in(using, model, owner, wanted)
            for column, rows in found.items():
                yield Leftover(f"{table}.{column}", rows, why)
    files = count_files_with(using=using, tenant=tenant, words=forms(wanted))
    yield Leftover(EXPORTS, files, "words")
