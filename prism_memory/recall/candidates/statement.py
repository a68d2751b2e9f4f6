"""From the legs that are asked to one statement; each kind of it is composed once."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from psycopg import sql

from prism_memory.access import Reader, changed, restricts, unwithheld
from prism_memory.db.queries import named
from prism_memory.recall.candidates import recency, text, vector
from prism_memory.recall.candidates.plan import Leg, Plan
from prism_memory.recall.candidates.text import SMALL_ROWS, TERM_ROWS

ANCHORS: Final = 16
"""The best of each leg whose neighbours become candidates too. Measured: more find no
more; see docs/benchmarks.md."""

PER_PLACE: Final = 4
"""Most records of one place in a source that become candidates. There is one, unless
the host numbers all it writes alike."""

LEGS: Final[Mapping[str, Leg]] = {
    "vector": vector.LEG,
    "text": text.LEG,
    "recency": recency.LEG,
}


def statement(reader: Reader, plan: Plan, space_id: int, dimensions: int) -> str:
    """Return the text of the one statement."""
    return _composed(
        plan,
        (
            reader.condition(guarded=plan.guarded).as_string(None),
            unwithheld(reader=reader, guarded=plan.guarded).as_string(None),
        ),
        vector.narrowed(reader).as_string(None),
        text.contained(reader).as_string(None),
        (space_id, dimensions),
        reader.known_at is not None,
        reader.is_narrowed,
        (TERM_ROWS, ANCHORS),
    )


def forget_texts() -> None:
    """Compose each statement anew, as a new process does."""
    _composed.cache_clear()


@lru_cache(maxsize=128)
def _composed(
    plan: Plan,
    rule: tuple[str, str],
    narrowed: str,
    contained: str,
    space: tuple[int, int],
    known: bool,
    crowded: bool,
    bounds: tuple[int, int],
) -> str:
    texts = named("recall")
    visible, withheld = rule
    parts: dict[str, sql.Composable] = {
        "visible": sql.SQL(visible),
        "narrowed": sql.SQL(narrowed),
        "unwithheld": sql.SQL(withheld),
        "restricts": restricts(),
        "changed": changed() if known else sql.SQL("FALSE"),
        "space_id": sql.Literal(space[0]),
        "dimensions": sql.Literal(space[1]),
        "rows": sql.Literal(plan.rows),
        "term_rows": sql.Literal(bounds[0]),
        "anchors": sql.Literal(bounds[1]),
        "small_rows": sql.Literal(SMALL_ROWS),
        "per_place": sql.Literal(PER_PLACE),
        # Where rows are left out, those in sight must not be crowded out by others.
        "searched": sql.SQL(visible if plan.bounded and crowded else withheld),
        "contained": sql.SQL(contained if plan.bounded else "TRUE"),
        "search": sql.SQL(", matched.search" if plan.bounded else ""),
        "held_search": sql.SQL(", held.search" if plan.bounded else ""),
    }

    def part(name: str) -> sql.Composable:
        return sql.SQL(texts[name]).format(**parts)

    legs = [part(name) for name in part_names(plan)]
    whole = {
        "legs": sql.SQL(",\n").join(legs),
        "found": sql.SQL(" UNION ALL ").join(map(_found, plan.legs)),
        "beside": part("beside" if plan.beside else "nothing_beside"),
        "scores": part("scores") if "text" in plan.legs else sql.SQL(""),
        **{name: part(chosen) for name, chosen in _answers(plan).items()},
        "weighed": part("weighed") if tells_weights(plan) else sql.SQL(""),
    }
    return sql.SQL(texts["recall"]).format(**parts, **whole).as_string(None)


def part_names(plan: Plan) -> list[str]:
    """Return the parts of ``recall.sql`` that the legs are made of, in their order."""
    return [name for leg in plan.legs for name in LEGS[leg].parts(plan)]


def tells_weights(plan: Plan) -> bool:
    """Tell whether the answer says what the words weigh."""
    return plan.weighed and "text" in plan.legs


def _found(leg: str) -> sql.Composable:
    return sql.SQL(
        "SELECT record_id, score FROM {source} WHERE leg.name = {leg}"
    ).format(source=sql.SQL(LEGS[leg].gives), leg=sql.Literal(leg))


def _answers(plan: Plan) -> dict[str, str]:
    text, near = "text" in plan.legs, "vector" in plan.legs
    return {
        "cosine": "cosine" if near else "unknown",
        "bm25": "bm25" if text else "unknown",
        "cut": "cut" if near and not (plan.index or plan.external) else "no",
        "copied": "copied" if plan.external else "no",
        "waiting": "waiting" if near else "no",
        "common": "common" if text else "no",
        "few": "few" if text else "no",
    }
