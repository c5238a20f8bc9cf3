"""Requests × faults that were asked for → the fault that a request meets."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final

SLOW_DOWN: Final = "slow-down"
CONFLICT: Final = "conflict"
DENY: Final = "deny"
CUT_BEFORE: Final = "cut-before"
CUT_AFTER: Final = "cut-after"
LOST: Final = "lost"
HALF: Final = "half"
STALL: Final = "stall"

REFUSED: Final = {
    SLOW_DOWN: (503, "SlowDown", "Please reduce your request rate."),
    CONFLICT: (409, "ConditionalRequestConflict", "A conflicting operation occurred."),
    DENY: (403, "AccessDenied", "Access Denied"),
}
"""Fault → status, code and message, as S3 has them; nothing was done."""

KINDS: Final = {
    **{fault: f"{status} {code}" for fault, (status, code, _) in REFUSED.items()},
    CUT_BEFORE: "the connection ends before the body was read",
    CUT_AFTER: "the connection ends when the body was read, and nothing was done",
    LOST: "it was done, and the connection ends without a response",
    HALF: "the connection ends after half of the response's body",
    STALL: "nothing happens for `seconds`, then all is well",
}


@dataclass(slots=True, kw_only=True)
class Fault:
    """A fault that the next requests meet.

    Attributes:
        kind: one of ``KINDS``.
        method: of the requests; ``*`` is any.
        key: a glob of their keys, which have the bucket's name before them.
        times: how many of them meet it.
        skip: how many come before that.
        seconds: of a stall.
    """

    kind: str
    method: str = "*"
    key: str = "*"
    times: int = 1
    skip: int = 0
    seconds: float = 0.0

    def __post_init__(self):
        if self.kind not in KINDS:
            raise ValueError(f"unknown fault {self.kind!r}; expected some of {', '.join(KINDS)}")

    def fits(self, method: str, key: str) -> bool:
        return self.method in ("*", method) and fnmatchcase(key, self.key)


class Faults:
    """What was asked for and has not come yet, in its order; and how often each kind has come."""

    def __init__(self):
        self._guard = threading.Lock()
        self._waiting: list[Fault] = []
        self.met: dict[str, int] = {}

    def add(self, fault: Fault) -> None:
        with self._guard:
            self._waiting.append(fault)

    def clear(self) -> None:
        with self._guard:
            self._waiting.clear()
            self.met = {}

    def next_for(self, method: str, key: str) -> Fault | None:
        """Take the fault that a request meets: the first that fits and skips no more."""
        with self._guard:
            for fault in self._waiting:
                if not fault.fits(method, key):
                    continue
                if fault.skip > 0:
                    fault.skip -= 1
                    continue
                fault.times -= 1
                if fault.times <= 0:
                    self._waiting.remove(fault)
                self.met[fault.kind] = self.met.get(fault.kind, 0) + 1
                return fault
        return None
