"""The floor looks for the same as recall does, within the same limits."""

from __future__ import annotations

import pytest
from django.test import override_settings

from benchmarks import loading
from benchmarks.corpus import Corpus, common_words
from benchmarks.floor import Floor
from prism_memory import Memory, backends
from prism_memory.access import Reader
from prism_memory.recall import Question
from prism_memory.recall.candidates import VectorLeg, find
from prism_memory.recall.candidates.text import TERM_ROWS
from prism_memory.types import Scope

EMBEDDERS = {"default": {"BACKEND": "benchmarks.embedders.SyntheticEmbedder"}}
ROWS = 6 * TERM_ROWS
"""The commonest word is in a fifth of the texts: in more rows than are searched."""


@pytest.mark.django_db(transaction=True)
@override_settings(PRISM_MEMORY={"EMBEDDERS": EMBEDDERS})
@pytest.mark.parametrize("words", [0, 2])
def test_the_floor_finds_what_the_legs_of_recall_find(
    words, child_environment, monkeypatch
):
    monkeypatch.setenv("DATABASE_URL", child_environment["DATABASE_URL"])
    scope, corpus = Scope("acme", owner="ada"), Corpus()
    texts = loading.load(corpus, [scope] * ROWS).texts
    # Words from far down the list are rare; with the commonest the leg is bounded.
    rare = " ".join(sorted(texts[7].split(), key=len)[-3:])
    question = f"{rare} {common_words(words)}".strip()
    vector = backends.embed(backends.get_embedder(), [question], role="query")[0]
    floor = Floor(scope, ROWS, loading.space(), indexed=False)
    floor.learn([question])
    near, worded = floor(question, vector)
    floor.close()
    text = find(
        using="default",
        reader=Reader(scope),
        query=question,
        leg=VectorLeg(),
        rows=Question("?", 5).candidate_rows,
        legs=("text",),
        beside=False,
    )
    assert text.bounded == bool(words)
    expected = {i: row["bm25"] for i, row in text.rows.items()}
    assert {str(i): pytest.approx(score) for i, score in worded} == expected
    hits = Memory(scope).recall(question, top_k=5, legs="vector").hits
    assert [row[0] for row in near[:5]] == [hit.id for hit in hits]
