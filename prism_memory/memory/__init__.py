"""The Python door: one scope, its verbs, each a short method over one package."""

from prism_memory.memory.door import Memory, Remembered, settled
from prism_memory.memory.waiting import OUT_OF_TIME

__all__ = ["OUT_OF_TIME", "Memory", "Remembered", "settled"]
