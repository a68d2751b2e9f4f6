"""Keep from deletion: ``/holds``."""
