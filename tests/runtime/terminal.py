"""A terminal that is none: what stands on it can be asked for."""

from __future__ import annotations

import io
import time

CLEARED = "\r\x1b[K"


class Terminal(io.StringIO):
    """A stream that says that somebody looks at it."""

    def isatty(self):
        return True


def wait_for(stream, text):
    until = time.monotonic() + 60
    while text not in stream.getvalue():
        assert time.monotonic() < until, stream.getvalue()
        time.sleep(0.01)
