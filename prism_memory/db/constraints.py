"""Keys that begin with the tenant, declared in ``Meta.constraints`` by one line each.

Django sees single-column keys; PostgreSQL holds composite ones, so that a row of one
tenant can never point at a row of another, whatever the code does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db import models
from django.db.backends.ddl_references import Statement, Table


class _TenantConstraint(models.BaseConstraint):
    """A constraint made by ALTER TABLE, once its table stands."""

    def constraint_sql(self, model: Any, schema_editor: Any) -> Any:
        schema_editor.deferred_sql.append(self.create_sql(model, schema_editor))

    def create_sql(self, model: Any, schema_editor: Any) -> Any:
        table = model._meta.db_table
        return Statement(
            f"ALTER TABLE %(table)s {self.clause(model, schema_editor.quote_name)}",
            table=Table(table, schema_editor.quote_name),
        )

    def clause(self, model: type[models.Model], quote: Any) -> str:
        raise NotImplementedError

    def validate(self, *args: Any, **kwargs: Any) -> None:
        """Leave it to the database: a look-up here would only race."""

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, _TenantConstraint)
            and self.deconstruct() == other.deconstruct()
        )

    def __hash__(self) -> int:
        return hash(self.name)


class TenantKey(_TenantConstraint):
    """PRIMARY KEY (tenant, id), in place of Django's PRIMARY KEY (id)."""

    def clause(self, model: type[models.Model], quote: Any) -> str:
        old = quote(f"{model._meta.db_table}_pkey")
        key = quote(model._meta.pk.column)
        return (
            f"DROP CONSTRAINT {old}, ADD CONSTRAINT {quote(self.name)} "
            f"PRIMARY KEY ({quote('tenant')}, {key})"
        )

    def remove_sql(self, model: Any, schema_editor: Any) -> Any:
        quote = schema_editor.quote_name
        old = quote(f"{model._meta.db_table}_pkey")
        key = quote(model._meta.pk.column)
        return Statement(
            f"ALTER TABLE %(table)s DROP CONSTRAINT {quote(self.name)}, "
            f"ADD CONSTRAINT {old} PRIMARY KEY ({key})",
            table=Table(model._meta.db_table, quote),
        )


class TenantReference(_TenantConstraint):
    """FOREIGN KEY (tenant, field) REFERENCES its table (tenant, id).

    Args:
        field: Name of a ``TenantForeignKey`` of the model.
        cascade: The rows go with what they point at: for counts and notes about it,
            which must never keep it.
        also: Columns of both tables that must be equal too. The other table needs a
            unique constraint on (tenant, these, id).
    """

    def __init__(
        self,
        *,
        field: str,
        name: str,
        cascade: bool = False,
        also: Sequence[str] = (),
    ) -> None:
        super().__init__(name=name)
        self.field = field
        self.cascade = cascade
        self.also = tuple(also)

    def deconstruct(self) -> tuple[str, Sequence[Any], dict[str, Any]]:
        path, args, kwargs = super().deconstruct()
        own: dict[str, Any] = {"field": self.field}
        if self.cascade:
            own["cascade"] = True
        if self.also:
            own["also"] = self.also
        return path, args, {**kwargs, **own}

    def clause(self, model: type[models.Model], quote: Any) -> str:
        field: Any = model._meta.get_field(self.field)
        target = field.remote_field.model._meta
        shared = "".join(f"{quote(name)}, " for name in ("tenant", *self.also))
        return (
            f"ADD CONSTRAINT {quote(self.name)} "
            f"FOREIGN KEY ({shared}{quote(field.column)}) "
            f"REFERENCES {quote(target.db_table)} "
            f"({shared}{quote(target.pk.column)})"
            f"{' ON DELETE CASCADE' if self.cascade else ''}"
        )

    def remove_sql(self, model: Any, schema_editor: Any) -> Any:
        quote = schema_editor.quote_name
        return Statement(
            f"ALTER TABLE %(table)s DROP CONSTRAINT {quote(self.name)}",
            table=Table(model._meta.db_table, quote),
        )
