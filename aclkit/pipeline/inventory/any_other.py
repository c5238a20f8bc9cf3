"""A witness for "any other": a name that stands in no ACL and in no inventory. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterator
from typing import Final

_ALPHABET: Final = "zqxjkvwybfghmpcunlodrtsiea0123456789-_"
_TRIES: Final = 400


def find_witness(
    is_ordinary: Callable[[str], bool], taken: Collection[str], *, as_host: bool = False
) -> str | None:
    """Find a name that only what matches every name reaches, or None after many tries.

    Args:
        is_ordinary: says whether a name is reached by nothing but what reaches every name.
        taken: names of the inventory.
        as_host: try addresses instead of names.
    """
    for name in _addresses() if as_host else _names():
        if name not in taken and is_ordinary(name):
            return name
    return None


def _names() -> Iterator[str]:
    """Yield legal topic names of many beginnings, endings and lengths; always the same ones."""
    yield "any-other"
    for first in _ALPHABET:
        yield f"{first}-any-other"
    for number in range(_TRIES):
        digest = hashlib.sha256(str(number).encode()).digest()
        length = 1 + number % 24
        yield "".join(_ALPHABET[byte % len(_ALPHABET)] for byte in digest[:length])


def _addresses() -> Iterator[str]:
    """Yield addresses reserved for documentation first, then others."""
    for number in range(1, 255):
        yield f"192.0.2.{number}"
    for number in range(_TRIES):
        digest = hashlib.sha256(str(number).encode()).digest()
        yield ".".join(str(byte) for byte in digest[:4])
    for number in range(1, _TRIES):
        yield f"2001:db8:0:0:0:0:0:{number:x}"
