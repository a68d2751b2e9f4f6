"""Which facts stand when some of what they cite goes: a graph, without the database.

What derives from something that goes, goes with it: one source is enough. A fact stands
as long as one record that it cites does.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping

Edge = tuple[str, str]
"""A ref and one that is derived from it."""

Cited = Mapping[str, Collection[str]]
"""What each fact cites. A fact that is not in it is like any other record."""


def standing(
    roots: Collection[str], edges: Collection[Edge], cited: Cited
) -> frozenset[str]:
    """Return which refs stay although something they derive from goes.

    Facts that cite something else as well, and what derives from those alone. Facts
    that cite nothing but each other do not hold each other up.

    Args:
        roots: What goes in any case.
        edges: All by which something derives from the roots, however far.
    """
    touched = {*roots, *(ref for _, ref in edges)}
    sources: dict[str, set[str]] = defaultdict(set)
    derived: dict[str, set[str]] = defaultdict(set)
    for source, ref in edges:
        derived[source].add(ref)
        if source not in cited.get(ref, ()):
            sources[ref].add(source)
    kept: set[str] = set()

    def stands(ref: str) -> bool:
        if not sources[ref] <= kept:
            return False
        own = cited.get(ref)
        return own is None or any(one not in touched or one in kept for one in own)

    front = {ref for ref in cited if ref in touched}
    while front:
        found = {ref for ref in front - kept if ref not in roots and stands(ref)}
        kept |= found
        front = {ref for source in found for ref in derived[source]}
    return frozenset(kept)


def bereft(gone: Iterable[str], cited: Cited) -> frozenset[str]:
    """Return the facts that cite nothing any more once some refs are deleted."""
    missing = set(gone)
    found: set[str] = set()
    while more := {
        fact
        for fact, own in cited.items()
        if fact not in missing and missing.issuperset(own)
    }:
        found |= more
        missing |= more
    return frozenset(found)
