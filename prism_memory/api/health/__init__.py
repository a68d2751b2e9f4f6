"""Probes, open to all: ``/health``."""
