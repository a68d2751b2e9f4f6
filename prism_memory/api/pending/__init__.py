"""What waits for its vector: ``/pending``."""
