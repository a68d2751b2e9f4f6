"""The labelled sentences, and how well the rules tell them."""

from __future__ import annotations

from benchmarks.labelled import figures, labelled
from prism_memory.gate import RULES, Ruleset
from prism_memory.gate.folding import fold, words


def test_the_rules_tell_the_third_that_nobody_tuned_by() -> None:
    """B345; the floors of the issue."""
    found = figures(Ruleset(RULES), held_out=True)
    assert found.precision >= 0.98, found
    assert found.recall >= 0.85, found


def test_the_list_is_as_long_as_it_should_be_and_repeats_nothing() -> None:
    injections, harmless = labelled("injections"), labelled("harmless")
    assert len(injections) >= 600
    assert len(harmless) >= 1_200
    assert {"en", "de", "fr", "es", "pt", "it"} <= {s.language for s in injections}
    honest = [s for s in (*injections, *harmless) if s.style != "disguise"]
    folded = [words(fold(s.text)).text.strip(" .!") for s in honest]
    assert len(set(folded)) == len(folded)


def test_both_lists_are_cut_in_the_same_way() -> None:
    """About a third of each is held out, so that the floors mean what they say."""
    for name in ("injections", "harmless"):
        share = [s.held_out for s in labelled(name)]
        assert 0.28 < sum(share) / len(share) < 0.4
