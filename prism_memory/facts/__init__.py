"""CLAIMS: what is held to be true, on what evidence, and of whom."""
