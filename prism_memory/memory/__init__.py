"""The Python door: one scope, its verbs, each a short method over one package."""

from prism_memory.memory.door import OUT_OF_TIME, Memory, Remembered, settled

__all__ = ["OUT_OF_TIME", "Memory", "Remembered", "settled"]
