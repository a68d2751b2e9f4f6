"""CHANGE one record: a file per verb."""

from prism_memory.lifecycle.consent import set_consent
from prism_memory.lifecycle.correct import correct
from prism_memory.lifecycle.forget import forget, forget_thread
from prism_memory.lifecycle.hold import hold, release
from prism_memory.lifecycle.keys import authenticate, create_key, revoke_key
from prism_memory.lifecycle.reinforce import reinforce
from prism_memory.lifecycle.remember import Stored, remember
from prism_memory.lifecycle.restore import link, restore
from prism_memory.lifecycle.share import revoke_share, share_with
from prism_memory.lifecycle.trace import prune_traces, write_trace

__all__ = [
    "Stored",
    "authenticate",
    "correct",
    "create_key",
    "forget",
    "forget_thread",
    "hold",
    "link",
    "prune_traces",
    "reinforce",
    "release",
    "remember",
    "restore",
    "revoke_key",
    "revoke_share",
    "set_consent",
    "share_with",
    "write_trace",
]
