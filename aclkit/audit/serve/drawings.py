"""A published run, or an answer of one → the heat maps and graphs that the pages' script draws.

And what the cells of heat maps lead to: an answer of one prefix.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from markupsafe import Markup

from aclkit.audit.reports.as_html import script_json
from aclkit.audit.reports.data import HeatMap
from aclkit.audit.reports.reach import gather_heat, prefix_of
from aclkit.audit.serve.form import fields_of
from aclkit.audit.serve.page import Link, href
from aclkit.audit.serve.rows import Folded, Lines
from aclkit.audit.serve.snapshot import Reading
from aclkit.model.acl import Acl, acl_words
from aclkit.model.operation import USE_OF_OPERATION, USES
from aclkit.questions.query.decisions import Decisions
from aclkit.questions.query.group_rows import Alike, Line
from aclkit.questions.query.table_words import short_reason
from aclkit.rules.decide.rules import ALLOWED


def read_heat(reading: Reading) -> HeatMap:
    """Read the heat maps, once a run."""
    return reading.snapshot.memory.kept(
        ("heat", reading.cluster_id),
        lambda: gather_heat(reading.tables, reading.cluster_id),
        lambda heat: len(USES) * (len(heat.principals) + 1) * (len(heat.prefixes) + 1),
    )


def heat_json(heat: HeatMap, link: Link) -> Markup:
    """Return the names of rows and columns, and of what the address of a cell is made.

    Args:
        heat: the heat maps.
        link: makes the address of a page.
    """
    return script_json({
        "rows": [
            {"name": who, "href": link("/what-can", principal=who, type="topic")}
            for who in heat.principals
        ],
        "columns": [
            {"name": prefix, "query": href("", prefix=prefix).removeprefix("?")}
            for prefix, _ in heat.prefixes
        ],
    })  # fmt: skip


def of_prefix(found: Decisions, prefix: str) -> Decisions:
    """Return what an answer about topics says of those of one prefix."""
    groups = (
        Alike([name for name in group.names if _is_of(name, prefix)], group.lines)
        for group in found.groups
    )
    names = tuple(name for name in found.names if _is_of(name, prefix))
    return replace(found, groups=tuple(group for group in groups if group.names), names=names)


def lines_of_prefix(lines: Mapping[str, Lines], prefix: str) -> dict[str, Lines]:
    """Return the topics of one prefix, each with its lines."""
    return {name: own for name, own in lines.items() if _is_of(name, prefix)}


def _is_of(resource: str, prefix: str) -> bool:
    return prefix_of(resource.removeprefix("topic:")) == prefix


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
