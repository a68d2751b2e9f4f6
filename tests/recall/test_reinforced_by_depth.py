"""What a deep recall strengthens: what it returns, and each once."""

from __future__ import annotations

from typing import Any

import pytest

from prism_memory import signals
from tests.factories import make_memory, remember
from tests.test_signals import heard

pytestmark = pytest.mark.django_db


def test_a_deep_recall_strengthens_what_it_returns_once(settings: Any) -> None:
    """B430."""
    settings.PRISM_MEMORY = {**settings.PRISM_MEMORY, "WAKE": False}
    remember("green tea", "black tea", "milk", wait=True)

    with heard(signals.trace_wanted) as calls:
        found = make_memory().deep_recall("tea", 1, reinforce=True, force_hard=True)

    wanted = [call for call in calls if call["reinforce"]]
    assert [call["trace"].record_ids for call in wanted] == [(found[0].id,)]
    assert not any(call["keep"] for call in calls)
