"""Memory for agent frameworks: optional extras over ``memory`` and ``types``.

One file per framework, each behind its own extra. Nothing here has a model, and
nothing here reaches under the public surface.
"""
