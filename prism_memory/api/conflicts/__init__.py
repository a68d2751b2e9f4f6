"""Claims that met others and wait: ``/conflicts``."""
