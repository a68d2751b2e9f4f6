"""What waits for a person: ``/reviews``."""
