"""What derives from some roots, and how far away: a graph, without the database."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from prism_memory.errors import LimitExceeded


@dataclass(frozen=True)
class Reach:
    """Roots and all that is derived from them.

    Args:
        roots: As they were given.
        nearest: For each ref, the nearest root; a root's is itself.
        distance: For each ref, how many derivations it is from that root.
    """

    roots: tuple[str, ...]
    nearest: Mapping[str, str]
    distance: Mapping[str, int]

    @property
    def refs(self) -> tuple[str, ...]:
        """Roots and derived, the nearest first."""
        return tuple(sorted(self.distance, key=lambda ref: (self.distance[ref], ref)))

    def check(self, *, most_refs: int, most_distance: int) -> None:
        """Do nothing if it is within the caps.

        Raises:
            LimitExceeded: It is not.
        """
        if len(self.distance) > most_refs:
            message = f"With what derives from them these are more than {most_refs}."
            raise LimitExceeded(message, field="lineage")
        if max(self.distance.values(), default=0) > most_distance:
            message = f"The lineage is more than {most_distance} derivations deep."
            raise LimitExceeded(message, field="lineage")


def reach(roots: Collection[str], edges: Iterable[tuple[str, str]]) -> Reach:
    """Return what ``roots`` lead to, whatever the order of roots and edges.

    Args:
        edges: Pairs of a ref and one that is derived from it. Cycles end.
    """
    derived: dict[str, set[str]] = defaultdict(set)
    for source, ref in edges:
        derived[source].add(ref)
    front = sorted(set(roots))
    nearest = {root: root for root in front}
    distance = dict.fromkeys(front, 0)
    away = 0
    while front:
        away += 1
        found: dict[str, str] = {}
        for source in front:
            for ref in derived[source] - distance.keys():
                found[ref] = min(nearest[source], found.get(ref, nearest[source]))
        nearest |= found
        distance |= dict.fromkeys(found, away)
        front = sorted(found)
    return Reach(tuple(sorted(set(roots))), nearest, distance)
