"""Memory systems that `benchmarks.peers` compares, one file each; ours is one of them.

A peer's package is imported when its system is opened, never when its file is, so
that what is not installed is skipped and nothing else fails.
"""
