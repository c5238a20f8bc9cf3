"""Whatever becomes of a question, its slot is free again."""

from __future__ import annotations

import asyncio
import threading

import pytest

from aclkit.audit.serve.workers import BusyError, Limits, Workers


class Snapshot:
    """A run without tables."""

    def cursor(self):
        return self

    def interrupt(self):
        """Stop nothing."""


def ask(workers, work=lambda *_: "done"):
    return workers.run(Snapshot, work)


def test_a_slot_is_free_again_where_no_thread_can_start(monkeypatch):
    def refused(_):
        raise RuntimeError("can't start new thread")

    async def many():
        workers = Workers(Limits(at_once=1, waiting=0, seconds=5))
        with monkeypatch.context() as patched:
            patched.setattr(threading.Thread, "start", refused)
            for _ in range(3):
                with pytest.raises(BusyError, match="Too many questions"):
                    await ask(workers)
        return await ask(workers)

    assert asyncio.run(many()) == "done"


def test_a_place_is_free_again_where_nobody_waits_for_a_slot_any_more():
    async def many():
        workers = Workers(Limits(at_once=1, waiting=1, seconds=30))
        over = threading.Event()
        first = asyncio.create_task(ask(workers, lambda *_: over.wait(30)))
        await asyncio.sleep(0.05)
        for _ in range(3):
            waiting = asyncio.create_task(ask(workers))
            await asyncio.sleep(0.05)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
        last = asyncio.create_task(ask(workers))
        await asyncio.sleep(0.05)
        over.set()
        return await first, await last

    assert asyncio.run(many()) == (True, "done")
