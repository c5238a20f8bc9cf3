"""An answer of who-can or what-can → the graph of it, as the pages' script draws it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from markupsafe import Markup

from aclkit.audit.reports.as_html import script_json
from aclkit.audit.serve.form import fields_of
from aclkit.audit.serve.page import Link
from aclkit.audit.serve.rows import Folded
from aclkit.model.acl import Acl
from aclkit.model.acl_words import acl_words
from aclkit.model.operation import USE_OF_OPERATION
from aclkit.questions.query.decisions import Decisions
from aclkit.questions.query.group_rows import Line
from aclkit.questions.query.table_words import short_reason
from aclkit.rules.decide.rules import ALLOWED

MOST_DRAWN: Final = 100
"""Of so many rows the graph is made; the script draws some of them, and says how many not."""


def graph_json(
    found: Decisions, folded: Folded, acls: Mapping[str | None, Acl], given: Mapping[str, str],
    link: Link,
) -> Markup:  # fmt: skip
    """Return what ``graph.js`` draws.

    Args:
        found: the answer.
        folded: its rows, the gravest first: what everyone has is not drawn.
        acls: those that decide, by id.
        given: the principal or the resource that was asked about.
        link: makes the address of a page.
    """
    lines_of = {name: lines for names, lines in found.groups for name in names}
    paths = []
    for row in folded.rows[:MOST_DRAWN]:
        shown = {(line.operation, line.decision) for line in row.lines}
        pair = {"principal": row.name, "resource": row.name} | dict(given)
        for line in lines_of[row.name]:
            if (line.operation, line.decision) in shown:
                paths.append(_path(pair, line, acls.get(line.acl_id), link))
    label = ", ".join(given.values())
    return script_json({"label": label, "paths": paths})


def _path(pair: Mapping[str, str], line: Line, acl: Acl | None, link: Link) -> dict[str, Any]:
    who, what = pair["principal"], pair["resource"]
    if acl is None:
        why = link("/why", principal=who, resource=what, operation=line.operation)
        through = {
            "key": line.rule,
            "text": short_reason(line.decision, line.rule, None, None, None),
            "href": why,
        }
    else:
        preview = link("/preview", **fields_of(acl, "remove"))
        through = {"key": acl.acl_id, "text": acl_words(acl), "href": preview}
    return {
        "who": {"key": who, "text": who, "href": link("/what-can", principal=who)},
        "through": through,
        "what": {"key": what, "text": what, "href": link("/who-can", resource=what)},
        "operation": line.operation,
        "use": USE_OF_OPERATION[line.operation],
        "isAllowed": line.decision == ALLOWED,
    }
