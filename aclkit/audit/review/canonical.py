"""A value of JSON → the one text that stands for it, and its SHA-256. Pure."""

from __future__ import annotations

import hashlib
import json

from aclkit.answer.rows import json_text


def canonical(value: object) -> str:
    r"""Write a value of JSON so that equal values have equal texts: keys sorted, ASCII, no blanks.

    >>> canonical({"b": 1, "a": "ä"})
    '{"a":"\\u00e4","b":1}'
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def hash_of(value: object) -> str:
    """Return the SHA-256 of a value of JSON in its canonical form."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()


def pretty(value: object) -> str:
    """Write a value of JSON for people; one value has one text here too."""
    return json_text(value, is_sorted=True, indent=1) + "\n"
