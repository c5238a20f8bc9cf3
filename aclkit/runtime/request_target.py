"""The target of a request in any form of RFC 9112 → the host that it names, and the rest. Pure."""

from __future__ import annotations

import re
from typing import Final

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
