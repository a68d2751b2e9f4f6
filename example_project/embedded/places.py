"""Where this checkout keeps what it makes, and the locks on it.

As root the data lies outside home and checkout: PostgreSQL never runs as root, and
another user could only reach a data directory in here if every folder above it were
opened to everybody.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import secrets
import stat
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

CHECKOUT = Path(__file__).resolve().parents[2]


class ServiceError(RuntimeError):
    """An embedded service could not be started, reached or stopped."""


# The kernel's limit is 107 bytes on Linux and 103 on macOS, the file name included.
SOCKET_PATH_BYTES = 100


def digest(path: Path) -> str:
    """Name a path in twelve letters, so that no two checkouts share a server."""
    return hashlib.sha256(os.fsencode(path)).hexdigest()[:12]


def state_root() -> Path:
    """Return the folder of all data this checkout makes, without making it."""
    if os.geteuid() == 0:
        shared = Path("/var/tmp")  # noqa: S108 - owned_folder() refuses a planted one
        return shared / f"prism-memory-{digest(CHECKOUT)}"
    return CHECKOUT / ".prism"


def owned_folder(path: Path, mode: int = 0o755, *, owner: int | None = None) -> Path:
    """Make ``path`` unless it is there, and refuse one that is not our own.

    Args:
        path: The folder; those above it are made too.
        mode: Its permissions, set each time.
        owner: The user id that is to have it; ours when it is not given.

    Raises:
        ServiceError: Another user owns it, or it is a link; in a shared temporary
            folder that means somebody chose the name before us.
    """
    expected = os.geteuid() if owner is None else owner
    path.parent.mkdir(parents=True, exist_ok=True)
    with suppress(FileExistsError):
        path.mkdir(mode=0o700)
        os.chown(path, expected, -1)
    found = path.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != expected:
        raise ServiceError(f"{path} is not a folder of this user; remove it first")
    path.chmod(mode)
    return path


def socket_folder(data: Path, socket_name: str) -> Path:
    """Return ``data``, or a short folder in its stead where its path is too long."""
    if len(os.fsencode(data / socket_name)) <= SOCKET_PATH_BYTES:
        return data
    shared = Path("/tmp")  # noqa: S108 - owned_folder() refuses a planted one
    return shared / f"prism-memory-{digest(data)}"


def kept_secret(name: str, *, bytes_of_entropy: int = 32) -> str:
    """Return the secret of this name, made on first use, readable by us alone."""
    path = owned_folder(state_root()) / name
    fresh = path.with_name(f"{name}.{os.getpid()}")
    fresh.touch(mode=0o600)
    fresh.write_text(secrets.token_urlsafe(bytes_of_entropy))
    try:
        os.link(fresh, path)  # atomic: two processes starting at once agree on one
    except FileExistsError:
        pass
    finally:
        fresh.unlink()
    return path.read_text()


@contextmanager
def exclusive(path: Path) -> Iterator[None]:
    """Hold the lock file ``path`` alone; wait for whoever has it."""
    with path.open("a") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def shared_lease(path: Path) -> IO[str]:
    """Hold ``path`` together with others, until the handle or the process ends."""
    handle = path.open("a")
    fcntl.flock(handle, fcntl.LOCK_SH)
    return handle


def is_leased(path: Path) -> bool:
    """Whether any process holds a lease on ``path``."""
    with path.open("a") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False
