"""CLAIMS: what is held to be true, on what evidence, and of whom. A file per verb."""

from prism_memory.facts.accept import Decided, accept
from prism_memory.facts.archive import archive, unarchive
from prism_memory.facts.assert_fact import assert_fact
from prism_memory.facts.conflicts import conflicts
from prism_memory.facts.entities import get_entity, list_entities
from prism_memory.facts.forget import forget_fact
from prism_memory.facts.locking import Which
from prism_memory.facts.loose import drop_loose
from prism_memory.facts.merge import merge
from prism_memory.facts.purge import purge
from prism_memory.facts.quarantine import quarantine_fact
from prism_memory.facts.reading import Wanted, facts, get_fact, history, timeline
from prism_memory.facts.reclaimed import reclaimed
from prism_memory.facts.remember import Outcome, remember_fact
from prism_memory.facts.resolving import resolve
from prism_memory.facts.restore import Back, restore
from prism_memory.facts.retract import retract
from prism_memory.facts.reviewing import decide, list_reviews
from prism_memory.facts.settle import settle
from prism_memory.facts.supersede import OnUnaccepted, Superseded, supersede
from prism_memory.facts.unmerge import unmerge
from prism_memory.facts.validate import validate_fact, validate_record

__all__ = [
    "Back",
    "Decided",
    "OnUnaccepted",
    "Outcome",
    "Superseded",
    "Wanted",
    "Which",
    "accept",
    "archive",
    "assert_fact",
    "conflicts",
    "decide",
    "drop_loose",
    "facts",
    "forget_fact",
    "get_entity",
    "get_fact",
    "history",
    "list_entities",
    "list_reviews",
    "merge",
    "purge",
    "quarantine_fact",
    "reclaimed",
    "remember_fact",
    "resolve",
    "restore",
    "retract",
    "settle",
    "supersede",
    "timeline",
    "unarchive",
    "unmerge",
    "validate_fact",
    "validate_record",
]
