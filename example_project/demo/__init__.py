"""``make demo``: real conversations remembered, indexed by a worker and recalled.

What is said on the screen is checked; the exit code is 0 only if all of it held.
"""
