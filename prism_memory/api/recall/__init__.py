"""Recall: ``/recall``."""
