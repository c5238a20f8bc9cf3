"""A page's name and what stands in it → HTML; names in it are other people's and stay text."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from typing import Any
from urllib.parse import quote_plus

from jinja2 import ChoiceLoader, Environment, FunctionLoader, PackageLoader
from markupsafe import escape

from aclkit.audit.reports.assets import LOOK, PIECES, environment, part, script, style


@cache
def assets() -> Mapping[str, tuple[str, str]]:
    """Return path → kind and text of the one style and the one script; a path is of its text."""
    texts = (
        ("css", "text/css", style(LOOK, "serve.css")),
        ("js", "text/javascript", script(*PIECES, "serve.js")),
    )
    return {
        f"/assets/{hashlib.sha256(text.encode()).hexdigest()[:16]}.{ending}": (kind, text)
        for ending, kind, text in texts
    }


def href(path: str, **given: str | int | None) -> str:
    """Return the address of a page; what is empty is not said, but for a topic's prefix.

    >>> href("/what-can", principal="User:a", type="", prefix="")
    '/what-can?principal=User%3Aa&prefix='
    """
    said = [
        f"{key}={_quoted(str(value))}"
        for key, value in given.items()
        if value is not None and (value != "" or key == "prefix")
    ]
    return f"{path}?{'&'.join(said)}" if said else path


# A page says the same few names in hundreds of addresses.
_quoted = lru_cache(maxsize=4_096)(quote_plus)


def render(name: str, **given: object) -> str:
    """Return a page."""
    style_path, script_path = assets()
    return (
        _environment()
        .get_template(f"{name}.html.j2")
        .render(style_path=style_path, script_path=script_path, **given)
    )


@cache
def _environment() -> Environment:
    loader = ChoiceLoader([PackageLoader("aclkit.audit.serve"), FunctionLoader(part)])
    # exact: the text of a control's value, for what is sent back must be what it was.
    return environment(loader, exact=escape)


def pages_of(items: Sequence[Any], page: int, size: int) -> tuple[Sequence[Any], int, int]:
    """Return the items of a page, its number within the last one, and how many pages there are.

    >>> pages_of("abcde", 9, 2)
    ('e', 3, 3)
    """
    last = max(1, -(-len(items) // size))
    at = min(max(page, 1), last)
    return items[(at - 1) * size : at * size], at, last
