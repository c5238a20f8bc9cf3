"""what-can: the decisions on a principal, and what its ACLs with a pattern grant → rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from aclkit.questions.query.access import DECIDED, Access, access_of
from aclkit.questions.query.decisions import Where, decisions_of
from aclkit.questions.query.pattern_grants import read_pattern_grants
from aclkit.warehouse.duck import Tables
from aclkit.warehouse.published import Published

WHAT_CAN_COLUMNS: Final = ("resource", *DECIDED)


def what_can(
    connection: Tables,
    published: Published,
    cluster_id: str,
    principal: str,
    *,
    resource_type: str | None = None,
    resource_name: str | None = None,
    host: str | None = None,
    decision: str | None = "ALLOWED",
) -> Access:
    """Return what a principal can do: to all resources, those of a type, or one of them.

    In addition to known names, ``grants`` has what ACLs with a pattern grant, for future names too.

    The other arguments and errors are those of ``access.who_can``.
    """
    where = Where(connection, published, cluster_id)
    narrow = {"resource_type": resource_type, "resource_name": resource_name}
    found = decisions_of(where, principal, narrow, host=host, decision=decision)
    answer = access_of(connection, found, WHAT_CAN_COLUMNS)
    if resource_name is not None:
        return answer
    grants = read_pattern_grants(
        connection, found, principal,
        decision=decision, kind=resource_type, is_one_host=host is not None,
    )  # fmt: skip
    return replace(answer, grants=grants)
