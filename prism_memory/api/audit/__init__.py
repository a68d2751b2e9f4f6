"""Who did what to which id: ``/audit``."""
