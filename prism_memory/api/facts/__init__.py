"""What is held to be true: ``/facts``."""
