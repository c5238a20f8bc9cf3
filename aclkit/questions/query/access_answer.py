"""Who can do an operation to a resource → the answer, the most powerful first. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from aclkit.answer.document import Answer, Part, Sentence, Table
from aclkit.model.acl import (
    operations_words,
    power_of,
)
from aclkit.model.phrases import number_of
from aclkit.model.resource import Resource
from aclkit.questions.query.access import Access
from aclkit.questions.query.every_client import every_client_words
from aclkit.questions.query.group_rows import Folded, fold
from aclkit.questions.query.names import near_object
from aclkit.questions.query.other_reading import others_otherwise_sentence
from aclkit.questions.query.table_words import AccessRow, access_parts, hosts_words, short_reason
from aclkit.rules.decide.rules import ALLOWED, DENIED

_MOST_EXCEPTED: Final = 2
_VERBS: Final = {ALLOWED: "can", DENIED: "cannot", None: "is decided on"}


def who_can_answer(
    answer: Access, operation: str, resource: Resource, decision: str | None
) -> Answer:
    """Return which principals can do an operation to a resource.

    Args:
        answer: what was found.
        operation: the one asked about, or ANY.
        resource: the resource.
        decision: the one asked for; None for both.
    """
    otherwise = [] if answer.otherwise is None else [others_otherwise_sentence(answer.otherwise)]
    asked = f"{_asked(operation)} {resource}"
    return Answer(
        title=f"Who {_VERBS[decision] if decision else 'can or cannot'} {asked}",
        columns=answer.columns,
        rows=answer.rows,
        parts=lambda: _who_parts(answer, asked, resource.resource_type, decision),
        notes=(*answer.caveats(None), *otherwise),
        more=shared_of(answer) | {"other_reading": next(iter(otherwise), None)},
    )


def _asked(operation: str) -> str:
    return "access" if operation.upper() == "ANY" else operation.upper()


def _who_parts(
    answer: Access, asked: str, resource_type: str, decision: str | None
) -> Iterator[Part]:
    number = sum(len(group.names) for group in answer.groups)
    if not number:
        yield Sentence(f"No principal {'cannot' if decision == DENIED else 'can'} {asked}.")
        return
    if decision is not None:
        every = every_client_words(answer, asked) if decision == ALLOWED else None
        yield Sentence(every or f"{number_of(number, 'principal')} {_VERBS[decision]} {asked}.")
    lines = fold(answer.groups, {"": answer.names}, answer.hosts)
    lines.sort(key=lambda line: _who_order(line, resource_type))
    rows = [_who_row(answer, line, resource_type) for line in lines]
    wide = Table(answer.columns, answer.rows)
    yield from access_parts(
        "principal",
        rows,
        has_decision=decision is None,
        has_operations=any(row.operations != asked.partition(" ")[0] for row in rows),
        wide=wide,
    )


def _who_order(line: Folded, resource_type: str) -> tuple[object, ...]:
    return line.name is None, power_of(line.operations, resource_type), line.name or ""


def _who_row(answer: Access, line: Folded, resource_type: str) -> AccessRow:
    ground, acl = line.ground, answer.acls.get(line.ground.acl_id)
    return AccessRow(
        line.name or _all_words(line),
        operations_words(line.operations, resource_type),
        ground.decision,
        hosts_words(ground.hosts, answer.hosts),
        short_reason(
            ground.decision, ground.rule, acl, line.name, resource_type, has_any_host=False
        ),
    )


def _all_words(line: Folded) -> str:
    """Write for whom a line holds that stands for all principals.

    >>> from aclkit.questions.query.group_rows import Line
    >>> ground = Line("*", "", "ALLOWED", "MatchingAcl", "id")
    >>> _all_words(Folded(None, ("READ",), ground, "", ("User:a",), 87))
    'all 87 principals but User:a'
    >>> _all_words(Folded(None, ("READ",), ground, "", ("User:a", "User:b", "User:c"), 35))
    '32 of 35 principals'
    """
    if len(line.but) > _MOST_EXCEPTED:
        return f"{line.number - len(line.but):,} of {line.number:,} principals"
    but = f" but {' and '.join(line.but)}" if line.but else ""
    return f"all {line.number:,} principals{but}"


def shared_of(answer: Access) -> dict[str, object]:
    """Return what holds for all rows: who reads one reads that too."""
    return {
        **near_object(answer.unknown),
        "unknown_settings": answer.unknown_settings,
        "unread_parts": sorted(answer.unread),
    }
