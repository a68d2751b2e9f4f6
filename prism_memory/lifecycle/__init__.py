"""CHANGE one record: a file per verb."""

from prism_memory.lifecycle.consent import set_consent
from prism_memory.lifecycle.keys import authenticate, create_key, revoke_key
from prism_memory.lifecycle.remember import Stored, remember

__all__ = [
    "Stored",
    "authenticate",
    "create_key",
    "remember",
    "revoke_key",
    "set_consent",
]
