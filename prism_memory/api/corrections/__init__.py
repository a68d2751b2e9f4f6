"""Give a memory other words: ``/memories/{id}/correction``."""
