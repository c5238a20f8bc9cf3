"""How much a command asked an object store for: requests, bytes that came, and logs of tables.

Delta's log is read by deltalake, which counts nothing: of it only the tables are counted.
"""

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
        self.logs = 0

    def note(self, number: int = 0, size: int = 0, logs: int = 0) -> None:
        """Add requests and the bytes that they brought, and readings of the log of a table."""
        with self._guard:
            self.number += number
            self.bytes += size
            self.logs += logs

    def words(self) -> str | None:
        """Return all of it in a sentence; None where nothing was asked."""
        if not self.number and not self.logs:
            return None
        return (
            f"Sent {self.number:,} requests to the object store for files ({self.bytes:,} "
            f"bytes) and {self.logs:,} for the log of a table"
        )


REQUESTS: Final = Requests()
"""Those of this process."""
