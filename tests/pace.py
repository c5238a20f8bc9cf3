"""Time in plain loops: a machine that is slow or busy is so for the loop beside the work too."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

_TURNS = 1_000_000


def loop_seconds() -> float:
    """Return the CPU seconds of a plain loop, about a fiftieth of one on an ordinary core."""
    began = time.process_time()
    for _ in range(_TURNS):
        pass
    return time.process_time() - began


@contextmanager
def within_loops(most: float) -> Iterator[None]:
    """Fail where a block takes more CPU time than so many plain loops."""
    before = loop_seconds()
    began = time.process_time()
    yield
    spent = time.process_time() - began
    # The slower one: whoever shares the core may come or go meanwhile.
    loops = spent / max(before, loop_seconds())
    assert loops <= most, f"it took as long as {loops:.0f} plain loops, at most {most:g} are meant"
