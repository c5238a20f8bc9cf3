"""A page's name and what stands in it → HTML; names in it are other people's and stay text."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Any, Final
from urllib.parse import quote_plus

from jinja2 import ChoiceLoader, Environment, FunctionLoader, PackageLoader
from markupsafe import escape

from aclkit.audit.reports.assets import LOOK, PIECES, environment, part, script, style
from aclkit.audit.reports.words import state_words

Given = Mapping[str, str]
"""What a page is asked, as texts."""

Link = Callable[..., str]
"""Makes the address of a page: its path, and what it asks for."""

ROWS: Final = 100
"""So many rows stand on a page."""

DIGITS: Final = 18
"""So many digits may a number have."""


@dataclass(frozen=True, slots=True)
class Page:
    """A template's name and what stands in it; or where to go instead."""

    name: str = ""
    holds: dict[str, Any] = field(default_factory=dict)
    leads_to: str = ""


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
    return environment(loader, exact=escape, state=state_words)


def whole_number(text: str) -> int | None:
    """Read the digits of a number from zero up; None if a text is anything else, or too long."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= DIGITS else None


def paged(rows: Sequence[Any], given: Given, size: int = ROWS) -> dict[str, Any]:
    """Return the rows of the page that is asked for, its number, and how many pages there are.

    >>> paged("abcde", {"page": "9"}, 2)
    {'rows': 'e', 'page': 3, 'last_page': 3, 'count': 5}
    """
    last = max(1, -(-len(rows) // size))
    at = min(whole_number(given.get("page", "")) or 1, last)
    shown = rows[(at - 1) * size : at * size]
    return {"rows": shown, "page": at, "last_page": last, "count": len(rows)}
