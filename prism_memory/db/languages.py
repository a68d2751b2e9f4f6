"""The text search configurations that every PostgreSQL since 15 has."""

from __future__ import annotations

from typing import Final

LANGUAGES: Final = (
    "arabic",
    "armenian",
    "basque",
    "catalan",
    "danish",
    "dutch",
    "english",
    "finnish",
    "french",
    "german",
    "greek",
    "hindi",
    "hungarian",
    "indonesian",
    "irish",
    "italian",
    "lithuanian",
    "nepali",
    "norwegian",
    "portuguese",
    "romanian",
    "russian",
    "serbian",
    "simple",
    "spanish",
    "swedish",
    "tamil",
    "turkish",
    "yiddish",
)
"""Frozen: the generated column of records names them, and changing it rewrites all."""
