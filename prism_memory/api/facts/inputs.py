"""Bodies and queries of ``/facts``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from prism_memory.api.fields import (
    Choice,
    Flag,
    FlagInQuery,
    Identifier,
    Moment,
    Number,
    Object,
    Several,
    StrictInput,
    Text,
    WholeInQuery,
)
from prism_memory.api.forgetting.inputs import ReasonInput
from prism_memory.api.memories.inputs import check_reason
from prism_memory.facts import OnUnaccepted
from prism_memory.types import Principal, Provenance, Sensitivity


class NotedInput(ReasonInput):
    """Why, and no more than the audit keeps."""

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Refuse a reason that is too long.

        Raises:
            LimitExceeded: It is.
        """
        check_reason(attrs)
        return attrs


class PageInput(StrictInput):
    """The query of a list of facts."""

    cursor = Text(required=False, help_text="The next_cursor of the page before.")
    limit = WholeInQuery(
        required=False, help_text="Rows of the page; GET limits tells how many."
    )


class ListFactsInput(PageInput):
    """What facts are asked for."""

    subject = Text(required=False, help_text="Without case, width and white space.")
    predicate = Text(required=False, help_text="Exactly.")
    at = Moment(required=False, help_text="When it holds in the world; now if not.")
    known_at = Moment(required=False, help_text="When memory held it; now if not.")
    unaccepted = FlagInQuery(
        required=False, help_text="Proposals and beliefs too, each labelled."
    )
    principals = Several(child=Choice("FactPrincipal", Principal), required=False)


class TimelineInput(PageInput):
    """Of whom or what."""

    subject = Text(help_text="Without case, width and white space.")
    predicate = Text(required=False, help_text="Exactly.")


class AssertInput(NotedInput):
    """A claim, and what it cites. Whether it is accepted, the policy says."""

    subject = Text()
    predicate = Text()
    value = Text()
    evidence = Several(
        child=Identifier(), help_text="Memories in sight that it cites: 1 to 32."
    )
    text = Text(required=False, help_text="The statement; the three if not given.")
    key = Text(required=False, help_text="Its name while it is open.")
    valid_from = Moment(required=False, help_text="Now, if not given.")
    valid_to = Moment(required=False, help_text="Exclusive; open if not given.")
    confidence = Number(required=False, help_text="0 to 1.")
    importance = Number(required=False, help_text="0 to 1.")
    tags = Several(child=Text(), required=False)
    metadata = Object(required=False)
    principal = Choice("FactPrincipal", Principal, required=False)
    sensitivity = Choice("FactSensitivity", Sensitivity, required=False)


class RememberFactInput(NotedInput):
    """A claim in plain words, compared with what stands."""

    text = Text()
    subject = Text(required=False, allow_blank=True)
    predicate = Text(required=False, allow_blank=True)
    value = Text(required=False, allow_blank=True)
    evidence = Several(
        child=Identifier(),
        required=False,
        help_text="Memories in sight that it cites; the words themselves if none.",
    )
    key = Text(required=False)
    valid_from = Moment(required=False, help_text="Now, if not given.")
    valid_to = Moment(required=False, help_text="Exclusive; open if not given.")
    confidence = Number(required=False, help_text="0 to 1.")
    importance = Number(required=False, help_text="Clamped to 0 to 1.")
    tags = Several(child=Text(), required=False)
    metadata = Object(required=False)
    principal = Choice("FactPrincipal", Principal, required=False)
    sensitivity = Choice("FactSensitivity", Sensitivity, required=False)
    provenance = Choice(
        "FactProvenance",
        Provenance,
        required=False,
        help_text="It can lower what the credentials are worth, never raise it.",
    )


class SupersedeInput(AssertInput):
    """The successor of a fact."""

    on_unaccepted = Choice(
        "OnUnaccepted",
        OnUnaccepted,
        required=False,
        help_text="Of an accepted fact: refuse, or let the successor wait.",
    )


class AcceptInput(NotedInput):
    """Why a proposal is accepted."""

    from_belief = Flag(required=False, help_text="A belief too.")


def claim_of(given: Mapping[str, Any]) -> tuple[str, str, str, dict[str, Any]]:
    """Return subject, predicate and value of a body, and all the rest."""
    rest = dict(given)
    return rest.pop("subject"), rest.pop("predicate"), rest.pop("value"), rest
