"""Rules over many rows: retention, erasure, export, seals, row security."""

from prism_memory.governance.events import Event, EventPage, list_events
from prism_memory.governance.findings import Finding, Findings, Wrong
from prism_memory.governance.heads import Head, head, read_heads
from prism_memory.governance.pages import trails, trails_beside
from prism_memory.governance.prune import Pruned, prune, tell_again
from prism_memory.governance.seals import Sealed, seal
from prism_memory.governance.signing import Signed, sign_records
from prism_memory.governance.verify import Verified, verify
from prism_memory.governance.vouch import vouch

__all__ = [
    "Event",
    "EventPage",
    "Finding",
    "Findings",
    "Head",
    "Pruned",
    "Sealed",
    "Signed",
    "Verified",
    "Wrong",
    "head",
    "list_events",
    "prune",
    "read_heads",
    "seal",
    "sign_records",
    "tell_again",
    "trails",
    "trails_beside",
    "verify",
    "vouch",
]
