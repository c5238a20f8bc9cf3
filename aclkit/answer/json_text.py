"""A value of JSON → its text for people and programs: readable, and no letter in it acts."""

from __future__ import annotations

import json
from collections.abc import Callable

from aclkit.model.visible import visible_json


def json_text(
    value: object,
    *,
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    is_sorted: bool = False,
    default: Callable[..., object] | None = None,
) -> str:
    r"""Write a value of JSON; a reader of JSON gets exactly the value, half surrogates too.

    What a person does not see, or what acts on a terminal or in a CI system's log, is escaped.

    >>> print(json_text({"é": "a\u202eb"}))
    {"é": "a\u202eb"}
    """
    text = json.dumps(
        value,
        ensure_ascii=False,
        indent=indent,
        separators=separators,
        sort_keys=is_sorted,
        default=default,
    )
    return visible_json(text)
