"""Erasure of a record, a source, or the request's whole scope: ``/erasures``."""
