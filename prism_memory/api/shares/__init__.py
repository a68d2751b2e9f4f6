"""What a thread shares with another: ``/shares``."""
