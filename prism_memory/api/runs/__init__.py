"""A tenant's long work: ``/runs``."""
