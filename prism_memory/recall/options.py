"""From a caller's options to a reader and a question, all of them checked."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Final

from prism_memory.access import Reader, strictness
from prism_memory.conf import Limits, check_limit, settings
from prism_memory.db.filters import compile_filter
from prism_memory.errors import Invalid, LimitExceeded, Misconfigured
from prism_memory.recall.question import Question
from prism_memory.recall.sharing import shared_reader
from prism_memory.recall.words import words
from prism_memory.redaction import Redaction
from prism_memory.types import (
    TRUST_OPTIONS,
    Authorization,
    Options,
    ReadMode,
    Scope,
    Vector,
    check_bool,
    check_part,
    check_text,
)

OPTIONS: Final = frozenset(Options.__annotations__)

NARROWING: Final = (
    "kinds",
    "tiers",
    "namespaces",
    "tags",
    "partition",
    "as_of",
    "known_at",
    "include_superseded",
    "include_quarantined",
)
"""Options that are fields of a reader as they are."""

ASKING: Final = tuple(
    each.name
    for each in fields(Question)
    if each.init
    and each.name
    in OPTIONS
    - {"multi_query", "message_range", "candidates", "max_bytes", "max_tokens"}
)
"""Options that are fields of a question as they are."""

BOUNDS: Final = {
    "candidates": "candidates",
    "max_bytes": "result_bytes",
    "max_tokens": "context_tokens",
}
"""Options that are fields of a question within a limit's hard cap, or None."""


@dataclass(frozen=True)
class Asker:
    """Who asks: what is the same in all questions of one memory."""

    scope: Scope
    mode: ReadMode
    limits: Limits
    redaction: Redaction
    require_consent: bool | None = None
    defaults: Options | None = None
    authorization: Authorization | None = None


@dataclass(frozen=True)
class Request:
    """One question, checked.

    Args:
        reranker: Alias, or empty.
        transformer: Alias, or empty.
        reinforce: Strengthen the hits afterwards.
        given: The options as they came, defaults included.
        shared: Who reads what another thread shares, if that is asked for.
        vector: Of the question, where the caller has embedded it.
    """

    reader: Reader
    question: Question
    reranker: str = ""
    transformer: str = ""
    reinforce: bool = False
    given: Options = field(default_factory=Options)
    shared: Reader | None = None
    vector: Vector | None = None


def request(
    asker: Asker, query: str, top_k: int | None, given: Mapping[str, Any]
) -> Request:
    """Return what a call asks for.

    Raises:
        TypeError: There is no such option.
        Invalid: A value is not acceptable; the error names it.
        LimitExceeded: The query, ``top_k``, the filter or ``ids`` is over a limit.
        Misconfigured: A default is no option, or one that cannot be defaulted.
        ScopeDenied: No thread can share anything with the asker's scope.
    """
    options = merged(asker.defaults, given)
    limits = asker.limits
    reader = reader_of(asker, options)
    varied, beside = options.get("multi_query"), options.get("message_range")
    return Request(
        reader=reader,
        question=Question(
            text=question_text(asker, query),
            top_k=limit(limits, top_k, "top_k"),
            multi_query=limit(limits, varied, "multi_query"),
            message_range=limit(limits, beside, "message_range"),
            **bounds(options),
            **{name: options[name] for name in ASKING if name in options},  # type: ignore[literal-required]
        ),
        reranker=alias(
            options.get("reranker"), settings.RERANKER, "reranker", settings.RERANKERS
        ),
        transformer=alias(
            options.get("transformer"),
            settings.TRANSFORMER,
            "transformer",
            settings.TRANSFORMERS,
        ),
        reinforce=check_bool(options.get("reinforce", False), "reinforce"),
        given=options,
        shared=shared_reader(reader, options.get("share_from_parent_thread_id")),
    )


