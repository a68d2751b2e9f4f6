"""Messages to the broker, sent so that no caller waits for it or fails with it."""

from __future__ import annotations

import logging
import threading
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from prism_memory.conf import settings

try:
    from celery import current_app
    from kombu import Connection
    from kombu.exceptions import KombuError
except ModuleNotFoundError as error:
    message = (
        "The background tasks need Celery. Install it with: "
        'pip install "django-prism-memory[celery]"'
    )
    raise ImportError(message) from error

logger = logging.getLogger("prism_memory")

PREFIX: Final = "prism_memory."
"""Of the names of all tasks."""
SEND_SECONDS: Final = 3.0
"""How long one step with a broker may take before it counts as down."""
FLUSH_SECONDS: Final = 2.0
"""How long a process that ends waits for its last message to be sent."""
NOTES_AT_MOST: Final = 1_000
"""Notes that wait to be sent, in each process; what comes beyond is lost."""


@dataclass(frozen=True)
class Message:
    """One task to be sent.

    Args:
        key: Two of one key that are not sent yet are one.
        is_note: Nobody sends it again, and it is not worth a caller's time or memory.
        expires_seconds: After it, no worker needs to look at it.
    """

    task: Any
    kwargs: Mapping[str, Any]
    key: Hashable
    is_note: bool = False
    expires_seconds: float | None = None

    def send(self, connection: Connection | None = None) -> None:
        """Send it.

        Args:
            connection: To the broker; one of Celery's own when None.

        Raises:
            OperationalError: The broker did not take it.
        """
        self.task.apply_async(
            kwargs=dict(self.kwargs),
            expires=self.expires_seconds,
            retry=False,
            connection=connection,
        )


def routing(name: str) -> dict[str, Any]:
    """Return the queue and the priority that the project wishes for a task, if any."""
    short = name.removeprefix(PREFIX)
    queue = settings.QUEUES.get(short, settings.QUEUE)
    options: dict[str, Any] = {"queue": queue} if queue else {}
    if short in settings.PRIORITIES:
        options["priority"] = settings.PRIORITIES[short]
    return options


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


class Sender:
    """Sends from a thread of its own, so that no caller waits for a broker."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Begin anew, as a process just forked must."""
        self._changed = threading.Condition()
        self._wanted: dict[Hashable, Message] = {}
        self._busy = False
        self._thread: threading.Thread | None = None

    def post(self, message: Message) -> None:
        """Note a message and return at once."""
        with self._changed:
            if message.is_note and len(self._wanted) >= NOTES_AT_MOST:
                tell_loss("too many wait")
                return
            self._wanted[message.key] = message
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(
                    target=self._run, name="prism-memory-send", daemon=True
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

    def _take(self) -> list[Message]:
        self._rest()
        with self._changed:
            self._changed.wait_for(lambda: self._wanted)
            taken = list(self._wanted.values())
            self._wanted.clear()
            self._busy = True
        return taken

    def _rest(self) -> None:
        with self._changed:
            self._busy = False
            self._changed.notify_all()


_loss_told = threading.Event()
"""Whether the log says that notes are being lost; until the broker works again."""


def send_or_log(messages: Sequence[Message]) -> None:
    """Send; a broker that is down is logged. The sweep does what it did not take."""
    # Wake-ups first: they are few, and somebody waits for what they do.
    ordered = sorted(messages, key=lambda one: one.is_note)
    try:
        with patient_connection() as connection:
            for message in ordered:
                message.send(connection)
    except (KombuError, OSError, ImportError, LookupError, ValueError) as error:
        # The last three: a URL that names no known kind of broker.
        name = type(error).__name__
        if any(not message.is_note for message in messages):
            logger.warning(
                "The broker took no wake-up (%s); the sweep will do it.", name
            )
        if any(message.is_note for message in messages):
            tell_loss(name)
    else:
        _loss_told.clear()


def tell_loss(reason: str) -> None:
    """Log that traces and reinforcements are lost, once until they are not (B431)."""
    if not _loss_told.is_set():
        _loss_told.set()
        logger.warning(
            "The broker takes no traces and reinforcements (%s); they are lost"
            " until it does.",
            reason,
        )


sender: Final = Sender()
