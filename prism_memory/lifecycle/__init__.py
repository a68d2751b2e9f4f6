"""CHANGE one record: a file per verb."""

from prism_memory.lifecycle.consent import set_consent
from prism_memory.lifecycle.keys import authenticate, create_key, revoke_key
from prism_memory.lifecycle.reinforce import reinforce
from prism_memory.lifecycle.remember import Stored, remember
from prism_memory.lifecycle.trace import prune_traces, write_trace

__all__ = [
    "Stored",
    "authenticate",
    "create_key",
    "prune_traces",
    "reinforce",
    "remember",
    "revoke_key",
    "set_consent",
    "write_trace",
]
