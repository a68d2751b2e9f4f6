"""Keyed signatures of what is stored, so that an edit behind the app's back is found.

Off until the setting ``INTEGRITY_KEYS`` names a key. No verb lives here: ``lifecycle``
signs what it writes, ``recall`` asks what may be shown, ``governance`` looks at all.
"""

from prism_memory.integrity.checking import States, intact, is_enforced, states
from prism_memory.integrity.keys import keyring
from prism_memory.integrity.macs import FORMAT, Keyring, State, canonical
from prism_memory.integrity.signing import carried, require_intact, sign, write

__all__ = [
    "FORMAT",
    "Keyring",
    "State",
    "States",
    "canonical",
    "carried",
    "intact",
    "is_enforced",
    "keyring",
    "require_intact",
    "sign",
    "states",
    "write",
]
