"""Whether a claim may be relied on, judged by who vouches for what it cites.

It stands low: who removes evidence judges anew what is left. It calls no model.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Final

from django.utils.module_loading import import_string

from prism_memory.conf import settings
from prism_memory.errors import Misconfigured
from prism_memory.types import Acceptance, Trust

AcceptancePolicy = Callable[[Collection[Trust]], Acceptance]
"""From the trust of all that is cited, never empty, to what becomes of the claim."""

VOUCHED: Final = frozenset({Trust.USER, Trust.DOCUMENT})
OWN_NOTES: Final = frozenset({Trust.AGENT})


def by_evidence(trusts: Collection[Trust]) -> Acceptance:
    """Return what S2 makes of the trust of **all** that is cited (B295 to B297).

    People and documents alone: accepted. The agent's own notes alone: a belief.
    Anything else, one trusted record beside a tool's too: a proposal.
    """
    classes = set(trusts)
    if classes and classes <= VOUCHED:
        return Acceptance.ACCEPTED
    if classes == OWN_NOTES:
        return Acceptance.BELIEF
    return Acceptance.PROPOSAL


def judge(trusts: Collection[Trust]) -> Acceptance:
    """Return what the configured policy makes of evidence (B298).

    Args:
        trusts: Of each record that is cited.

    Raises:
        Misconfigured: The setting ``ACCEPTANCE_POLICY`` gave no acceptance.
    """
    path = settings.ACCEPTANCE_POLICY
    try:
        policy: AcceptancePolicy = import_string(path) if path else by_evidence
    except ImportError:
        message = "ACCEPTANCE_POLICY cannot be imported."
        raise Misconfigured(message, field="ACCEPTANCE_POLICY") from None
    judged = policy(tuple(trusts))
    try:
        return Acceptance(judged)
    except ValueError:
        message = "ACCEPTANCE_POLICY must return accepted, belief or proposal."
        raise Misconfigured(message, field="ACCEPTANCE_POLICY") from None
