"""Which generation of documents is seen: ``/generations``."""
