"""Read Prometheus' text as its own parser does."""

from __future__ import annotations

from prometheus_client.parser import text_string_to_metric_families

Labels = dict[str, str]


def samples(text: str) -> dict[str, list[tuple[Labels, float]]]:
    """Return labels and value of each sample, by its name."""
    found: dict[str, list[tuple[Labels, float]]] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            labels = {k: v for k, v in sample.labels.items() if v}
            found.setdefault(sample.name, []).append((labels, sample.value))
    return found


def value(text: str, name: str, **labels: str) -> float:
    """Return the value of one sample; 0 where there is none."""
    found = samples(text).get(f"prism_memory_{name}", [])
    return sum(v for given, v in found if given == labels)
