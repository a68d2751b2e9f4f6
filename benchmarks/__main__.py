"""The command line of the benchmarks."""

from __future__ import annotations

import argparse
import os
from importlib import import_module
from pathlib import Path

from benchmarks.corpus import SPREADS
from benchmarks.database import fresh_database
from benchmarks.report import Report

MEANINGS = {
    "locomo": "how well real questions find the turns that answer them",
    "ablation": "what each part of recall is worth to the answers found",
    "latency": "recall in process and over HTTP against the floor of plain SQL",
    "text": "the text leg alone in one large scope, beside ts_rank",
    "filtered": "whether pages are full and neighbours true under scope filters",
    "ingest": "records a second through remember and drain against a bare COPY",
    "documents": "documents in: a big one, many, and one more write beside many",
    "erasure": "how long it takes to erase an owner of many records",
    "growth": "recall in a fixed scope while the table around it grows",
    "row_security": "what row-level security costs recall",
    "access": "what access to documents costs recall",
    "gate": "how well orders are told from harmless words that share theirs",
    "peers": "ours beside other memory systems, those that are installed",
}


def main(arguments: list[str] | None = None) -> int:
    """Run one benchmark; see ``--help``."""
    options = _parser().parse_args(arguments)
    os.environ["PRISM_BENCH_SPREAD"] = options.vectors
    if options.name in ("locomo", "ablation"):  # real words need real vectors
        os.environ["PRISM_BENCH_EMBEDDER"] = "benchmarks.embedders.CachedEmbedder"
    with fresh_database(options.name, keep=options.keep):
        # Late: it imports models, and Django has only now been set up.
        report: Report = import_module(f"benchmarks.{options.name}").run(options)
    print(report)
    if options.json:
        report.write(options.json)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Measure the app on real PostgreSQL. See docs/benchmarks.md.",
    )
    commands = parser.add_subparsers(dest="name", required=True)
    parsers = {
        name: commands.add_parser(name, help=meaning, description=meaning)
        for name, meaning in MEANINGS.items()
    }
    for subparser in parsers.values():
        _add_common(subparser)
    _add_own(parsers)
    _add_of_erasure(parsers["erasure"])
    return parser


def _add_common(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures")
    parser.add_argument("--keep", action="store_true", help="do not drop the database")
    parser.add_argument("--seed", type=int, default=1, help="of texts and vectors")
    parser.add_argument(
        "--vectors", choices=SPREADS, default="shrinking", help="how vectors lie"
    )


def _add_own(parsers: dict[str, argparse.ArgumentParser]) -> None:
    for name in ("locomo", "ablation"):
        words = parsers[name]
        words.add_argument("--data", type=Path, required=True, help="a file of LoCoMo")
        words.add_argument("--conversations", type=int, help="only the first so many")
    parsers["ablation"].add_argument(
        "--only", nargs="+", metavar="NAME", help="these variations alone"
    )
    _add_sizes(parsers)
    peers = parsers["peers"]
    peers.add_argument("--data", type=Path, help="a file of LoCoMo, for recall@10")
    peers.add_argument("--conversations", type=int, help="only the first so many")
    peers.add_argument("--rows", type=int, default=40_000)
    peers.add_argument("--calls", type=int, default=60, help="per scope timed")
    peers.add_argument("--only", nargs="+", metavar="SYSTEM", help="such as ours mem0")


def _add_sizes(parsers: dict[str, argparse.ArgumentParser]) -> None:
    latency = parsers["latency"]
    latency.add_argument("--rows", type=int, default=20_000)
    latency.add_argument("--scopes", type=int, default=40)
    latency.add_argument("--calls", type=int, default=100, help="per scope measured")
    latency.add_argument("--no-http", dest="http", action="store_false")
    text = parsers["text"]
    text.add_argument("--rows", type=int, default=59_000, help="in the scope")
    text.add_argument("--others", type=int, default=20_000, help="around it")
    text.add_argument("--calls", type=int, default=60)
    filtered = parsers["filtered"]
    filtered.add_argument(
        "--rows", type=int, nargs="+", default=[20_000, 200_000], help="table sizes"
    )
    ingest = parsers["ingest"]
    ingest.add_argument("--rows", type=int, default=12_800)
    ingest.add_argument("--singles", type=int, default=200, help="one by one, a round")
    documents = parsers["documents"]
    documents.add_argument("--megabytes", type=int, default=5, help="of the big one")
    documents.add_argument("--chunks", type=int, default=50_000, help="of the corpus")
    growth = parsers["growth"]
    growth.add_argument("--start", type=int, default=10_000, help="rows of the start")
    growth.add_argument("--to", type=int, default=200_000, help="rows of the end")
    growth.add_argument("--scope", type=int, default=1_000, help="rows of the scope")
    growth.add_argument("--calls", type=int, default=100, help="per step")
    growth.add_argument("--hnsw", action="store_true", help="build the index each step")
    access = parsers["access"]
    access.add_argument("--rows", type=int, default=20_000, help="around them")
    access.add_argument("--calls", type=int, default=60, help="per scope measured")
    security = parsers["row_security"]
    security.add_argument("--rows", type=int, default=100_000)
    security.add_argument("--calls", type=int, default=60, help="per scope measured")


def _add_of_erasure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rows", type=int, default=100_000, help="of the owner")
    parser.add_argument("--hnsw", action="store_true", help="with the index built")


if __name__ == "__main__":
    raise SystemExit(main())
