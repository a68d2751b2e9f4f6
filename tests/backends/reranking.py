"""What a rerank service answers, well or badly, in both dialects; see ``servers``."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from tests.backends.servers import Answer, Behaviour, Server
from tests.rerankers import overlap


def scored(body: dict[str, Any]) -> list[dict[str, Any]]:
    """The items of an answer, best first, as services send them."""
    cohere = "documents" in body
    texts = body["documents" if cohere else "texts"]
    key = "relevance_score" if cohere else "score"
    items = [
        {"index": index, key: overlap(body["query"], text)}
        for index, text in enumerate(texts)
    ]
    return sorted(items, key=lambda item: -item[key])


def answer(body: dict[str, Any], items: Any) -> Answer:
    found = {"id": "1", "results": items} if "documents" in body else items
    return 200, {"Content-Type": "application/json"}, json.dumps(found).encode()


def well(server: Server, body: dict[str, Any]) -> Answer:
    return answer(body, scored(body))


def changed(change: Callable[[list[dict[str, Any]]], Any]) -> Behaviour:
    def behave(server: Server, body: dict[str, Any]) -> Answer:
        return answer(body, change(scored(body)))

    return behave


def sending_back(server: Server, body: dict[str, Any]) -> Answer:
    """With each text, every character of it escaped."""
    items = [
        {**item, "document": {"text": body["documents"][item["index"]]}}
        for item in scored(body)
    ]
    return answer(body, items)


def failing(code: int, **headers: str) -> Behaviour:
    def behave(server: Server, body: dict[str, Any]) -> Answer:
        # Real services quote the input in their errors; ours must not pass it on.
        return code, headers, json.dumps({"error": body}).encode()

    return behave
