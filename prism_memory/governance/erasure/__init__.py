"""Erasure of a record, a source, a thread, an agent, an owner or a tenant."""

from prism_memory.governance.erasure.erase import (
    erase,
    start_erasure,
)
from prism_memory.governance.erasure.foresee import foresee
from prism_memory.governance.erasure.leftovers import Leftover, leftovers
from prism_memory.governance.erasure.resume import resume_erasure
from prism_memory.governance.erasure.state import (
    KIND,
    list_erasures,
    read_erasure,
)

__all__ = [
    "KIND",
    "Leftover",
    "erase",
    "foresee",
    "leftovers",
    "list_erasures",
    "read_erasure",
    "resume_erasure",
    "start_erasure",
]
