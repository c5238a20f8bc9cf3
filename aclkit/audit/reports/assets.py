"""The pieces of a page under ``templates/`` → its style and its script, and what fills it in.

The pieces of script share one scope and no other: each builds on those named before it. Whatever
page shows access takes ``PIECES``, in this order, and one of its own that starts them.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable
from importlib.resources import files
from typing import Final

from jinja2 import BaseLoader, Environment, StrictUndefined
from markupsafe import Markup, escape

from aclkit.answer.html import render_html
from aclkit.audit.reports.words import day, thousands, utc
from aclkit.model.acl import acl_words
from aclkit.model.visible import visible

PIECES: Final = (
    "page.js", "names.js", "tables.js", "chips.js", "heat.js", "graph.js",
)  # fmt: skip
"""What any page of access can use: they know neither a report nor where answers come from."""

LOOK: Final = "look.css"
"""The colours, controls, tables, chips, heat maps and graphs of these pieces."""


def part(name: str) -> str:
    """Return a file of the templates."""
    return files("aclkit.audit.reports").joinpath("templates", name).read_text(encoding="utf-8")


def environment(loader: BaseLoader, **filters: Callable[..., object]) -> Environment:
    """Return what renders templates; names in them are other people's and stay text."""
    made = Environment(
        loader=loader,
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalize,
    )
    made.filters.update(
        thousands=thousands,
        utc=utc,
        day=day,
        soft=soft,
        acl=acl_words,
        answer=render_html,
        **filters,
    )
    return made


def soft(name: str) -> Markup:
    """Return a name that may break after its dots: a narrow column breaks it nowhere else."""
    return escape(visible(name)).replace(".", Markup(".<wbr>"))


def _finalize(value: object) -> object:
    """Show what would not be seen; what is markup already is this package's own."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def script(*names: str) -> str:
    """Return pieces of script as one, which leaves nothing in the page's own scope."""
    return f'"use strict";\n(() => {{\n{"".join(map(part, names))}}})();\n'


def style(*names: str) -> str:
    """Return style sheets as one."""
    return "".join(map(part, names))


def digest(text: str) -> str:
    """Return by what a policy (CSP) allows a style or script."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
