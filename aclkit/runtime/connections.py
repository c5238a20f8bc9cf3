"""Connections of strangers → at most so many at once, and those that waste a place end first.

Who holds a place without asking anything gives it to who comes next, so no user is locked out by
connections that are merely open. Used by one event loop, without locks.
"""

from __future__ import annotations

import re
import resource
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Final, Protocol

MOST: Final = 256
"""Connections of one server."""

SECONDS_FOR_HEAD: Final = 10.0
SECONDS_FOR_BODY: Final = 10.0
"""How long a request may take, from its first byte or the connection's beginning."""

AT_ONCE: Final = 32
"""Connections that are accepted in one round of the loop, before those too many are closed."""

WAITING: Final = 2_048
"""Connections that may wait to be accepted."""

_RESERVE: Final = 4
"""A server takes one of so many descriptors; the others are for files."""


class Rank(IntEnum):
    """How dear a connection is; at the cap the lowest goes first, of a rank the oldest."""

    UNKNOWN = 0
    OF_PROXY = 1
    KNOWN = 2
    BUSY = 3


class Closable(Protocol):
    """A connection."""

    def close_now(self) -> None:
        """End it at once, without a word."""


def most_connections() -> int:
    """Return how many connections a server of this process takes, by its limit of descriptors."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST if soft == resource.RLIM_INFINITY else max(1, min(MOST, soft // _RESERVE))


@dataclass(slots=True)
class Connections:
    """The connections of a server; one that is at work on an answer is never closed.

    Attributes:
        most: how many there may be.
    """

    most: int = field(default_factory=most_connections)
    _of: dict[Closable, Rank] = field(default_factory=dict)
    _ranked: tuple[dict[Closable, None], ...] = field(
        default_factory=lambda: tuple({} for _ in Rank)
    )

    def __len__(self) -> int:
        """Count them."""
        return len(self._of)

    def admit(self, new: Closable, rank: Rank) -> bool:
        """Take a connection, and close another for it if there are too many; False: no place."""
        if len(self._of) >= self.most and not self._close_one():
            return False
        self._put(new, rank)
        return True

    def move(self, one: Closable, rank: Rank) -> None:
        """Note that a connection has become more, or less, dear; one that has left stays away."""
        if one in self._of:
            self.leave(one)
            self._put(one, rank)

    def leave(self, one: Closable) -> None:
        """Forget a connection."""
        rank = self._of.pop(one, None)
        if rank is not None:
            del self._ranked[rank][one]

    def close_all(self) -> None:
        """End all of them."""
        for one in [*self._of]:
            self.leave(one)
            one.close_now()

    def _put(self, one: Closable, rank: Rank) -> None:
        self._of[one] = rank
        self._ranked[rank][one] = None

    def _close_one(self) -> bool:
        for ranked in self._ranked[: Rank.BUSY]:
            if ranked:
                oldest = next(iter(ranked))
                self.leave(oldest)
                oldest.close_now()
                return True
        return False


_ABSOLUTE: Final = re.compile(r"https?://([^/?]*)(.*)", re.IGNORECASE | re.DOTALL)


def host_and_path(target: str) -> tuple[str | None, str]:
    """Split a target as clients of a proxy send it; the host counts more than a Host header.

    >>> host_and_path("http://a.test:80/b?c"), host_and_path("HTTP://a?c"), host_and_path("/b")
    (('a.test:80', '/b?c'), ('a', '/?c'), (None, '/b'))
    """
    found = _ABSOLUTE.fullmatch(target)
    if found is None:
        return None, target
    rest = found[2]
    return found[1], rest if rest.startswith("/") else f"/{rest}"
