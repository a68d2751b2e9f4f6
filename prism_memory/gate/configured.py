"""What the settings say of the gate: the rules, and the host's own classifier."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, Final

from django.utils.module_loading import import_string

from prism_memory.conf import settings
from prism_memory.errors import Misconfigured
from prism_memory.gate.rules import RULES
from prism_memory.gate.scanning import Ruleset, scan
from prism_memory.gate.values import Marker, Rule, Verdict, compiled

logger = logging.getLogger(__name__)

INJECTION: Final = "injection"
CLASSIFIER: Final = "classifier"


def configured_rules() -> Ruleset:
    """Return the rules in force: ours, and what ``GATE_RULES`` makes of them.

    Raises:
        Misconfigured: It cannot be imported, or gives no rules.
        Invalid: A pattern of it is no regular expression.
    """
    return _rules(settings.GATE_RULES)


@lru_cache(maxsize=8)
def _rules(path: str) -> Ruleset:
    if not path:
        return Ruleset(RULES)
    try:
        given = import_string(path)
        found = tuple(given(RULES) if callable(given) else (*RULES, *given))
    except (ImportError, TypeError) as error:
        message = f"GATE_RULES gives no rules: {error}"
        raise Misconfigured(message, field="GATE_RULES") from None
    if not all(isinstance(rule, Rule) for rule in found):
        message = "GATE_RULES gives something that is no Rule."
        raise Misconfigured(message, field="GATE_RULES")
    for rule in set(found).difference(RULES):
        compiled(rule)
    return Ruleset(found)


def judge(
    text: str, metadata: Mapping[str, Any] | None = None, *, classify: bool = True
) -> Verdict:
    """Return what the gate says of words, and of what is kept beside them.

    Never called in a transaction where ``classify`` is true: that asks the host's
    ``GATE_CLASSIFIER``, which can only add a flag.

    Raises:
        Misconfigured: The settings name no usable rules or classifier.
    """
    if settings.GATE == "off":
        return Verdict()
    rules = configured_rules()
    markers = scan(text, rules)
    beside = scan("\n".join(_texts(metadata)), rules) if metadata else ()
    markers += tuple(
        Marker(rule, 0, 0, "metadata") for rule in dict.fromkeys(m.rule for m in beside)
    )
    if markers:
        return Verdict(flagged=True, reason=INJECTION, markers=markers)
    if classify and _classified(text):
        return Verdict(
            flagged=True, reason=CLASSIFIER, markers=(Marker(CLASSIFIER, 0, 0),)
        )
    return Verdict()


def _texts(value: Any) -> Iterable[str]:  # noqa: ANN401 - any JSON
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            yield str(name)
            yield from _texts(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _texts(inner)


def _classified(text: str) -> bool:
    path = settings.GATE_CLASSIFIER
    if not path:
        return False
    try:
        classifier = import_string(path)
    except ImportError as error:
        message = f"GATE_CLASSIFIER cannot be imported: {error}"
        raise Misconfigured(message, field="GATE_CLASSIFIER") from None
    try:
        return classifier(text) is True
    except Exception as error:  # noqa: BLE001 - the host's code: its error changes nothing (B348)
        # Its class alone: the words of the error may hold the text.
        logger.warning("GATE_CLASSIFIER failed: %s", type(error).__name__)
        return False
