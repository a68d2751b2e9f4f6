"""Tests of the store of documents."""
