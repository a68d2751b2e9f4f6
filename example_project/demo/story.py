"""The acts of the demo, in order; each says what it does and checks it."""

from __future__ import annotations

import io
import itertools
import json
import sys
import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from django.core.management import call_command

from example_project.demo import worker
from example_project.demo.conversations import (
    Conversation,
    Question,
    examples,
    labelled,
    measure,
)
from example_project.demo.screen import (
    Claims,
    headline,
    say,
    show_figures,
    show_hits,
)
from prism_memory.errors import NotVisible
from prism_memory.management.progress import Progress
from prism_memory.memory import Memory
from prism_memory.models import Record
from prism_memory.types import Actor, Recalled, Scope

SHOWN = 3
FOREIGN_QUESTIONS = 20
MOST_HITS = 32
FIRST_TURNS = 10
FEW_WORDS = 8
KILLED_AT = 0.4
LOG = "demo-worker.log"
ACTOR = Actor("demo")


@dataclass
class Story:
    """One run of the demo.

    Args:
        tenant: Of this run alone, so that every run shows the same.
        file: The conversations, in LoCoMo's form.
        chosen: Those of the file that are imported; the first two.
        folder: For what the worker writes.
    """

    tenant: str
    file: Path
    chosen: Sequence[Conversation]
    folder: Path
    claims: Claims = field(default_factory=Claims)
    figures: dict[str, str] = field(default_factory=dict)

    @property
    def turns(self) -> int:
        """Turns of the chosen conversations."""
        return sum(item.turns for item in self.chosen)

    def memory(self, owner: str) -> Memory:
        """Return the memory of one owner."""
        return Memory(Scope(self.tenant, owner), actor=ACTOR)

    def tell(self) -> int:
        """Play every act and return the exit code."""
        self.remember()
        self.recall_by_words()
        try:
            self.index()
        except worker.Stalled as error:
            say(f"What the worker said is in {self.folder / LOG}.")
            self.claims.check("The worker indexes everything", holds=False, found=error)
            return self.claims.verdict()
        self.recall()
        self.ask_as_another()
        self.measure()
        self.revoke()
        headline("Figures")
        show_figures(self.figures)
        return self.claims.verdict()

    def remember(self) -> None:
        """Import the conversations; twice, which changes nothing."""
        names = ", ".join(item.name for item in self.chosen)
        headline(f"1. Remember: {len(self.chosen)} conversations ({names})")
        started = time.perf_counter()
        first = self._import()
        seconds = time.perf_counter() - started
        stored = Record.objects.filter(tenant=self.tenant).count()
        self.claims.check(
            f"{self.turns:,} turns are {stored:,} records",
            stored == self.turns == first["changed"],
            first,
        )
        again = self._import()
        self.claims.check(
            "The same import again changes nothing", again["changed"] == 0, again
        )
        self.figures["records"] = f"{stored:,}"
        self.figures["seconds to remember"] = f"{seconds:.2f}"
        self.figures["records/s remembered"] = f"{stored / seconds:,.0f}"

    def _import(self) -> dict[str, int]:
        out = io.StringIO()
        names = [f"--conversation={item.name}" for item in self.chosen]
        call_command(
            "prism_memory_import",
            str(self.file),
            "--format=locomo",
            f"--tenant={self.tenant}",
            "--json",
            "--verbosity=0",
            *names,
            stdout=out,
        )
        found: dict[str, int] = json.loads(out.getvalue())
        return found

    def recall_by_words(self) -> None:
        """Recall before any vector is there.

        By words that were said: a question may share none with what answers it.
        """
        owner, _ = self._first()
        hits = self.memory(owner).recall(self._said(owner), top_k=SHOWN)
        self.claims.check(
            "What has no vector yet is found by its words",
            any("text" in hit.ranks for hit in hits)
            and all(hit.cosine is None for hit in hits),
            [(hit.method, hit.cosine) for hit in hits],
        )

    def _said(self, owner: str) -> str:
        """Return some words of a longer one of the first turns."""
        rows = Record.objects.filter(tenant=self.tenant, scope__owner=owner)
        texts = rows.order_by("sequence").values_list("text", flat=True)[:FIRST_TURNS]
        return " ".join(max(texts, key=len).split()[:FEW_WORDS])

    def index(self) -> None:
        """Have a worker index it all, kill it in the middle, start another one."""
        headline("2. Index: a Celery worker embeds; we kill it in the middle")
        queue = worker.Queue(self.tenant, self.turns)
        pace = worker.Pace()
        schedule, log = self.folder / "demo-beat", self.folder / LOG
        with worker.worker(schedule, log) as child:
            worker.watch(child, queue, pace, until=KILLED_AT)
            held = worker.kill_while_holding(child, queue)
        at = queue.indexed()
        pace.pause()
        say(f"SIGKILL at {at:,} of {queue.total:,}; it held {len(held)} texts.")
        self.claims.check("The worker was killed while it held texts", held)
        with worker.worker(schedule, log) as child:
            say("Another worker starts; the held texts come back by themselves.")
            worker.watch(child, queue, pace, until=1)
        self._check_indexed(queue, held)
        self.figures["embeddings/s of the worker"] = (
            f"{pace.per_second:,.0f}" if pace.vectors else "-"
        )

    def _check_indexed(self, queue: worker.Queue, held: set[uuid.UUID]) -> None:
        back = queue.taken_twice(held)
        self.claims.check(
            f"The {len(held)} texts it held were taken again and have their vector",
            back == len(held),
            back,
        )
        indexed, failed = queue.indexed(), queue.failed()
        self.claims.check(
            f"Every record has its vector ({indexed:,}), none failed",
            (indexed, failed) == (self.turns, 0),
            (indexed, failed),
        )

    def recall(self) -> None:
        """Ask three questions, the first of each kind."""
        item = self.chosen[0]
        headline(f"3. Recall as {item.name} (* is evidence that the data set names)")
        for question in examples(item):
            say(f"{question.text}  → {question.answer}")
            hits = self.memory(item.name).recall(question.text, top_k=SHOWN)
            show_hits(hits, question.evidence)
            self._check_own(item.name, hits)

    def _check_own(self, owner: str, hits: Recalled) -> None:
        self.claims.check(
            f"{SHOWN} hits, each of {owner}, by meaning too, with where and when",
            len(hits) == SHOWN
            and self._owners(hits) == {owner}
            and hits.strategy != "none"
            and not hits.degraded
            and all(hit.cosine is not None for hit in hits)
            and all(hit.source and hit.writer and hit.happened_at for hit in hits),
            (self._owners(hits), hits.strategy, hits.degraded),
        )

    def _owners(self, hits: Recalled) -> set[str]:
        """Return whose the records are, as the table says, not as the hits do."""
        ids = [hit.id for hit in hits]
        rows = Record.objects.filter(tenant=self.tenant, id__in=ids)
        return set(rows.values_list("scope__owner", flat=True))

    def ask_as_another(self) -> None:
        """Ask the first owner's questions as somebody else."""
        owner, question = self._first()
        other = self.chosen[1].name
        headline(f"4. The same questions as {other}")
        say(question.text)
        hits = self.memory(other).recall(question.text, top_k=SHOWN)
        show_hits(hits, frozenset())
        asked = labelled(self.chosen[0])[:FOREIGN_QUESTIONS]
        owners: set[str] = set()
        for each in asked:
            owners |= self._owners(
                self.memory(other).recall(each.text, top_k=MOST_HITS)
            )
        self.claims.check(
            f"{len(asked)} questions about {owner}, {MOST_HITS} hits each:"
            " not one is theirs",
            owners == {other},
            owners,
        )
        nobody = self.memory("somebody-else").recall(question.text)
        elsewhere = Memory(Scope(f"{self.tenant}-b", owner)).recall(question.text)
        self.claims.check(
            "An owner without memories, and the same owner elsewhere, get nothing",
            not nobody.hits and not elsewhere.hits,
            (len(nobody), len(elsewhere)),
        )

    def measure(self) -> None:
        """Ask every labelled question."""
        count = sum(len(labelled(item)) for item in self.chosen)
        headline(f"5. Measure: all {count} questions that have an answer")

        bar, asked = Progress(sys.stdout, "  Asking", count), itertools.count(1)

        def search(owner: str, question: str, k: int) -> list[str]:
            hits = self.memory(owner).recall(question, top_k=k)
            bar.update(next(asked))
            return [hit.key for hit in hits]

        quality = measure(search, self.file, self.chosen)
        bar.close()
        self.claims.check("Each was asked", quality.questions == count, quality)
        say(f"Scored by {quality.measured_by}.")
        self.figures["recall p50 ms"] = f"{quality.p50_ms:.1f}"
        self.figures["recall p95 ms"] = f"{quality.p95_ms:.1f}"
        self.figures["evidence in ten hits"] = f"{quality.recall_at_10:.3f}"

    def revoke(self) -> None:
        """Take a consent back: the record is gone at once."""
        headline("6. Revoke one record")
        owner, question = self._first()
        memory = self.memory(owner)
        before = memory.recall(question.text, top_k=SHOWN)
        gone = before[0]
        say(question.text)
        memory.set_consent(gone.id, visible=False, reason="The demo revokes it.")
        after = memory.recall(question.text, top_k=MOST_HITS)
        left = min(MOST_HITS, self.chosen[0].turns - 1)
        show_hits(after[:SHOWN], question.evidence)
        self.claims.check(
            f"{gone.key} was first and is gone, with {MOST_HITS} hits asked",
            gone.id not in {hit.id for hit in after} and len(after) == left,
            len(after),
        )
        self.claims.check(
            "It cannot be read by its id either", _is_hidden(memory, gone.id)
        )

    def _first(self) -> tuple[str, Question]:
        item = self.chosen[0]
        return item.name, examples(item)[0]


def _is_hidden(memory: Memory, record_id: uuid.UUID) -> bool:
    try:
        memory.get(record_id)
    except NotVisible:
        return True
    return False
