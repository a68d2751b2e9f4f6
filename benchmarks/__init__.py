"""What remembering and recalling cost: ``python -m benchmarks NAME …``.

Each run has a database of its own, made before and dropped after it, on the embedded
PostgreSQL unless ``DATABASE_URL`` names a server. How each figure is measured, and
what was measured, is told in ``docs/benchmarks.md``.
"""
