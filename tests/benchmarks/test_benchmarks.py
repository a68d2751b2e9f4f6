"""Each benchmark runs in its smallest size and gives the figures it promises."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.peers import TIMED
from example_project.embedded import CHECKOUT

FIGURES = {
    "latency": {
        "in_process_over_floor.500",
        "in_process_minus_floor_ms.500",
        "statements_per_recall",
    },
    "filtered": {"rows_share_min", "neighbours_share_min"},
    "ingest": {"remember_per_s", "drain_per_s", "copy_over_remember"},
    "erasure": {"erase_seconds", "erase_per_s", "slowest_page_seconds", "rows_left"},
    "growth": {"growth_ratio", "growth_ratio.text", "growth_ratio.vector"},
    "text": {"bm25_p50_ms", "bm25_over_ts_rank", "bm25_common_p50_ms"},
    "peers": {
        "ours.rows_of_32_min",
        *(f"ours.p{p}_ms.{size}" for p in (50, 95) for size in TIMED),
    },
    "locomo": {
        f"{leg}.{metric}"
        for leg in ("text", "vector", "hybrid")
        for metric in ("recall@5", "recall@10", "recall@20", "hit@10", "ndcg@10", "mrr")
    },
}
FIGURES["ablation"] = {
    f"ablation.{name}.recall@10"
    for name in ("as-shipped", "words-alone", "words-alone.text", "date-in-both.vector")
}

CONVERSATION = {
    "sample_id": "conv-1",
    "conversation": {
        "speaker_a": "Ada",
        "speaker_b": "Ben",
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [
            {"speaker": "Ada", "dia_id": "D1:1", "text": "I adopted a grey parrot."},
            {"speaker": "Ben", "dia_id": "D1:2", "text": "My train was late again."},
        ],
    },
    "qa": [
        {
            "question": "Which bird did Ada adopt? A parrot?",
            "category": 4,
            "evidence": ["D1:1"],
            "answer": "a parrot",
        }
    ],
}


@pytest.fixture
def measured(child_environment: dict[str, str], tmp_path: Path):
    """Run a benchmark as a person would; return the figures it wrote."""

    def run(name: str, *words: str) -> dict[str, float]:
        path = tmp_path / "figures.json"
        # The vectors it caches belong to the test.
        environment = child_environment | {"PRISM_BENCH_CACHE": str(tmp_path)}
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks", name, *words, "--json", str(path)],
            cwd=CHECKOUT,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        found = json.loads(path.read_text())
        assert found["name"] == name
        assert FIGURES[name] <= found["figures"].keys()
        figures: dict[str, float] = found["figures"]
        return figures

    return run


def test_latency_compares_recall_with_the_floor_and_counts_one_statement(measured):
    words = ["--rows", "700", "--scopes", "3", "--calls", "2"]
    figures = measured("latency", *words)
    assert figures["statements_per_recall"] == 1
    assert {"http_p50_ms", "http_p95_ms"} <= figures.keys()


def test_filtered_pages_are_full_and_neighbours_true(measured):
    """C05 in small; the command's own sizes are the real ones."""
    figures = measured("filtered", "--rows", "800")
    assert figures["rows_share_min"] == 1.0
    assert figures["neighbours_share_min"] >= 0.99


def test_ingest_gives_rates_and_leaves_no_database_behind(measured, child_environment):
    figures = measured("ingest", "--rows", "128", "--singles", "3")
    assert figures["remember_per_s"] > 0
    listed = subprocess.run(
        [sys.executable, "-c", LIST_DATABASES],
        env=child_environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "prism_bench_ingest" not in listed.stdout


def test_erasure_leaves_nothing_of_an_owner(measured):
    figures = measured("erasure", "--rows", "300")
    assert figures["rows_left"] == 0
    assert figures["erase_per_s"] > 0


def test_growth_gives_the_ratio_of_the_last_step_to_the_first(measured):
    words = ["--start", "300", "--to", "600", "--scope", "100", "--calls", "2"]
    assert measured("growth", *words)["rows"] == 600


def test_text_compares_the_words_leg_with_ts_rank(measured):
    words = ["--rows", "300", "--others", "50", "--calls", "2"]
    assert measured("text", *words)["bm25_p50_ms"] > 0


def test_peers_times_ours_and_counts_full_pages(measured, shared_dir, tmp_path: Path):
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps([CONVERSATION]))
    words = ["--rows", "400", "--calls", "2", "--only", "ours", "--data", str(path)]
    figures = measured("peers", *words)
    assert figures["ours.rows_of_32_min"] == 32
    assert figures["ours.recall@10"] == 1.0


def test_locomo_scores_each_leg(measured, shared_dir: Path, tmp_path: Path):
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps([CONVERSATION]))
    figures = measured("locomo", "--data", str(path))
    assert figures["questions"] == 1
    assert figures["text.recall@5"] == 1.0
    assert figures["hybrid.recall@5"] == 1.0


def test_ablation_asks_of_what_was_written_in_each_way(
    measured, shared_dir: Path, tmp_path: Path
):
    """B350, B352: without who speaks, full text does not find what Ben said."""
    path = tmp_path / "conversations.json"
    said_by_ben = {"question": "Ben?", "category": 4, "evidence": ["D1:2"]}
    path.write_text(json.dumps([{**CONVERSATION, "qa": [said_by_ben]}]))
    words = ["--only", "as-shipped", "words-alone", "date-in-both"]
    figures = measured("ablation", "--data", str(path), *words)
    assert figures["ablation.as-shipped.text.recall@5"] == 1.0
    assert figures["ablation.words-alone.text.recall@5"] == 0.0


LIST_DATABASES = """
import os, psycopg
with psycopg.connect(os.environ["DATABASE_URL"]) as connection:
    print(connection.execute("SELECT datname FROM pg_database").fetchall())
"""
