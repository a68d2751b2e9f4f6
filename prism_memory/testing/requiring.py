"""What the suites share: how a rule fails, and texts that trip people up."""

from __future__ import annotations

from typing import Final

ODD_TEXTS: Final = (
    "\N{WOMAN}\N{ZERO WIDTH JOINER}\N{ROCKET} \N{MAN}\N{ZERO WIDTH JOINER}\N{SCHOOL}",
    "invoice \N{RIGHT-TO-LEFT OVERRIDE}fdp.exe\N{POP DIRECTIONAL FORMATTING}",
    "word " * 4_000,
    "\N{EM SPACE}",
    "x",
    "e\N{COMBINING ACUTE ACCENT}" * 40,
    "\N{CJK UNIFIED IDEOGRAPH-8A18}\N{CJK UNIFIED IDEOGRAPH-61B6}",
    "line\r\nbreak\ttab \N{ZERO WIDTH SPACE}",
)


def require(holds: bool, message: str) -> None:
    """Fail a rule with ``message`` unless it holds.

    Raises:
        AssertionError: It does not.
    """
    # Not ``assert``: it must hold under ``python -O`` too, and pytest does not
    # rewrite the assertions of an installed package.
    if not holds:
        raise AssertionError(message)
