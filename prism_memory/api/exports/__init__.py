"""Export: a page of a scope, ``/memories/export``, and all below it, ``/exports``."""
