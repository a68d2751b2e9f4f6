"""SQL that Django's ORM composes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from django.contrib.postgres.search import SearchVectorField
from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models.sql.compiler import SQLCompiler
from django.utils.deconstruct import deconstructible

from prism_memory.db.languages import LANGUAGES

SCOPE_MARK: Final = "\x1f"
"""First character of the lexeme that names a row's scope. No parser of PostgreSQL
lets it into a word, so no text can forge that lexeme."""

_PARAMETER: Final = re.compile(r"%\((\w+)\)s")


@deconstructible(path="prism_memory.db.expressions.RecordSearchVector")
class RecordSearchVector(models.Func):
    """What full text searches: the words in the row's language, and its scope.

    A CASE over PostgreSQL's own configurations is immutable, so the column can be
    generated: no trigger (Citus) and no ``regconfig`` column (pg_upgrade).
    """

    def __init__(self) -> None:
        super().__init__(
            models.F("language"),
            models.F("lexical_text"),
            models.F("text"),
            models.F("scope"),
            output_field=SearchVectorField(),
        )

    def as_sql(  # type: ignore[override] # Func's extra keywords have no use here
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper
    ) -> tuple[str, list[Any]]:
        del connection
        language, lexical, text, scope = (
            compiler.compile(source)[0] for source in self.get_source_expressions()
        )
        words = f"coalesce({lexical}, {text})"
        cases = " ".join(
            f"WHEN '{name}' THEN to_tsvector('{name}'::regconfig, {words})"
            for name in LANGUAGES
        )
        mark = f"array_to_tsvector(ARRAY[chr({ord(SCOPE_MARK)}) || {scope}::text])"
        return f"((CASE {language} {cases} END) || {mark})", []


class OctetLength(models.Func):
    """Length in bytes."""

    function = "octet_length"
    output_field = models.IntegerField()


class UnitVector(models.Func):
    """True for null and for a vector that an index can hold, of length 1.

    The type itself refuses NaN and infinities. The bounds allow for half precision.
    """

    template = (
        "(%(expressions)s IS NULL OR (vector_dims(%(expressions)s) <= 4000"
        " AND l2_norm(%(expressions)s) BETWEEN 0.99 AND 1.01))"
    )
    conditional = True
    output_field = models.BooleanField()


class NamedCondition(models.Expression):
    """A condition from ``db/sql``, over the rows of the model it filters.

    Args:
        sql: The text; it calls the row ``record``, and no other, and its parameters
            ``%(name)s``.
        parameters: A value for each parameter.
    """

    conditional = True

    def __init__(self, sql: str, parameters: Mapping[str, Any]) -> None:
        super().__init__(output_field=models.BooleanField())
        if "AS record" in sql:  # what follows would be read as the row outside
            message = "A condition on a model's rows calls no other row record."
            raise ValueError(message)
        self.sql = sql
        self.parameters = parameters
        self.row: Any = models.F("pk")

    def get_source_expressions(self) -> list[Any]:
        return [self.row]

    def set_source_expressions(self, exprs: list[Any]) -> None:  # type: ignore[override]
        (self.row,) = exprs

    def as_sql(  # type: ignore[override] # any parameter, not only text and numbers
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper
    ) -> tuple[str, list[Any]]:
        del connection
        alias = compiler.quote_name_unless_alias(self.row.alias)
        text = self.sql.replace("record.", f"{alias}.")
        names = _PARAMETER.findall(text)
        return _PARAMETER.sub("%s", text), [self.parameters[name] for name in names]
