"""Real questions over real conversations: do they find the turns that answer them?"""

from __future__ import annotations

import argparse
import importlib.util
import io
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from django.core.management import call_command

from benchmarks.report import Report
from example_project.embedded import CHECKOUT
from prism_memory import Memory
from prism_memory.types import Scope

TENANT: Final = "locomo"
DEPTH: Final = 32
"""What recall gives at most."""

LEGS: Final = ("text", "vector", "hybrid")
METRICS: Final = ("recall@5", "recall@10", "recall@20", "hit@10", "ndcg@10", "mrr")


def run(options: argparse.Namespace) -> Report:
    """Import the conversations as the command does, then ask by each leg."""
    evaluation = load_evaluation()
    conversations = evaluation.load(options.data)[: options.conversations]
    import_conversations(options, tenant=TENANT)
    report = Report("locomo", ("leg", *METRICS))
    for leg in LEGS:
        found = score(evaluation, conversations, leg=leg, tenant=TENANT)
        report.add(leg, *(found[metric] for metric in METRICS))
        for metric in METRICS:
            report.figures[f"{leg}.{metric}"] = found[metric]
        report.figures["questions"] = found["n"]
    return report


def import_conversations(options: argparse.Namespace, *, tenant: str) -> None:
    """Remember and embed them for a tenant, by the command."""
    call_command(
        "prism_memory_import",
        options.data,
        format="locomo",
        tenant=tenant,
        limit=options.conversations,
        embed=True,
        verbosity=0,
        stdout=io.StringIO(),
    )


def score(
    evaluation: ModuleType,
    conversations: Any,  # noqa: ANN401 - the evaluation's own
    *,
    leg: str,
    tenant: str,
) -> dict[str, float]:
    """Ask every question by one leg; return the metrics over all of them."""
    search = searching(leg, tenant)
    found = evaluation.evaluate(search, conversations, depth=DEPTH)
    overall: dict[str, float] = found["overall"]
    return overall


def searching(leg: str, tenant: str) -> Any:  # noqa: ANN401 - what the evaluation calls
    """Return what the evaluation asks: keys of the hits, best first."""

    def search(conversation_id: str, query: str, k: int) -> list[str]:
        memory = Memory(Scope(tenant, owner=conversation_id))
        found = memory.recall(query, top_k=min(k, DEPTH), legs=leg)
        return [hit.key for hit in found.hits]

    return search


def load_evaluation() -> ModuleType:
    """Return ``locomo_eval`` of the shared folder; ``PRISM_SHARED`` names another.

    Raises:
        FileNotFoundError: It is not there.
    """
    shared = Path(os.environ.get("PRISM_SHARED", CHECKOUT.parent / "shared"))
    path = shared / "eval" / "locomo_eval.py"
    spec = importlib.util.spec_from_file_location("locomo_eval", path)
    if spec is None or spec.loader is None or not path.exists():
        message = f"{path} is not there; set PRISM_SHARED to the folder above eval/."
        raise FileNotFoundError(message)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # its dataclasses look themselves up there
    spec.loader.exec_module(module)
    return module
