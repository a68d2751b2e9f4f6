"""Named pairs of servers: who starts them, who holds them, who stops them."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING

from example_project.embedded.places import (
    exclusive,
    is_leased,
    owned_folder,
    shared_lease,
    state_root,
)
from example_project.embedded.postgres import PostgresServer
from example_project.embedded.valkey import ValkeyServer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

DEFAULT_NAME = "demo"
THROWAWAY_NAMES = ("test",)

_leases: dict[str, IO[str]] = {}


def current_name() -> str:
    """Return which set of services this process uses: ``PRISM_SERVICES`` or demo."""
    return os.environ.get("PRISM_SERVICES", DEFAULT_NAME)


def postgres_version() -> int:
    """Return the embedded major version: ``PRISM_POSTGRES_VERSION``, 16 or 18."""
    return int(os.environ.get("PRISM_POSTGRES_VERSION", "18"))


def database_url(name: str | None = None) -> str:
    """Return ``DATABASE_URL``, or the embedded server's address; starts nothing."""
    return os.environ.get("DATABASE_URL") or Services(name).postgres.url()


def broker_url(name: str | None = None) -> str:
    """Return ``CELERY_BROKER_URL``, or the embedded broker's; starts nothing."""
    return os.environ.get("CELERY_BROKER_URL") or Services(name).valkey.url()


def ensure(name: str | None = None) -> Services:
    """Start what the environment does not bring, and leave it running.

    This process's interest in it is recorded until it ends, so that nobody's Ctrl-C
    stops a server under it.
    """
    services = Services(name)
    services.start()
    return services


class Services:
    """One named pair of servers of this checkout.

    Args:
        name: ``demo`` (the default) keeps its data; ``test`` trades safety for speed.
    """

    def __init__(self, name: str | None = None) -> None:
        self.name = name or current_name()
        self.folder = state_root() / self.name
        throwaway = self.name.startswith(THROWAWAY_NAMES)
        self.postgres = PostgresServer(self.folder, postgres_version(), throwaway)
        self.valkey = ValkeyServer(self.folder)

    def start(self) -> bool:
        """Start what the environment does not bring; hold it for this process.

        Returns:
            Whether this call started anything.
        """
        needs_database = not os.environ.get("DATABASE_URL")
        needs_broker = not os.environ.get("CELERY_BROKER_URL")
        if not needs_database and not needs_broker:
            return False
        with self._locked():
            if self.name not in _leases:
                _leases[self.name] = shared_lease(self._lease)
            database_started = needs_database and self.postgres.start()
            broker_started = needs_broker and self.valkey.start()
        return database_started or broker_started

    def stop(self) -> list[str]:
        """Stop these servers, whoever uses them; returns what was stopped."""
        if not self.folder.exists():
            return []
        with self._locked():
            return self._stop()

    @contextmanager
    def running(self) -> Iterator[Services]:
        """Have the servers for a block, and stop them after it.

        They stay when they were running before without such a block, or while
        another process still uses them; the last block to end then stops them.
        """
        if self.start():
            self._stop_with_last_user.touch()
        try:
            yield self
        finally:
            self._leave()

    def status(self) -> list[str]:
        """Say in lines what is running and where."""
        pid = self.postgres.postmaster()
        broker = "running" if self.valkey.is_ready() else "stopped"
        return [
            f"{self.name} postgres {f'running (pid {pid})' if pid else 'stopped'}"
            f"  {self.postgres.url()}",
            f"{self.name} broker   {broker}  {self.valkey.url()}",
        ]

    def _leave(self) -> None:
        if not self.folder.exists():
            return
        with self._locked():
            lease = _leases.pop(self.name, None)
            if lease is not None:
                lease.close()
            if self._stop_with_last_user.exists() and not is_leased(self._lease):
                self._stop()

    def _stop(self) -> list[str]:
        self._stop_with_last_user.unlink(missing_ok=True)
        versions = [
            PostgresServer(self.folder, int(found.name.removeprefix("pg")))
            for found in self.folder.glob("pg[0-9][0-9]")
        ]
        stopped = [
            f"{self.name} PostgreSQL {server.version}"
            for server in versions
            if server.stop()
        ]
        if self.valkey.stop():
            stopped.append(f"{self.name} broker")
        return stopped

    @property
    def _lease(self) -> Path:
        return self.folder / "in-use"

    @property
    def _stop_with_last_user(self) -> Path:
        return self.folder / "stop-with-last-user"

    @contextmanager
    def _locked(self) -> Iterator[None]:
        owned_folder(state_root())
        owned_folder(self.folder)
        with exclusive(self.folder / "lock"):
            yield


def known_names() -> list[str]:
    """Return the names of the services that this checkout ever started."""
    return sorted(lock.parent.name for lock in state_root().glob("*/lock"))


def stop_all() -> list[str]:
    """Stop every embedded server of this checkout; returns what was stopped."""
    return [line for name in known_names() for line in Services(name).stop()]
