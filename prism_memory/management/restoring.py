"""The files of an export, for ``prism_memory_import --format export``."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import IO, Any, Final

from django.core.management.base import CommandError, CommandParser
from django.utils import timezone

from prism_memory import ingest
from prism_memory.conf import Limits
from prism_memory.governance.restore import Restoring, imported, note
from prism_memory.ingest import loading
from prism_memory.ingest.entries import BadEntry
from prism_memory.ingest.jsonl import LINE_BYTES
from prism_memory.lifecycle.restore import is_late
from prism_memory.management.command import FAILED, os_actor
from prism_memory.management.options import USAGE, database
from prism_memory.management.progress import Progress
from prism_memory.management.restoring_facts import restore_facts
from prism_memory.types import PORTABLE, Actor, Entry, Kind

MANIFEST: Final = re.compile(r"manifest[^/]*\.json")
MANIFEST_BYTES: Final = 268_435_456


@dataclass(frozen=True)
class Part:
    """A file with lines of an export.

    Args:
        sha256: It must have, in hex; None: nobody said.
    """

    path: Path
    sha256: str | None = None

    def lines(self) -> Iterator[tuple[str, bytes]]:
        """Yield each line with its place.

        Raises:
            BadEntry: It is said to be gzip, and is not.
        """
        with self.path.open("rb") as raw:
            file: IO[bytes] = raw
            if self.path.suffix == ".gz":
                file = gzip.GzipFile(fileobj=raw)  # type: ignore[assignment] # as a file
            number = 0
            try:
                for line in iter(partial(file.readline, LINE_BYTES + 1), b""):
                    number += 1
                    yield f"{self.path.name} line {number}", line
            except (EOFError, gzip.BadGzipFile, zlib.error):
                message = "the file is no whole gzip."
                place = f"{self.path.name} line {number + 1}"
                raise BadEntry(message, place=place) from None


def find_parts(path: Path, manifest: Path | None) -> list[Part]:
    """Return the files that an import of ``path`` reads.

    Args:
        path: One file of an export, or the manifest beside all of them.
        manifest: Where the SHA-256 of the one file stands.

    Raises:
        CommandError: The manifest is none, or a file is not as it says.
    """
    if MANIFEST.fullmatch(path.name):
        listed = _listed(path)
        parts = [Part(path.parent / name, sha256) for name, sha256 in listed.items()]
    elif manifest is None:
        return [Part(path)]
    else:
        known = {sha256: name for name, sha256 in _listed(manifest).items()}
        found = _sha256(path)
        if found not in known:
            message = f"{path}: the manifest knows no file of these bytes."
            raise CommandError(message, returncode=FAILED)
        return [Part(path, found)]
    for part in parts:
        _check(part)
    return parts


def _check(part: Part) -> None:
    if not part.path.is_file():
        message = f"{part.path}: no such file, but the manifest lists it."
        raise CommandError(message, returncode=USAGE)
    if _sha256(part.path) != part.sha256:
        message = f"{part.path}: not the bytes that the manifest lists."
        raise CommandError(message, returncode=FAILED)


def _listed(path: Path) -> dict[str, str]:
    """Return the SHA-256 of each file of a manifest, in their order."""
    try:
        with path.open("rb") as file:
            found = json.loads(file.read(MANIFEST_BYTES))
        if found["format"] != PORTABLE:
            raise ValueError
        # The name alone: a manifest leads nowhere else.
        return {Path(p["file"]).name: str(p["sha256"]) for p in found["parts"]}
    except (ValueError, KeyError, TypeError, RecursionError):
        message = f"{path}: no manifest of an export."
        raise CommandError(message, returncode=FAILED) from None
    except OSError as error:
        message = f"{path}: cannot be read ({error.strerror})."
        raise CommandError(message, returncode=USAGE) from error


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read(parts: Sequence[Part], mapped: ingest.Mapped) -> Iterator[ingest.Incoming]:
    """Yield the records of all parts, in their order."""
    lines = (line for part in parts for line in part.lines())
    return ingest.read_export(lines, mapped=mapped)


def add_options(parser: CommandParser) -> None:
    """Add what only an import of an export takes."""
    group = parser.add_argument_group("with --format export")
    group.add_argument(
        "--owner",
        default="",
        help="Restore an export of one owner as this one.",
    )
    group.add_argument(
        "--trust-file",
        action="store_true",
        help="Believe the file who wrote its words. Without it they are a document's:"
        " a file does not vouch for itself.",
    )
    group.add_argument(
        "--renumber",
        action="store_true",
        help="Give new sequence numbers in the file's order, for a database where"
        " others are in use.",
    )
    group.add_argument(
        "--manifest", type=Path, help="Check the file by the manifest of its export."
    )


def refuse_options(options: dict[str, Any]) -> None:
    """Refuse them with another format: they would do nothing.

    Raises:
        CommandError: One was given.
    """
    for name in ("owner", "trust_file", "renumber", "manifest"):
        if options[name]:
            flag = f"--{name.replace('_', '-')}"
            message = f"{flag} goes with --format export."
            raise CommandError(message, returncode=USAGE)


def restore_file(path: Path, options: dict[str, Any], bar: Progress) -> dict[str, Any]:
    """Restore what a command asks for; return what was done."""
    actor, using, tenant = os_actor(), database(options), options["tenant"]
    if options["limit"] or options["conversation"]:
        message = "--limit and --conversation choose conversations, not of an export."
        raise CommandError(message, returncode=USAGE)
    mapped = ingest.Mapped(
        tenant=tenant,
        owner=options["owner"],
        owner_prefix=options["owner_prefix"],
        trusted=options["trust_file"],
        renumber=options["renumber"],
    )
    parts = find_parts(path, options["manifest"])
    words = [mapped.owner, mapped.owner_prefix, str(mapped.trusted)]
    target = loading.fingerprint(path, "export", *words, str(mapped.renumber))
    loaded = restore(
        parts,
        using=using,
        target=target,
        actor=actor,
        mapped=mapped,
        restoring=Restoring(using, actor, imported(actor)),
        progress=lambda done: bar.update(0, f"{done.entries:,} records"),
    )
    back = restore_facts(
        lambda: (i for i in read(parts, mapped) if i.entry.kind is Kind.FACT),
        restoring=Restoring(using, actor, imported(actor)),
        trusted=mapped.trusted,
    )
    done = {
        "records": loaded.entries + back.seen,
        "changed": loaded.changed + back.restored,
    }
    bar.update(bar.total, f"{done['records']:,} records")
    bar.close()
    note(
        using=using,
        tenant=tenant,
        actor=actor,
        target=f"import:{target[:16]}",
        trusted=mapped.trusted,
        at=timezone.now(),
        **done,
    )
    back.require_all()
    done["links_dropped"] = back.loose
    return {"tenant": tenant, **done, "resumed_at": loaded.resumed_at}


def told(found: dict[str, Any]) -> str:
    """Return what was done, for people."""
    missing = f"{found['changed']:,} were missing and are restored."
    dropped = found["links_dropped"]
    loose = f" {dropped:,} links of facts lead nowhere, and are dropped."
    return f"{found['records']:,} records: " + (
        (missing if found["changed"] else "all of them are there.")
        + (loose if dropped else "")
    )


def restore(
    parts: Sequence[Part],
    *,
    using: str,
    target: str,
    actor: Actor,
    mapped: ingest.Mapped,
    restoring: Restoring,
    progress: Callable[[loading.Loaded], None],
) -> loading.Loaded:
    """Restore all that was said, then link what came before what it derives from."""
    form: dict[str, Any] = {
        "using": using,
        "tenant": mapped.tenant,
        "actor": actor,
        "rows": Limits().batch_entries,
    }
    loaded = loading.load(
        **form,
        target=target,
        items=(i for i in read(parts, mapped) if i.entry.kind is not Kind.FACT),
        write=restoring,
        progress=progress,
    )
    if is_late(using=using, tenant=mapped.tenant):
        items = (i for i in read(parts, mapped) if _is_derived(i.entry))
        loading.load(
            **form,
            target=f"{target[:200]} links",
            items=items,
            write=replace(restoring, links=True),
        )
    return loaded


def _is_derived(entry: Entry) -> bool:
    return entry.kind is not Kind.FACT and bool(getattr(entry, "derived", ()))
