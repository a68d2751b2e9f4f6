"""Watch the SQL of a block: every statement on a tenant's table names the tenant."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from django.apps import apps
from django.db import connection
from django.db.models import CompositePrimaryKey, Model

from prism_memory.db.constraints import TenantKey

WORDS: Final = frozenset(
    {"as", "cross", "for", "group", "inner", "join", "left", "limit", "on", "order"}
    | {"select", "set", "using", "values", "where", "with"}
)
"""What may follow a table's name and is no alias."""

_USE: Final = re.compile(
    r'\b(?P<verb>FROM|JOIN|UPDATE|INTO)\s+"?(?P<table>prism_memory_[a-z]+)"?'
    r'(?:\s+(?:AS\s+)?"?(?P<alias>[a-z_]\w*)"?)?',
    re.IGNORECASE,
)


def tenant_models() -> list[type[Model]]:
    """Return the models whose rows belong to a tenant, by their keys."""
    return [
        model
        for model in apps.get_app_config("prism_memory").get_models()
        if isinstance(model._meta.pk, CompositePrimaryKey)
        or any(isinstance(c, TenantKey) for c in model._meta.constraints)
    ]


def unnamed_tables(sql: str) -> list[str]:
    """Return the tenants' tables that a statement reads or writes without the tenant.

    A table under an alias needs ``alias.tenant`` compared with something, in the same
    SELECT: another's of the same alias does not count. One without an alias needs its
    own name's or a bare ``tenant``. An insert needs the column, and so does its
    conflict's target.
    """
    tables = {model._meta.db_table for model in tenant_models()}
    return [
        use["table"]
        for use in _USE.finditer(sql)
        if use["table"] in tables and not _names_tenant(use, sql)
    ]


def _names_tenant(use: re.Match[str], sql: str) -> bool:
    if use["verb"].upper() == "INTO":
        lists = [sql[sql.index("(", use.end("table")) :]]
        lists += re.findall(r"ON CONFLICT\s*(\(.*)", sql, re.DOTALL)
        return all(re.search(r"\btenant\b", part.split(")")[0]) for part in lists)
    table, alias = use["table"], use["alias"]
    name = table if alias is None or alias.lower() in WORDS else alias
    tenant = rf'\b{name}"?\."?tenant\b"?'
    if name == table:
        tenant = rf'(?:{tenant}|(?<![.\w])"?tenant\b"?)'
    compared = rf"{tenant}\s*(?:=|>|IN\b)|=\s*{tenant}"
    return bool(re.search(compared, own_select(sql, use.start()), re.IGNORECASE))


def own_select(sql: str, place: int) -> str:
    """Return the SELECT around a place, without those nested in it or united to it."""
    depth, begin = 0, place
    while begin and depth >= 0:
        begin -= 1
        depth += {")": 1, "(": -1}.get(sql[begin], 0)
    begin += depth < 0
    own, before = _without_nested(sql[begin:]), _without_nested(sql[begin:place])
    parts = re.split(r"\bUNION\b", own)
    return parts[len(re.findall(r"\bUNION\b", before))]


def _without_nested(sql: str) -> str:
    """Return it up to the parenthesis that ends it, without the SELECTs inside."""
    kept, stack = [], [True]
    for place, sign in enumerate(sql):
        if sign == "(":
            nested = re.match(r"\(\s*(SELECT|WITH)\b", sql[place:], re.IGNORECASE)
            stack.append(stack[-1] and not nested)
        if sign == ")":
            stack.pop()
            if not stack:
                break
        if stack[-1]:
            kept.append(sign)
    return "".join(kept)


@dataclass
class Captured:
    """The statements of a block, with their parameters."""

    statements: list[tuple[str, Any]] = field(default_factory=list)

    def on_tenants(self) -> list[tuple[str, Any]]:
        """Return those that touch a tenant's table."""
        tables = {model._meta.db_table for model in tenant_models()}
        return [
            (sql, given)
            for sql, given in self.statements
            if tables & {use["table"] for use in _USE.finditer(sql)}
        ]

    def check(self, tenant: str) -> None:
        """Assert that every such statement names the tenant, and binds this one."""
        for sql, given in self.on_tenants():
            assert not unnamed_tables(sql), sql
            bound = given.values() if isinstance(given, Mapping) else given or ()
            assert tenant in [value for value in bound if isinstance(value, str)], sql


@contextmanager
def captured() -> Iterator[Captured]:
    """Record every statement that the block runs on the default connection."""
    seen = Captured()

    def note(execute: Any, sql: Any, params: Any, many: bool, context: Any) -> Any:
        rows = params if many else [params]
        seen.statements.extend((str(sql), row) for row in rows)
        return execute(sql, params, many, context)

    with connection.execute_wrapper(note):
        yield seen


@contextmanager
def tenant_in_every_statement(tenant: str) -> Iterator[Captured]:
    """Fail if the block touches a tenant's table without naming ``tenant``."""
    with captured() as seen:
        yield seen
    seen.check(tenant)
