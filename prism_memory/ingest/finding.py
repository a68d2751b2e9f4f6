"""Files under the places that were named. Pure; nothing is opened.

Links are not followed out of a place, and links to folders not at all: what they lead
to in it is found anyway, once. Names that begin with a dot are passed over.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from prism_memory.errors import Invalid


@dataclass(frozen=True)
class FoundFile:
    """A file to read.

    Args:
        name: Below its place, with ``/``; a file that was named itself: its name.
        path: What is opened; no link.
        size: In bytes, when it was found.
    """

    name: str
    path: Path
    size: int


@dataclass
class Finding:
    """What was found.

    Args:
        names: Of every file there is, wanted or not.
        files: Those that are wanted, in the order of their names.
        left: What was passed over, and why.
        complete: All folders could be looked into, and each held a file.
    """

    names: set[str] = field(default_factory=set)
    files: list[FoundFile] = field(default_factory=list)
    left: list[tuple[str, str]] = field(default_factory=list)
    complete: bool = True


def find(places: Sequence[Path], *, globs: Collection[str] = ()) -> Finding:
    """Return the files of folders, and files that are named.

    Args:
        globs: Names must match one, if there are any; ``*`` matches ``/`` too.

    Raises:
        Invalid: A place is not there, or two files have one name below their places.
    """
    finding = Finding()
    for place in places:
        found = list(_below(place, finding))
        finding.complete = finding.complete and bool(found)
        for file in found:
            if file.name in finding.names:
                message = f"{_shown(file.name)} is there twice; give one place a run."
                raise Invalid(message, field="path")
            finding.names.add(file.name)
            if not globs or any(fnmatchcase(file.name, glob) for glob in globs):
                finding.files.append(file)
    finding.files.sort(key=lambda file: file.name)
    return finding


def _below(place: Path, finding: Finding) -> Iterator[FoundFile]:
    try:
        root = place.resolve(strict=True)
        if root.is_file():
            yield FoundFile(place.name, root, root.stat().st_size)
            return
        is_folder = root.is_dir()
    except (OSError, RuntimeError) as error:  # a loop of links: RuntimeError, till 3.12
        reason = getattr(error, "strerror", None) or "links lead in a circle"
        message = f"{_shown(str(place))} cannot be read ({reason})."
        raise Invalid(message, field="path") from error
    if not is_folder:
        message = f"{_shown(str(place))} is no folder and no regular file."
        raise Invalid(message, field="path")
    yield from _in_folder(root, finding)


def _in_folder(root: Path, finding: Finding) -> Iterator[FoundFile]:
    def refused(error: OSError) -> None:
        finding.complete = False
        name = os.path.relpath(str(error.filename), root)
        finding.left.append((_shown(name), f"cannot be read ({error.strerror})"))

    for folder, folders, names in os.walk(root, onerror=refused):
        here = Path(folder)
        for name in sorted(folders):
            if (here / name).is_symlink():
                below = (here / name).relative_to(root).as_posix()
                finding.left.append((_shown(below), "a link to a folder"))
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in names:
            if not name.startswith("."):
                yield from _file(root, here / name, finding)


def _file(root: Path, path: Path, finding: Finding) -> Iterator[FoundFile]:
    name = path.relative_to(root).as_posix()
    try:
        real = path.resolve(strict=True)
        status = real.stat()
    except (OSError, RuntimeError):
        finding.left.append((_shown(name), "leads nowhere"))
        return
    if not real.is_relative_to(root):
        finding.left.append((_shown(name), "leads out of the folder"))
    elif not stat.S_ISREG(status.st_mode):
        finding.left.append((_shown(name), "no regular file"))
    else:
        yield FoundFile(name, real, status.st_size)


def _shown(name: str) -> str:
    """Return a name that can be printed, whatever bytes it is of."""
    return name.encode("utf-8", "backslashreplace").decode()
