"""A token → sessions of browsers, which end: by age, by signing out, and with the token.

A session is a text that a cookie holds. It is signed with the token, so a new token ends them all,
and nothing is kept of one but that it was ended early.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

AGE: Final = 12 * 3_600
"""Seconds that a session lasts."""

_MOST_ENDED: Final = 10_000
_LONGEST: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Sessions:
    """The sessions of one server.

    Attributes:
        token: returns the token in force.
        clock: returns the time, in seconds since 1970.
    """

    token: Callable[[], str]
    clock: Callable[[], float] = time.time
    _ended: dict[str, None] = field(default_factory=dict)

    def begin(self) -> str:
        """Return a new session."""
        said = f"{int(self.clock())}.{secrets.token_hex(16)}"
        return f"{said}.{self._signed(said)}"

    def is_in_force(self, session: str) -> bool:
        """Whether a text is a session that has not ended."""
        if len(session) > _LONGEST or not session.isascii():
            return False
        said, _, signature = session.rpartition(".")
        if not hmac.compare_digest(signature, self._signed(said)):
            return False
        begun = int(said.partition(".")[0])  # ours, by its signature
        return 0 <= self.clock() - begun < AGE and session not in self._ended

    def end(self, session: str) -> None:
        """End a session that is in force, on this server."""
        if self.is_in_force(session):
            if len(self._ended) >= _MOST_ENDED:
                del self._ended[next(iter(self._ended))]
            self._ended[session] = None

    def _signed(self, said: str) -> str:
        key = self.token().encode()
        return hmac.new(key, f"aclkit serve: session {said}".encode(), hashlib.sha256).hexdigest()
