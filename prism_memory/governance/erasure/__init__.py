"""Erasure of a record, a source, a thread, an agent, an owner or a tenant."""

from prism_memory.governance.erasure.erase import (
    erase,
    read_erasure,
    resume_erasure,
    start_erasure,
)

__all__ = ["erase", "read_erasure", "resume_erasure", "start_erasure"]
