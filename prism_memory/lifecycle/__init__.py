"""CHANGE one record: a file per verb."""

from prism_memory.lifecycle.consent import set_consent
from prism_memory.lifecycle.correct import correct
from prism_memory.lifecycle.forget import forget
from prism_memory.lifecycle.forget_thread import forget_thread
from prism_memory.lifecycle.generations import set_current_generation
from prism_memory.lifecycle.hold import hold, release
from prism_memory.lifecycle.keys import authenticate, create_key, revoke_key
from prism_memory.lifecycle.propagation import propagate_deletion
from prism_memory.lifecycle.quarantine import quarantine
from prism_memory.lifecycle.reinforce import reinforce
from prism_memory.lifecycle.release_forgotten import release_forgotten
from prism_memory.lifecycle.remember import Stored, remember
from prism_memory.lifecycle.repoint import repoint
from prism_memory.lifecycle.resituate import Resituated, resituate
from prism_memory.lifecycle.restore import link, restore
from prism_memory.lifecycle.set_access import set_access
from prism_memory.lifecycle.share import revoke_share, share_with
from prism_memory.lifecycle.trace import prune_traces, write_trace
from prism_memory.lifecycle.validate import validate

__all__ = [
    "Resituated",
    "Stored",
    "authenticate",
    "correct",
    "create_key",
    "forget",
    "forget_thread",
    "hold",
    "link",
    "propagate_deletion",
    "prune_traces",
    "quarantine",
    "reinforce",
    "release",
    "release_forgotten",
    "remember",
    "repoint",
    "resituate",
    "restore",
    "revoke_key",
    "revoke_share",
    "set_access",
    "set_consent",
    "set_current_generation",
    "share_with",
    "validate",
    "write_trace",
]
