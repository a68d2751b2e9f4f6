"""Ask the servers for an answer before anything is built on them."""

from __future__ import annotations

from functools import partial

from django.db import OperationalError, connection
from kombu.exceptions import KombuError
from kombu.utils.url import maybe_sanitize_url

from example_project.celery import app
from example_project.embedded import ServiceError

SECONDS = 3
# A transport that there is not is a KeyError.
BROKER_ERRORS = (KombuError, KeyError, OSError, ValueError)


def reach_database() -> None:
    """Connect to the database.

    Raises:
        ServiceError: It does not answer, or lets us not in.
    """
    try:
        connection.ensure_connection()
    except OperationalError as error:
        raise ServiceError(unreachable(error)) from error


def unreachable(error: OperationalError) -> str:
    """Return what to say of a connection that could not be made, in one line.

    Empty where the connection stood and something else went wrong.
    """
    # Only what the server itself says later has an SQLSTATE.
    if error.__cause__ is None or getattr(error.__cause__, "sqlstate", None):
        return ""
    said = " ".join(str(error).split())
    return f"the database cannot be reached: {said}"


def reach_broker() -> None:
    """Connect to the broker; waits a few seconds at most.

    Raises:
        ServiceError: It does not answer.
    """
    options = dict.fromkeys(("socket_timeout", "socket_connect_timeout"), SECONDS)
    connect = partial(app.connection_for_write, connect_timeout=SECONDS)
    try:
        with connect(transport_options=options) as broker:
            broker.ensure_connection(max_retries=1, timeout=SECONDS)
    except BROKER_ERRORS as error:
        where = maybe_sanitize_url(str(app.conf.broker_write_url))
        message = f"the broker {where} does not answer; see CELERY_BROKER_URL"
        raise ServiceError(message) from error
