"""``prism_memory_ingest``: files become documents, in chunks that can be cited."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from prism_memory.ingest.files import Plan, Taken
from prism_memory.ingest.finding import Finding, find
from prism_memory.ingest.reading import READERS
from prism_memory.management import ingesting
from prism_memory.management.command import FAILED, MemoryCommand, os_actor
from prism_memory.management.draining import drain_tenants
from prism_memory.management.options import (
    USAGE,
    add_common,
    add_tenant,
    between,
    database,
)
from prism_memory.management.progress import Progress
from prism_memory.memory import Memory
from prism_memory.types import Authorization, Open, Origin, Scope, Trust

STDIN = Path("-")


class Command(MemoryCommand):
    """Ingest files."""

    help = """\
Ingest files: each becomes a source at exactly the scope that is named, cut into chunks
that are searched and cited. The key of a source is the key prefix and the file's name
below the folder. A second run leaves alone what is unchanged, keeps the chunks that a
changed file still holds, with their vectors, and retires the others.
Text and Markdown need nothing more; HTML, PDF and DOCX need the extra "files".
"""
    examples = """\
examples:
  manage.py prism_memory_ingest handbook/ --tenant acme --owner ada \\
      --trust document --writer docs-team --key-prefix handbook/
  manage.py prism_memory_ingest handbook/ --tenant acme --owner ada \\
      --trust document --writer docs-team --key-prefix handbook/ --prune --dry-run
  curl https://example.org/page | manage.py prism_memory_ingest - --key page \\
      --format html --tenant acme --owner ada --trust tool --writer curl

exit codes:
  0    all is stored, or was there
  1    files were refused (each is named; all others are stored), or the work failed
  2    wrong usage
  130  stopped by Ctrl-C; the same command goes on from there
