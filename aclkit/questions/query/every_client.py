"""What principals can do → the sentence that every client can, where that is so. Pure."""

from __future__ import annotations

from collections.abc import Collection

from aclkit.model.acl import ANY_OTHER, ANY_OTHER_PRINCIPAL
from aclkit.model.phrases import number_of
from aclkit.questions.query.decisions import Decisions
from aclkit.questions.query.group_rows import ALL_HOSTS, Line


def every_client_words(answer: Decisions, asked: str) -> str | None:
    """Write that every client is allowed, and how many known principals are not; None if it is not.

    Args:
        answer: what is allowed.
        asked: operation and resource.
    """
    usual = next((each.lines for each in answer.groups if ANY_OTHER_PRINCIPAL in each.names), ())
    if not usual:
        return None
    but = but_words(len(answer.names), sum(len(group.names) for group in answer.groups))
    is_everywhere = any(_is_everywhere(line, answer.hosts) for line in usual)
    where = "" if is_everywhere else " from some hosts"
    return f"Every client can {asked}{where}{but}."


def but_words(names: int, allowed: int) -> str:
    """Write how many known principals are excepted; one of the names stands for all others."""
    known, less = number_of(names - 1, "known principal"), names - allowed
    return f", except {less:,} of {known}" if less else f": {known}, and all that no ACL names"


def _is_everywhere(line: Line, hosts: Collection[str]) -> bool:
    return (
        line.hosts == ALL_HOSTS
        or {*line.hosts.split(",")} >= {*hosts}
        or (ANY_OTHER in line.hosts.split(","))
    )
