"""How much a command asked an object store for: requests, and bytes that came."""

from __future__ import annotations

import threading
from typing import Final


class Requests:
    """A count that several threads add to."""

    def __init__(self) -> None:
        """Begin at nothing."""
        self._guard = threading.Lock()
        self.number = 0
        self.bytes = 0

    def note(self, number: int, size: int = 0) -> None:
        """Add requests and the bytes that they brought."""
        with self._guard:
            self.number += number
            self.bytes += size


REQUESTS: Final = Requests()
"""Those of this process."""
