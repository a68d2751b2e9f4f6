"""What is blocked, and why: ``/tombstones``."""