def bounds(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return what an answer may hold and is chosen from, where a caller says.

    Raises:
        LimitExceeded: A bound is over its hard cap.
    """
    given = {name: options.get(name) for name in BOUNDS}
    return {
        name: check_limit(value, BOUNDS[name], name)
        for name, value in given.items()
        if value is not None
    }


def merged(defaults: Options | None, given: Mapping[str, Any]) -> Options:
    """Return the options of a call over the memory's over the setting's (B369).

    Raises:
        TypeError: There is no such option.
        Misconfigured: A default is no option, or touches trust (B370).
    """
    if unknown := sorted(given.keys() - OPTIONS):
        message = f"recall() has no option {unknown[0]!r}."
        raise TypeError(message)
    usual = {**check_defaults(settings.SEARCH_DEFAULTS), **check_defaults(defaults)}
    return Options(**{**usual, **given})  # type: ignore[typeddict-item]


def check_defaults(defaults: object) -> Mapping[str, Any]:
    """Return defaults of a search, which are not about trust.

    Raises:
        Misconfigured: They are, or are no options.
    """
    if defaults is None:
        return {}
    if not isinstance(defaults, Mapping):
        message = "Search defaults must be a mapping of options of recall()."
        raise Misconfigured(message, field="search_defaults")
    for name in defaults:
        if name in TRUST_OPTIONS:
            message = f"{name!r} is about trust: it cannot be a search default."
            raise Misconfigured(message, field="search_defaults")
        if name not in OPTIONS:
            message = f"Search defaults name {name!r}, which recall() does not know."
            raise Misconfigured(message, field="search_defaults")
    return defaults


def check_values(defaults: Options | None, limits: Limits | None = None) -> None:
    """Check defaults of a search as a recall would, over those of the setting.

    Args:
        limits: Those of the memory; of the settings when None.

    Raises:
        Misconfigured: As ``check_defaults``, or a value is not acceptable.
    """
    if not (usual := check_defaults(defaults)):
        return  # whether the setting is right, the system checks say
    anybody = Asker(Scope("a"), ReadMode.CHAIN, limits or Limits(), Redaction())
    try:
        request(anybody, "a", None, usual)
    except (Invalid, LimitExceeded) as error:
        message = f"A search default is not acceptable: {error}"
        raise Misconfigured(message, field="search_defaults") from error


def reader_of(asker: Asker, options: Mapping[str, Any]) -> Reader:
    """Return who reads, and what narrows their sight."""
    terms = asker.limits.filter_terms
    given = options.get("authorization")
    return Reader(
        scope=asker.scope,
        mode=asker.mode,
        strict=strictness(
            asked=options.get("require_consent"), usual=asker.require_consent
        ),
        ids=listed(asker.limits, options.get("ids")),
        where=compile_filter(options.get("filter"), terms=terms),
        authorization=asker.authorization if given is None else given,
        **{name: options[name] for name in NARROWING if name in options},
    )


def question_text(asker: Asker, query: str) -> str:
    """Return the question without configured secrets.

    Raises:
        Invalid: It is blank.
        LimitExceeded: It is too long, or of too many words.
    """
    text = asker.redaction.text(check_text(query, "query"))
    if not text.strip():
        message = "query must not be blank."
        raise Invalid(message, field="query")
    if len(text) > (most := asker.limits.query_characters):
        message = f"query is over {most} characters (query_characters)."
        raise LimitExceeded(message, field="query")
    if len({*words(text.lower())}) > (most := asker.limits.query_words):
        message = f"query has more than {most} different words (query_words)."
        raise LimitExceeded(message, field="query")
    return text


def listed(
    limits: Limits, ids: Collection[uuid.UUID] | None
) -> Collection[uuid.UUID] | None:
    """Return the ids that are named, if they are not too many.

    Raises:
        LimitExceeded: They are.
    """
    if isinstance(ids, Collection) and len(ids) > limits.recall_ids:
        message = f"ids holds more than {limits.recall_ids} (recall_ids)."
        raise LimitExceeded(message, field="ids")
    return ids


def limit(limits: Limits, given: int | None, limit: str, name: str = "") -> int:
    """Return a call's own value of a limit, or the memory's.

    Args:
        name: What the caller calls the value; the limit's name when empty.

    Raises:
        LimitExceeded: It is out of its bounds.
    """
    value = getattr(limits, limit) if given is None else given
    return check_limit(value, limit, name or limit)


def alias(given: str | None, usual: str, name: str, known: Mapping[str, object]) -> str:
    """Return the alias of a backend: the call's own, or the setting's.

    Args:
        known: Those that the settings describe.

    Raises:
        Invalid: It is no text, or there is no such alias.
    """
    if given is None:
        return usual
    chosen = str(check_part(given, str, name))
    if chosen and chosen not in known:
        message = f"{name} is none of the aliases that the settings describe."
        raise Invalid(message, field=name)
    return chosen
