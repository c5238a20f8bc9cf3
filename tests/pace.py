"""Time in plain loops: a machine that is slow or busy is so for the loop beside the work too."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

_TURNS = 1_000_000
_ORDINARY = 0.02
"""Seconds of a plain loop on an ordinary core that has nothing else to do."""
_LOOPS = 25
"""A system lets those first who have slept: what takes a moment sees a busy core as an idle one."""
_BETWEEN = 15.0


def loop_seconds(clock: Callable[[], float] = time.process_time) -> float:
    """Return the seconds of a plain loop: of CPU time, about a fiftieth on an ordinary core."""
    began = clock()
    for _ in range(_TURNS):
        pass
    return clock() - began


def slowness() -> float:
    """Return how many times as long as on an ordinary idle core a loop takes now, at least 1.

    By the clock on the wall: who waits for others waits for what they have to share the core with.
    """
    return max(1.0, sum(loop_seconds(time.monotonic) for _ in range(_LOOPS)) / _LOOPS / _ORDINARY)


@dataclass(slots=True)
class Limit:
    """A time limit for what others do, in seconds of an ordinary idle machine.

    Attributes:
        seconds: so many; where a loop takes twice as long meanwhile, each is worth two.
    """

    seconds: float
    _spent: float = 0.0
    _looked_at: float = field(default_factory=lambda: time.monotonic())

    def is_over(self) -> bool:
        """Whether they have passed; the machine is looked at every 15 seconds, for little."""
        passed = time.monotonic() - self._looked_at
        if passed >= min(_BETWEEN, self.seconds / 4):
            self._spent += passed / slowness()
            self._looked_at = time.monotonic()
        return self._spent > self.seconds


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
