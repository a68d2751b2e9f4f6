"""Celery: ids in, one call; and the wake-up that a commit sends.

The database is the queue. A message only says that it is worth looking, and the sweep
of beat is the guarantee: a lost message costs one sweep, a worker that was killed
delays the batch it held until its claim ends, and neither costs a vector.
"""

from __future__ import annotations

import atexit
import logging
import os
import threading
from collections.abc import Sequence
from functools import partial
from typing import Any, Final

from django.core import checks

from prism_memory import backends, indexing
from prism_memory.conf import settings
from prism_memory.signals import indexing_wanted

try:
    from celery import current_app, shared_task
    from kombu import Connection
    from kombu.exceptions import KombuError
except ModuleNotFoundError as error:
    message = (
        "The background tasks need Celery. Install it with: "
        'pip install "django-prism-memory[celery]"'
    )
    raise ImportError(message) from error

logger = logging.getLogger("prism_memory")

DRAIN_SECONDS: Final = 300.0
"""A drain that has worked so long makes room for other tenants and comes again."""
SEND_SECONDS: Final = 3.0
"""How long one step with a broker may take before it counts as down."""
FLUSH_SECONDS: Final = 2.0
"""How long a process that ends waits for its last wake-up to be sent."""


@shared_task(name="prism_memory.drain", acks_late=True, ignore_result=True)
def drain(*, tenant: str, using: str, alias: str, **kwargs: Any) -> None:
    """Embed what waits for one tenant."""
    embedder = backends.get_embedder(alias)
    space = indexing.active(using=using, alias=alias, identity=embedder.identity)
    done = indexing.drain(
        using=using,
        tenant=tenant,
        space=space,
        embed=partial(backends.embed, embedder, role="passage"),
        batch=settings.EMBED_BATCH,
        max_seconds=DRAIN_SECONDS,
    )
    if done.outage:
        logger.warning("Indexing stopped early: %s", done.outage)
    elif indexing.is_waiting(using=using, space=space, tenant=tenant):
        send(tenant=tenant, using=using, alias=alias)


@shared_task(name="prism_memory.sweep", ignore_result=True)
def sweep(**kwargs: Any) -> None:
    """Start a drain for every tenant that has something to embed, by any embedder."""
    using = settings.DATABASE
    for alias in settings.EMBEDDERS:
        space = indexing.find_active(using=using, alias=alias)
        if space is not None:
            for tenant in indexing.waiting(using=using, space=space):
                send(tenant=tenant, using=using, alias=alias)


def send(*, connection: Connection | None = None, **task: str) -> None:
    """Send one drain; it expires when the next sweep would send it again.

    Args:
        connection: To the broker; one of Celery's own when None.
        task: Its ``tenant``, ``using`` and ``alias``.

    Raises:
        OperationalError: The broker did not take it.
    """
    drain.apply_async(  # type: ignore[call-arg] # its stub forgets connection
        kwargs=task,
        expires=settings.SWEEP_SECONDS,
        retry=False,
        connection=connection,
        **queue(),
    )


def patient_connection() -> Connection:
    """Return a new connection that gives up soon on a broker that does not answer.

    Celery's own waits for ever, unless the project says otherwise.
    """
    options = dict.fromkeys(
        ("socket_timeout", "socket_connect_timeout", "read_timeout", "write_timeout"),
        SEND_SECONDS,
    )
    return current_app.connection_for_write(
        connect_timeout=SEND_SECONDS,
        transport_options={**options, **current_app.conf.broker_transport_options},
    )


def queue() -> dict[str, Any]:
    """Return the routing that the project wishes, if any."""
    return {"queue": settings.QUEUE} if settings.QUEUE else {}


def beat_schedule() -> dict[str, dict[str, Any]]:
    """Return what beat should run, to be merged into the host's own schedule."""
    seconds = float(settings.SWEEP_SECONDS)
    entry = {
        "task": "prism_memory.sweep",
        "schedule": seconds,
        "options": {"expires": seconds, **queue()},
    }
    return {"prism-memory-sweep": entry}


Wake = tuple[str, str, str]
"""Tenant, database, embedder's alias."""


class Waker:
    """Sends wake-ups from a thread of its own, so that no caller waits for a broker.

    Wake-ups for one tenant that are not sent yet are one.
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Begin anew, as a process just forked must."""
        self._changed = threading.Condition()
        self._wanted: dict[Wake, None] = {}
        self._busy = False
        self._thread: threading.Thread | None = None

    def wake(self, tenant: str, using: str, alias: str) -> None:
        """Note a wake-up and return at once."""
        with self._changed:
            self._wanted[tenant, using, alias] = None
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(
                    target=self._run, name="prism-memory-wake", daemon=True
                )
                self._thread.start()
            self._changed.notify_all()

    def flush(self, timeout_seconds: float = FLUSH_SECONDS) -> bool:
        """Wait until all is sent; return whether it was in time."""
        with self._changed:
            return self._changed.wait_for(
                lambda: not (self._wanted or self._busy), timeout_seconds
            )

    def _run(self) -> None:
        try:
            while True:
                send_or_log(self._take())
        finally:
            self._rest()

    def _take(self) -> list[Wake]:
        self._rest()
        with self._changed:
            self._changed.wait_for(lambda: self._wanted)
            taken = list(self._wanted)
            self._wanted.clear()
            self._busy = True
        return taken

    def _rest(self) -> None:
        with self._changed:
            self._busy = False
            self._changed.notify_all()


def send_or_log(wakes: Sequence[Wake]) -> None:
    """Send drains; a broker that is down is logged and left to the sweep."""
    try:
        with patient_connection() as connection:
            for tenant, using, alias in wakes:
                send(connection=connection, tenant=tenant, using=using, alias=alias)
    except (KombuError, OSError, ImportError, LookupError, ValueError) as error:
        # The last three: a URL that names no known kind of broker.
        name = type(error).__name__
        logger.warning("The broker took no wake-up (%s); the sweep will do it.", name)


waker: Final = Waker()


def on_indexing_wanted(*, tenant: str, using: str, alias: str, **kwargs: Any) -> None:
    """Wake a worker; with eager Celery, be the worker."""
    if not settings.WAKE:
        return
    if current_app.conf.task_always_eager:
        drain.apply(kwargs={"tenant": tenant, "using": using, "alias": alias})
    else:
        waker.wake(tenant, using, alias)


def check_broker(**kwargs: Any) -> list[checks.CheckMessage]:
    """Warn when wake-ups are sent but Celery knows no broker."""
    conf = current_app.conf
    if not settings.WAKE or conf.task_always_eager or conf.broker_url:
        return []
    return [
        checks.Warning(
            "Celery has no broker, so nothing wakes a worker.",
            hint="Set CELERY_BROKER_URL, or PRISM_MEMORY['WAKE'] to False and run"
            " prism_memory_index drain.",
            id="prism_memory.W010",
        )
    ]


def connect() -> None:
    """Listen for commits, from the app's ``ready``."""
    indexing_wanted.connect(
        on_indexing_wanted, dispatch_uid="prism_memory.on_indexing_wanted"
    )
    checks.register(check_broker)
    os.register_at_fork(after_in_child=waker.reset)
    atexit.register(waker.flush)
