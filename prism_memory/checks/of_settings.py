"""What can be said of the settings alone."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, cast

from django.conf import settings as django_settings
from django.core import checks
from django.utils.module_loading import import_string

from prism_memory.conf import (
    ENTITY_RESOLVERS,
    NAMESPACE,
    TOKEN_CHARACTERS,
    Setting,
    Settings,
    settings,
    user_settings,
)
from prism_memory.db.languages import LANGUAGES
from prism_memory.errors import (
    Invalid,
    LimitExceeded,
    Misconfigured,
)
from prism_memory.facts.salience import check_weights
from prism_memory.gate import configured_rules
from prism_memory.integrity import keyring
from prism_memory.recall.options import check_values
from prism_memory.recall.scoring import check_factors
from prism_memory.types import Options

IMPORTED: Final = (
    "REDACTOR",
    "IMPORTANCE_FROM",
    "ACCEPTANCE_POLICY",
    "ENTITY_RESOLVER",
    "ENTITY_JUDGE",
    "ON_DENIAL",
    "ON_INVALIDATE",
    "API_RESOLVER",
    "GATE_CLASSIFIER",
    "TRACER",
)


def check_settings(**kwargs: Any) -> list[checks.CheckMessage]:
    """Report unknown keys, wrong types and values outside their declared bounds."""
    return [
        *not_a_dict(),
        *unknown_keys(),
        *out_of_bounds(),
        *unknown_languages(),
        *unimportable(),
        *unusable_factors(),
        *unusable_weights(),
        *unusable_defaults(),
        *unusable_keys(),
        *unknown_storage(),
        *unusable_rules(),
        *short_token(),
    ]


def not_a_dict() -> Iterator[checks.CheckMessage]:
    if not isinstance(getattr(django_settings, NAMESPACE, {}), Mapping):
        yield checks.Error(
            f"{NAMESPACE} must be a dict, so all settings have their defaults.",
            id="prism_memory.E008",
        )


def unknown_keys() -> Iterator[checks.CheckMessage]:
    known = [setting.name for setting in Settings.declared()]
    for key in user_settings():
        if key not in known:
            near = difflib.get_close_matches(str(key), known, n=1)
            yield checks.Error(
                f"{NAMESPACE}[{key!r}] is not a setting.",
                hint=f"Did you mean {near[0]!r}?" if near else None,
                id="prism_memory.E001",
            )


def out_of_bounds() -> Iterator[checks.CheckMessage]:
    for setting in Settings.declared():
        value = getattr(settings, setting.name)
        low, high = setting.minimum, setting.maximum
        if setting.name == "VECTOR_INDEX" and isinstance(value, Mapping):
            continue  # check_vector_index looks at it
        if not of_its_type(value, setting):
            yield checks.Error(
                f"{NAMESPACE}[{setting.name!r}] must be like {setting.default!r}.",
                hint=setting.help,
                id="prism_memory.E003",
            )
        elif low is not None and high is not None and not low <= value <= high:
            yield checks.Error(
                f"{NAMESPACE}[{setting.name!r}] must be in {low}..{high}, not {value}.",
                hint=setting.help,
                id="prism_memory.E002",
            )
        elif setting.choices and value not in setting.choices:
            choices = ", ".join(map(repr, setting.choices))
            yield checks.Error(
                f"{NAMESPACE}[{setting.name!r}] must be one of {choices}.",
                hint=setting.help,
                id="prism_memory.E014",
            )


def of_its_type(value: object, setting: Setting[Any]) -> bool:
    default = setting.default
    if isinstance(default, bool):
        return isinstance(value, bool)
    if isinstance(default, int | float):
        wanted = int if isinstance(default, int) else (int, float)
        return isinstance(value, wanted) and not isinstance(value, bool)
    if isinstance(default, tuple):
        if isinstance(value, str) or not isinstance(value, Sequence):
            return False
        return all(isinstance(item, str) for item in value)
    return isinstance(value, type(default))


def unknown_languages() -> Iterator[checks.CheckMessage]:
    for key, value in (
        ("LANGUAGE", [settings.LANGUAGE]),
        ("SEARCH_LANGUAGES", settings.SEARCH_LANGUAGES),
    ):
        for language in value:
            if language not in LANGUAGES:
                yield checks.Error(
                    f"{NAMESPACE}[{key!r}] names {language!r}, which PostgreSQL lacks.",
                    hint=f"There are {', '.join(LANGUAGES)}.",
                    id="prism_memory.E004",
                )


def unimportable() -> Iterator[checks.CheckMessage]:
    for key in IMPORTED:
        path = getattr(settings, key)
        if key == "ENTITY_RESOLVER" and path in ENTITY_RESOLVERS:
            continue
        if not path or not isinstance(path, str):
            continue  # what is no text is reported as of another type
        try:
            import_string(path)
        except ImportError as error:
            yield checks.Error(
                f"{NAMESPACE}[{key!r}] cannot be imported: {error}",
                id="prism_memory.E005",
            )


def unusable_factors() -> Iterator[checks.CheckMessage]:
    factors: object = settings.TRUST_FACTORS
    if not isinstance(factors, Mapping):
        return  # what is no dict is reported as of another type
    try:
        check_factors(factors)
    except Invalid as error:
        yield checks.Error(
            f"{NAMESPACE}['TRUST_FACTORS'] cannot be used: {error}",
            id="prism_memory.E016",
        )


def unusable_weights() -> Iterator[checks.CheckMessage]:
    weights: object = settings.SALIENCE
    if not isinstance(weights, Mapping):
        return  # what is no dict is reported as of another type
    try:
        check_weights(weights)
    except Invalid as error:
        yield checks.Error(
            f"{NAMESPACE}['SALIENCE'] cannot be used: {error}",
            id="prism_memory.E071",
        )


def unusable_defaults() -> Iterator[checks.CheckMessage]:
    """Report defaults of a search that no recall could take, or may (B370)."""
    defaults: object = settings.SEARCH_DEFAULTS
    if not isinstance(defaults, Mapping) or not defaults:
        return  # what is no dict is reported as of another type
    try:
        check_values(cast("Options", defaults))
    except (Invalid, LimitExceeded, Misconfigured) as error:
        yield checks.Error(
            f"{NAMESPACE}['SEARCH_DEFAULTS'] cannot be used: {error}",
            id="prism_memory.E030",
        )


def unusable_keys() -> Iterator[checks.CheckMessage]:
    """Report keys that cannot sign: each read and write would raise."""
    keys: object = settings.INTEGRITY_KEYS
    if not isinstance(keys, Mapping):
        return  # reported as of another type
    try:
        keyring()
    except Misconfigured as error:
        yield checks.Error(
            f"{NAMESPACE}[{error.field!r}] cannot be used: {error}",
            hint=Settings.INTEGRITY_KEYS.help,
            id="prism_memory.E040",
        )


def unusable_rules() -> Iterator[checks.CheckMessage]:
    """Report rules of the gate that cannot be matched: each write would raise."""
    path: object = settings.GATE_RULES
    if not isinstance(path, str):
        return  # reported as of another type
    try:
        configured_rules()
    except (Invalid, Misconfigured) as error:
        yield checks.Error(
            f"{NAMESPACE}['GATE_RULES'] cannot be used: {error}",
            id="prism_memory.E070",
        )


def unknown_storage() -> Iterator[checks.CheckMessage]:
    """Report an alias that STORAGES lacks: an export would begin, and fail."""
    alias: object = settings.EXPORT_STORAGE
    if isinstance(alias, str) and alias not in django_settings.STORAGES:
        known = ", ".join(map(repr, django_settings.STORAGES))
        yield checks.Error(
            f"{NAMESPACE}['EXPORT_STORAGE'] names {alias!r}, which STORAGES lacks.",
            hint=f"There are {known}.",
            id="prism_memory.E060",
        )


def short_token() -> Iterator[checks.CheckMessage]:
    token: object = settings.METRICS_TOKEN
    if isinstance(token, str) and 0 < len(token) < TOKEN_CHARACTERS:
        yield checks.Error(
            f"{NAMESPACE}['METRICS_TOKEN'] is too short, so it opens nothing.",
            hint=f"Take {TOKEN_CHARACTERS} characters or more, drawn at random.",
            id="prism_memory.E090",
        )
