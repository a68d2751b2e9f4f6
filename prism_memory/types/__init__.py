"""The values that callers and the floors of this app exchange.

All are frozen and valid from construction on. Pure: no Django, no database.
"""

from prism_memory.types.answers import JSON, Candidate, Hit, Item, Page, Recalled
from prism_memory.types.checks import (
    METADATA_DEPTH,
    NAME_BYTES,
    check_bigint,
    check_bool,
    check_count,
    check_finite,
    check_json,
    check_name,
    check_part,
    check_text,
    check_time,
    check_uuid,
    check_wish,
    to_json,
    uuid7,
)
from prism_memory.types.entries import MAX_ORDINAL, Consent, Entry, Lineage, SourceRef
from prism_memory.types.scopes import SCOPE_NAMESPACE, Actor, Grant, Origin, Scope
from prism_memory.types.vectors import EmbedderIdentity, Role, Vector
from prism_memory.types.vocabulary import (
    ConsentScope,
    ConsentSource,
    Kind,
    Permission,
    ReadMode,
    Tier,
    TombstoneReason,
    Trust,
    check_choice,
)

__all__ = [
    "JSON",
    "MAX_ORDINAL",
    "METADATA_DEPTH",
    "NAME_BYTES",
    "SCOPE_NAMESPACE",
    "Actor",
    "Candidate",
    "Consent",
    "ConsentScope",
    "ConsentSource",
    "EmbedderIdentity",
    "Entry",
    "Grant",
    "Hit",
    "Item",
    "Kind",
    "Lineage",
    "Origin",
    "Page",
    "Permission",
    "ReadMode",
    "Recalled",
    "Role",
    "Scope",
    "SourceRef",
    "Tier",
    "TombstoneReason",
    "Trust",
    "Vector",
    "check_bigint",
    "check_bool",
    "check_choice",
    "check_count",
    "check_finite",
    "check_json",
    "check_name",
    "check_part",
    "check_text",
    "check_time",
    "check_uuid",
    "check_wish",
    "to_json",
    "uuid7",
]
