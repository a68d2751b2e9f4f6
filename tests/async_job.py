"""The async door under real event loops, in a process of its own."""

from __future__ import annotations

import asyncio
import math
import uuid
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from asgiref.sync import sync_to_async
from django.db import connections

from prism_memory.memory import Memory
from tests.factories import make_memory


async def use(memory: Memory, number: int) -> None:
    """Call every twin."""
    remembered = await memory.aremember(f"words {number}", wait=True)
    (record_id,) = remembered.accepted
    assert record_id in (await remembered.done.anow()).indexed
    assert record_id in (await remembered.done.asettle(timeout_seconds=5)).indexed
    text = f"late {uuid.uuid4()}"
    late = await memory.aremember(text)
    assert (await late.done.asettle(timeout_seconds=0.1)).pending
    await memory.aremember(text, wait=True)
    await memory.aset_consent(record_id, visible=False)
    await memory.aset_consent(record_id, visible=True)
    assert (await memory.aget(record_id)).text == f"words {number}"
    assert len(await memory.arecall("words", explain=True)) > 0
    assert len(await memory.adeep_recall("words", force_hard=True)) > 0
    assert await memory.aneighbors("words")
    assert (await memory.apending()).pending == 0
    assert f"words {number}" in [item.text for item in await memory.alist()]


async def use_many(memory: Memory, numbers: range) -> None:
    await asyncio.gather(*(use(memory, number) for number in numbers))


async def cancel_and_repeat(memory: Memory) -> None:
    """Cancel a call at each stage of its way; then make it anew."""
    for steps in range(6):
        task = asyncio.ensure_future(memory.aremember(f"again {steps}", wait=True))
        for _ in range(steps):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        again = await memory.aremember(f"again {steps}", wait=True)
        assert not again.pending
        assert (await memory.aget(again.accepted[0])).text == f"again {steps}"


async def close() -> None:
    """Close what Django opened for asynchronous code, as every such program must."""
    await sync_to_async(connections.close_all)()


def run(job: Coroutine[Any, Any, None]) -> None:
    """Run it in a loop of its own, which says nothing of a machine that is busy."""
    with asyncio.Runner() as runner:
        runner.get_loop().slow_callback_duration = math.inf
        runner.run(job)


def main() -> None:
    memory = make_memory()
    for number in range(2):
        run(use(memory, number))
    with ThreadPoolExecutor(4) as loops:
        list(loops.map(lambda n: run(use(memory, n)), range(2, 6)))
    run(use_many(memory, range(6, 16)))
    run(cancel_and_repeat(memory))
    run(close())
    assert len(memory.list()) == 16 * 2 + 6
    connections.close_all()
