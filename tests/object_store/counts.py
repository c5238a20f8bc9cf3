"""Requests → how many there were and how many bytes went each way, per method and kind of key."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, NamedTuple

_SETTLING_SECONDS: Final = 5
KEPT: Final = 100_000
"""Requests that are remembered one by one."""


class Request(NamedTuple):
    """A request as it was answered; ``status`` 0 got no answer."""

    method: str
    key: str
    kind: str
    status: int
    received: int
    sent: int
    range: str = ""


def kind_of(method: str, key: str, query: str) -> str:
    """Return what a request is about: a listing, a Delta log, data, a lease, or something else.

    >>> kind_of("GET", "b/w/t/_delta_log/00000000000000000001.json", "")
    'log'
    >>> kind_of("GET", "b/w/t/part-0.parquet", ""), kind_of("GET", "b", "list-type=2&prefix=w")
    ('data', 'list')
    """
    inner = key.partition("/")[2]
    if not inner:
        return (
            "list" if method == "GET" and ("list-type" in query or "prefix" in query) else "bucket"
        )
    if "/_delta_log/" in f"/{inner}":
        return "log"
    if "lease" in inner.rpartition("/")[2]:
        return "lease"
    return "data" if inner.endswith(".parquet") else "other"


class Counts:
    """All requests since the last ``clear``.

    Whoever asks waits for those that are being answered: their client may have its answer.
    """

    def __init__(self):
        self._guard = threading.Condition()
        self._at_work = 0
        self.clear()

    @contextmanager
    def answering(self) -> Iterator[None]:
        """Hold a request that is not counted yet."""
        with self._guard:
            self._at_work += 1
        try:
            yield
        finally:
            with self._guard:
                self._at_work -= 1
                self._guard.notify_all()

    def _settle(self) -> None:
        self._guard.wait_for(lambda: not self._at_work, _SETTLING_SECONDS)

    def clear(self) -> None:
        with self._guard:
            self._settle()
            self._totals: dict[tuple[str, str], list[int]] = {}
            self._kept: deque[Request] = deque(maxlen=KEPT)

    def add(self, request: Request) -> None:
        with self._guard:
            total = self._totals.setdefault((request.method, request.kind), [0, 0, 0])
            for place, number in enumerate((1, request.received, request.sent)):
                total[place] += number
            self._kept.append(request)

    def totals(self) -> list[tuple[str, str, int, int, int]]:
        """Return method, kind, requests, bytes received and bytes sent."""
        with self._guard:
            self._settle()
            return [(*key, *total) for key, total in sorted(self._totals.items())]

    def requests(self) -> list[Request]:
        with self._guard:
            self._settle()
            return [*self._kept]
