"""This checkout's own PostgreSQL and broker, for whoever brings none.

``DATABASE_URL`` and ``CELERY_BROKER_URL``, when set, replace the embedded parts.
Addresses are known before anything runs, so importing settings starts nothing; who
needs the servers calls `ensure` (they stay) or enters `Services.running` (the last
one out stops what such a block started).
"""

from __future__ import annotations

from example_project.embedded.places import (
    CHECKOUT,
    ServiceError,
    kept_secret,
    state_root,
)
from example_project.embedded.services import (
    Services,
    broker_url,
    database_url,
    ensure,
    known_names,
    stop_all,
)

__all__ = [
    "CHECKOUT",
    "ServiceError",
    "Services",
    "broker_url",
    "database_url",
    "ensure",
    "kept_secret",
    "known_names",
    "state_root",
    "stop_all",
]
