"""Conformance suites for what others write against this app."""
