"""Signals of the app. They are sent after the commit, so what they tell is true.

Receivers run robustly: one that fails is logged by Django and changes nothing. The one
exception is ``invalidated``.
"""

from __future__ import annotations

from django.dispatch import Signal

remembered = Signal()
"""Records were written. Arguments: ``scope``, ``ids`` (tuple of record ids)."""

indexing_wanted = Signal()
"""Texts wait for their vectors. Arguments: ``tenant``, ``using``, ``alias``."""

recalled = Signal()
"""Something was recalled. Arguments: ``using``, ``trace`` (a ``types.Trace``: ids,
scores and milliseconds, no text). Sent outside any transaction of this app's own."""

trace_wanted = Signal()
"""A recall shall leave something behind. Arguments: ``using``, ``trace``, ``keep`` (the
trace itself, by the settings), ``reinforce`` (its hits shall be strengthened)."""

consent_changed = Signal()
"""A record was shown or hidden. Arguments: ``scope``, ``id``, ``visible``."""

corrected = Signal()
"""A record says something else now. Arguments: ``scope``, ``id``."""

invalidated = Signal()
"""Refs may no longer be used. Arguments: ``using``, ``tenant``, ``reason`` (a
``types.TombstoneReason``), ``ids`` (tuple of refs), ``hold``. Sent inside the
transaction, once the tombstones stand and before any body goes: a receiver that raises
keeps everything as it was, and one that writes elsewhere must bear a roll back."""

access_denied = Signal()
"""A source was withheld from a reader who had found it. Arguments: ``using``,
``denial`` (a ``types.Denial``), ``reason`` (its own). Sent by the read itself, once for
each source, also where the read fails."""

integrity_broken = Signal()
"""Records were withheld from a reader, as their signatures are not theirs. Arguments:
``using``, ``tenant``, ``states`` (by record id, an ``integrity.State``). Sent by the
read itself."""

run_wanted = Signal()
"""A run waits for a worker. Arguments: ``using``, ``tenant``, ``kind``, ``run_id``,
``ticket`` (what ``runs.take_up`` asks for)."""

resolving_wanted = Signal()
"""Names of entities wait to be compared. Arguments: ``using``, ``tenant``."""

recall_ended = Signal()
"""A recall answered or failed. Arguments: ``using``, ``tenant``, ``strategy``,
``seconds``, ``rows``, ``degraded`` (a truth), ``error`` (the code of the error, or
empty). Sent only where somebody listens."""

drained = Signal()
"""A drain ended. Arguments: ``using``, ``tenant``, ``alias``, ``done`` (an
``indexing.Drained``), ``seconds``."""

run_ended = Signal()
"""Long work ended. Arguments: ``using``, ``run`` (a ``models.Run``)."""

task_ended = Signal()
"""A background task of this app ended. Arguments: ``task`` (its name), ``state``
(``success`` or ``failure``), ``seconds``."""

request_refused = Signal()
"""The HTTP API refused a request. Arguments: ``code`` (of the error), ``status``."""
