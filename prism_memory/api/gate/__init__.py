"""Hold a memory back, or let it through: ``quarantine`` and ``validate``."""