"""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "paths",
            nargs="+",
            type=Path,
            metavar="PATH",
            help="Folders and files; - is standard input.",
        )
        _add_scope(parser)
        _add_reading(parser)
        parser.add_argument(
            "--dry-run",
            action="store_true",
            help="Say what would change; each file is written and taken back.",
        )
        parser.add_argument(
            "--prune",
            action="store_true",
            help="Retire the sources of this scope and key prefix that came from files"
            " which are gone. Of folders alone.",
        )
        parser.add_argument(
            "--restore",
            action="store_true",
            help="Bring back retired sources whose files are there; else such a file is"
            " refused.",
        )
        parser.add_argument(
            "--wait",
            action="store_true",
            help="Embed in this process too, instead of leaving it to a worker.",
        )
        add_common(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        _check(options)
        again = "Stopped. What is stored stays; the same command goes on from there."
        with self.refusals(interrupted=again):
            writing = _writing(options)
            finding = Finding()
            if options["paths"] == [STDIN]:
                taken = ingesting.take_stdin(
                    options["key"],
                    plan=_plan(options),
                    writing=writing,
                    seconds=options["seconds"],
                )
            else:
                finding = find(options["paths"], globs=options["glob"])
                taken = self._take(finding, writing, options)
            pruned = self._prune(finding, writing, options)
            if options["wait"]:
                self._embed(options)
        self._answer(taken, pruned, options)

    def _take(
        self, finding: Finding, writing: ingesting.Writing, options: dict[str, Any]
    ) -> Taken:
        bar = Progress(
            self.progress_stream(),
            "Ingesting",
            sum(file.size for file in finding.files),
            silent=options["verbosity"] < 1,
        )
        try:
            taken = ingesting.take_all(
                finding.files,
                plan=_plan(options),
                writing=writing,
                seconds=options["seconds"],
                bar=bar,
            )
        finally:
            bar.close()
        taken.skipped += finding.left
        return taken

    def _prune(
        self, finding: Finding, writing: ingesting.Writing, options: dict[str, Any]
    ) -> list[str]:
        if not options["prune"]:
            return []
        keys = ingesting.gone(writing.memory, finding, options["key_prefix"])
        if not options["dry_run"]:
            ingesting.retire_all(writing.memory, keys, reason="its file is gone")
        return keys

    def _embed(self, options: dict[str, Any]) -> None:
        done = drain_tenants(
            using=database(options),
            alias=None,
            tenants=[options["tenant"]],
            stream=self.progress_stream(),
            silent=options["verbosity"] < 1,
        ).done
        if done.outage:
            message = f"All is stored, but embedding stopped: {done.outage}"
            raise CommandError(message, returncode=FAILED)

    def _answer(self, taken: Taken, pruned: list[str], options: dict[str, Any]) -> None:
        is_trial = options["dry_run"]
        found = ingesting.as_json(taken, pruned, is_trial=is_trial)
        said = ingesting.lines(taken, pruned, is_trial=is_trial)
        self.answer(found, options, *said)
        if options["verbosity"] > 1:
            for name, reason in taken.skipped:
                self.aside(f"{name}: passed over: {reason}")
        for name, reason in taken.refused:
            self.aside(f"{name}: {reason}")
        if taken.refused:
            message = f"{len(taken.refused):,} of the files could not be ingested."
            raise CommandError(message, returncode=FAILED)


def _add_scope(parser: CommandParser) -> None:
    add_tenant(parser, "Tenant to write to.", required=True)
    parser.add_argument("--owner", required=True, help="Owner to write to.")
    parser.add_argument("--agent", default="", help="Agent to write to.")
    parser.add_argument("--thread", default="", help="Thread to write to.")
    parser.add_argument(
        "--trust",
        required=True,
        choices=[trust.value for trust in Trust],
        help="What kind of writer the words are of; document, usually.",
    )
    parser.add_argument("--writer", required=True, help="Who wrote them.")
    parser.add_argument(
        "--restricted",
        action="store_true",
        help="Nobody reads them before access to them is set.",
    )
    parser.add_argument(
        "--principal",
        default="",
        help="As whom restricted documents are ingested anew; they are refused, if not"
        " given.",
    )
    parser.add_argument(
        "--group",
        action="append",
        default=[],
        help="A group of the principal's; give it once for each.",
    )
    parser.add_argument("--key-prefix", default="", help="Put before each key.")
    parser.add_argument("--key", help="The whole key of standard input.")
    parser.add_argument(
        "--uri-prefix", default="", help="Put before a file's name: its address."
    )


def _add_reading(parser: CommandParser) -> None:
    parser.add_argument(
        "--glob",
        action="append",
        default=[],
        metavar="PATTERN",
        help="Only names like this, such as '*.md'; may be given several times.",
    )
    parser.add_argument(
        "--format", choices=list(READERS), help="Of all files; by their names, if not."
    )
    parser.add_argument("--encoding", help="Of text that is not UTF-8.")
    parser.add_argument("--language", help="For full text; the setting, if not given.")
    parser.add_argument(
        "--chunker",
        choices=list(ingesting.CHUNKERS),
        help="How to cut; by the format, if not given.",
    )
    parser.add_argument(
        "--seconds",
        type=between(1, 3_600),
        default=120,
        help="What reading one file may take, 1 to 3,600; 120.",
    )


def _check(options: dict[str, Any]) -> None:
    """Refuse what does not go together.

    Raises:
        CommandError: It does not.
    """
    ingesting.check_places(options["paths"])
    told = ""
    if (options["paths"] == [STDIN]) != (options["key"] is not None):
        told = "--key names standard input (-), and nothing else."
    elif options["prune"] and not options["key_prefix"]:
        told = "--prune needs --key-prefix: it says which sources are of these files."
    elif options["prune"] and not all(path.is_dir() for path in options["paths"]):
        told = "--prune is of folders alone."
    elif options["group"] and not options["principal"]:
        told = "--group is of a --principal."
    elif options["wait"] and options["dry_run"]:
        told = "--dry-run leaves nothing to embed."
    if told:
        raise CommandError(told, returncode=USAGE)


def _plan(options: dict[str, Any]) -> Plan:
    return Plan(options["key_prefix"], options["format"], options["encoding"])


def _writing(options: dict[str, Any]) -> ingesting.Writing:
    levels = (options[name] for name in ("tenant", "owner", "agent", "thread"))
    memory = Memory(
        Scope(*levels),
        actor=os_actor(),
        using=database(options),
        origin=Origin(Trust(options["trust"]), options["writer"]),
        authorization=_reader(options),
    )
    return ingesting.Writing(
        memory,
        options["key_prefix"],
        options["chunker"],
        options["uri_prefix"],
        options["language"],
        of_files=options["paths"] != [STDIN],
        restores=options["restore"],
        is_trial=options["dry_run"],
        restricted=options["restricted"],
    )


def _reader(options: dict[str, Any]) -> Authorization | None:
    if not options["principal"]:
        return None
    return Authorization(options["principal"], options["group"], open=Open.ALLOW)
