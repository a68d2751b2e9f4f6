"""The SQL files, read by ``prism_memory.db.queries``."""
