"""Steps of long work, told on stderr while they happen."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager

log = logging.getLogger("aclkit.runtime.progress")


def tell_first(what: str) -> None:
    """Log what a reader of all that follows has to know."""
    log.info("%s", what)


@contextmanager
def step(what: str) -> Iterator[None]:
    """Log that a step begins, and how long it took when that was a second or more."""
    log.info("%s …", what)
    started = time.monotonic()
    yield
    seconds = time.monotonic() - started
    if seconds >= 1:
        log.info("%s: %.1f s", what, seconds)
