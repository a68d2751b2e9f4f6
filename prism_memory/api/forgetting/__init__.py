"""Delete memories, or a whole thread: ``/memories/forget`` and what is beside it."""
