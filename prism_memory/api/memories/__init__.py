"""Remember, list, read, and consent: ``/memories``."""
