"""Run as a process of its own: settings are read when classes are made."""

from __future__ import annotations

import json
import sys

import django

django.setup()

from django.conf import settings  # noqa: E402
from django.db import connection  # noqa: E402
from django.test import Client  # noqa: E402


def main(token: str) -> None:
    settings.ALLOWED_HOSTS = ["testserver"]
    client = Client(headers={"Authorization": f"Bearer {token}"})

    def post(path: str, body: object) -> object:
        answer = client.post(f"/api/v1/{path}", body, "application/json")
        return [answer.status_code, answer.headers["Content-Type"], answer.json()]

    found = {
        "atomic": connection.settings_dict["ATOMIC_REQUESTS"],
        "remembered": post("memories", {"text": "Tee, kein Käffchen", "wait": True}),
        "recalled": post("recall", {"query": "Tee"}),
        "refused": post("recall", {"query": "Tee", "tenant": "globex"}),
        "listed": client.get("/api/v1/memories?limit=1").json(),
        "anonymous": [Client().get("/api/v1/limits").status_code for _ in range(3)],
        "schema": Client().get("/api/v1/schema").json(),
        "pages": [Client().get(f"/api/v1/{p}").status_code for p in ("docs", "redoc")],
    }
    sys.stdout.write(json.dumps(found))


main(sys.argv[1])
