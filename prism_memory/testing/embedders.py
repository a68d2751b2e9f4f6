"""What every embedder must do; run it against your own backend.

.. code-block:: python

    from prism_memory.testing.embedders import check_embedder


    def test_my_embedder_conforms():
        check_embedder(lambda: MyEmbedder(model="small", dimensions=384))

Each rule is a function of its own, so that a test can be parametrised over ``RULES``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final, get_args

from prism_memory.backends import MAX_BATCH, MAX_DIMENSIONS, Embedder, embed
from prism_memory.errors import Aborted
from prism_memory.testing.requiring import ODD_TEXTS, require
from prism_memory.types import EmbedderIdentity, Role

TEXTS: Final = (
    "Ada keeps bees behind the old mill.",
    "The invoice of March is still unpaid.",
    "A heron stood in the shallow water until dusk, and then it flew off.",
    "Deploy on Thursday.",
)

SAME: Final = 0.999
"""Least cosine of two vectors of one text: a batch may round, a model in half precision
more so; another text is far below."""


Factory = Callable[[], Embedder]
"""Makes an embedder; called more than once."""


def check_embedder(embedder: Embedder | Factory) -> None:
    """Check an embedder against every rule below. Calls the embedder.

    About 110 short texts and one of 20,000 characters are embedded.

    Args:
        embedder: What makes it, such as its class; then another one, as a second
            process has it, must give the same. Or one that is made.

    Raises:
        AssertionError: A rule does not hold; the text says which and how.
        ProviderUnavailable: The embedder's own.
        ProviderRejected: The embedder's own, or its vectors are unusable.
    """
    made = embedder if isinstance(embedder, Embedder) else embedder()
    for rule in RULES:
        rule(made)
    if not isinstance(embedder, Embedder):
        is_the_same_made_again(made, embedder())


def declares_itself(embedder: Embedder) -> None:
    """Its identity and its flags are set before any text is seen."""
    identity = embedder.identity
    require(isinstance(identity, EmbedderIdentity), "identity is no EmbedderIdentity")
    require(bool(identity.provider and identity.model), "identity names nothing")
    require(
        1 <= identity.dimensions <= MAX_DIMENSIONS,
        f"dimensions must be in 1..{MAX_DIMENSIONS}, not {identity.dimensions}",
    )
    require(embedder.dimensions == identity.dimensions, "dimensions differ from it")
    require(
        1 <= embedder.max_batch <= MAX_BATCH,
        f"max_batch must be in 1..{MAX_BATCH}, not {embedder.max_batch}",
    )
    for flag in ("roles", "local", "deterministic"):
        value = getattr(embedder, flag)
        require(isinstance(value, bool), f"{flag} must be a bool, not {value!r}")


def gives_one_unit_vector_a_text(embedder: Embedder) -> None:
    """Count, width, finite numbers and, after ``embed``, the length."""
    vectors = passages(embedder, TEXTS)
    require(
        len(vectors) == len(TEXTS), f"{len(vectors)} vectors for {len(TEXTS)} texts"
    )
    for vector in vectors:
        width = len(vector)
        require(width == embedder.dimensions, f"a vector of {width} dimensions")
        require(all(map(math.isfinite, vector)), "a vector is not finite")
        length = math.hypot(*vector)
        require(math.isclose(length, 1, abs_tol=1e-6), f"a vector of length {length}")


def takes_no_texts(embedder: Embedder) -> None:
    """No text, no vector, and no error."""
    require(passages(embedder, []) == [], "no texts gave vectors")


def keeps_the_order(embedder: Embedder) -> None:
    """The n-th vector is of the n-th text, however the texts are arranged."""
    forward = passages(embedder, TEXTS)
    backward = passages(embedder, TEXTS[::-1])[::-1]
    alone = [passages(embedder, [text])[0] for text in TEXTS]
    for number, vectors in enumerate(zip(forward, backward, alone, strict=True)):
        first, second, third = vectors
        message = f"text {number} has another vector in another place"
        require(cosine(first, second) > SAME, message)
        require(cosine(first, third) > SAME, f"{message}: alone")


def tells_texts_apart(embedder: Embedder) -> None:
    """Texts that share nothing do not share their vector."""
    if embedder.dimensions < 8:  # too narrow to promise it
        return
    first, second, *_ = passages(embedder, TEXTS)
    require(cosine(first, second) < SAME, "two different texts have one vector")


def repeats_itself(embedder: Embedder) -> None:
    """A second time gives the same: exactly where that is declared, else nearly."""
    first, second = passages(embedder, TEXTS), passages(embedder, TEXTS)
    if embedder.deterministic:
        require(first == second, "declared deterministic, and it is not")
    for one, other in zip(first, second, strict=True):
        require(cosine(one, other) > SAME, "the same text has another vector later")


def is_the_same_made_again(embedder: Embedder, other: Embedder) -> None:
    """What one stores another finds: in another process, or after a restart."""
    require(embedder.identity == other.identity, "another one has another identity")
    for one, same in zip(
        passages(embedder, TEXTS), passages(other, TEXTS), strict=True
    ):
        message = "the same text has another vector from another one"
        require(cosine(one, same) > SAME, message)


def takes_both_roles(embedder: Embedder) -> None:
    """Every role is accepted; they differ only where ``roles`` says so."""
    vectors = [embed(embedder, TEXTS[:1], role=role)[0] for role in get_args(Role)]
    if not embedder.roles:
        message = "roles is False, but a query and a passage differ"
        require(cosine(*vectors) > SAME, message)


def takes_more_than_one_batch(embedder: Embedder) -> None:
    """Seventy texts in batches of at most 32."""
    texts = [f"Note {number}: {TEXTS[number % 4]}" for number in range(70)]
    vectors = passages(embedder, texts, batch=32)
    require(len(vectors) == len(texts), f"{len(vectors)} vectors for 70 texts")
    last = passages(embedder, texts[-1:])[0]
    require(cosine(vectors[-1], last) > SAME, "the last text has another vector alone")


def takes_odd_texts(embedder: Embedder) -> None:
    """Joined emoji, overridden direction, 20,000 characters, a lone wide space."""
    vectors = passages(embedder, ODD_TEXTS)
    require(len(vectors) == len(ODD_TEXTS), "an odd text has no vector")


def stops_when_cancelled(embedder: Embedder) -> None:
    """A cancelled call ends before the next batch (B112)."""
    answers = iter([False, True])
    try:
        passages(embedder, TEXTS, batch=1, cancelled=lambda: next(answers))
    except Aborted:
        return
    require(holds=False, message="a cancelled call went on")


def passages(
    embedder: Embedder,
    texts: Sequence[str],
    *,
    batch: int | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> list[list[float]]:
    return embed(embedder, texts, role="passage", batch=batch, cancelled=cancelled)


def cosine(first: Sequence[float], second: Sequence[float]) -> float:
    """Return the cosine of two vectors of unit length, -1..1."""
    return math.fsum(x * y for x, y in zip(first, second, strict=True))


RULES: Final[tuple[Callable[[Embedder], None], ...]] = (
    declares_itself,
    gives_one_unit_vector_a_text,
    takes_no_texts,
    keeps_the_order,
    tells_texts_apart,
    repeats_itself,
    takes_both_roles,
    takes_more_than_one_batch,
    takes_odd_texts,
    stops_when_cancelled,
)
"""Every rule; each takes an embedder and raises AssertionError."""
