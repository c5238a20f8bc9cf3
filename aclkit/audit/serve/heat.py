"""A published run → its heat maps, kept; and what their cells lead to: an answer of one prefix."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from markupsafe import Markup

from aclkit.audit.reports.as_html import script_json
from aclkit.audit.reports.data import HeatMap
from aclkit.audit.reports.heat import gather_heat, prefix_of
from aclkit.audit.serve.page import Link, href
from aclkit.audit.serve.rows import Lines
from aclkit.audit.serve.snapshot import Reading
from aclkit.model.operation import USES
from aclkit.questions.query.decisions import Decisions
from aclkit.questions.query.group_rows import Alike


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
