"""Who can do an operation to names with a prefix → its answer, the most powerful first. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from aclkit.answer.document import Answer, Part, Row, Sentence, Table
from aclkit.model.acl import (
    ANY_OTHER_PRINCIPAL,
    acl_words,
    operations_words,
    power_of,
    quoted,
    type_words,
)
from aclkit.model.groups import grouped
from aclkit.model.operation import ANY_OPERATION
from aclkit.model.phrases import number_of
from aclkit.questions.query.by_prefix import ByPrefix, Reach
from aclkit.questions.query.every_client import but_words
from aclkit.questions.query.table_words import hosts_words
from aclkit.rules.decide.rules import DENIED
from aclkit.rules.names.cover import ALL, NONE, SOME, UNKNOWN, Extent

_PREFIX_COLUMNS: Final = ("principal", "operations", "host", "known", "to come", "because")


def prefix_answer(answer: ByPrefix, operation: str, decision: str | None) -> Answer:
    """Return which principals can do an operation to what starts with a prefix.

    Args:
        answer: what was found.
        operation: the one asked about.
        decision: the one asked for; None for both.
    """
    what = f"{type_words(answer.resource_type)}s that start with {quoted(answer.prefix)}"
    return Answer(
        title=f"Who can {operation.upper()} {what}",
        columns=answer.columns,
        rows=answer.rows,
        parts=lambda: _prefix_parts(answer, operation, what, decision),
        notes=answer.caveats(decision),
        more={"unknown_settings": answer.unknown_settings},
    )


def _prefix_parts(
    answer: ByPrefix, operation: str, what: str, decision: str | None
) -> Iterator[Part]:
    lines = sorted(
        _prefix_lines(answer), key=lambda line: _prefix_order(line, answer.resource_type)
    )
    today = number_of(len(answer.known), "exists today", "exist today")
    does = "access" if operation.upper() == ANY_OPERATION else operation.upper()
    if not lines:
        verb = f"is denied {does}" if decision == DENIED else f"can {does}"
        yield Sentence(f"No principal {verb} {what}, existing or future ({today}).")
        return
    number = number_of(len(answer.reaches), "principal")
    verb = f"cannot {does} all" if decision == DENIED else f"can {does}"
    usual = () if decision == DENIED else answer.reaches.get(ANY_OTHER_PRINCIPAL, ())
    extents = {reach.extent(len(answer.known)) for reach in usual}
    if extents & {ALL, SOME}:
        share = "all" if ALL in extents else "some"
        but = but_words(len(answer.principals), len(answer.reaches))
        yield Sentence(f"Every client can {does} {share} {what} ({today}){but}.")
    else:
        yield Sentence(f"{number} {verb} {what} ({today}).")
    rows = [_prefix_row(answer, *line) for line in lines]
    yield Table(_PREFIX_COLUMNS, rows, Table(answer.columns, answer.rows), spare=("host",))


_PrefixLine = tuple[str, Reach, Sequence[str]]


def _prefix_lines(answer: ByPrefix) -> Iterator[_PrefixLine]:
    """Yield each principal with what it can do, the operations of one together.

    In one line stand all that have the same as a principal that no ACL names.
    """
    usual = answer.reaches.get(ANY_OTHER_PRINCIPAL, ())
    alike = [name for name, reaches in answer.reaches.items() if usual and reaches == usual]
    is_folded = len(alike) > 1
    parties = [
        (name, reaches)
        for name, reaches in answer.reaches.items()
        if not (is_folded and name in alike)
    ]
    if is_folded:
        number, total = len(alike), len(answer.principals)
        every = f"all {total:,}" if number == total else f"{number:,} of {total:,}"
        parties.append((f"{every} principals", usual))
    for name, reaches in parties:
        together = grouped((reach._replace(operation=""), reach.operation) for reach in reaches)
        yield from ((name, reach, done) for reach, done in together.items())


def _prefix_order(line: _PrefixLine, resource_type: str) -> tuple[object, ...]:
    name, reach, operations = line
    return power_of(operations, resource_type), -reach.known_allowed, name


def _prefix_row(answer: ByPrefix, principal: str, reach: Reach, operations: Sequence[str]) -> Row:
    number = len(answer.known)
    return (
        principal,
        operations_words(operations, answer.resource_type),
        hosts_words(reach.hosts, answer.hosts),
        f"{reach.known_allowed:,} of {number:,}" if number else None,
        _to_come(reach.to_come),
        _prefix_because(reach, principal, answer.resource_type),
    )


def _to_come(extent: Extent) -> str:
    """Write how many of the names are allowed that do not exist yet."""
    if extent.word == SOME:
        return f"some: {_example(extent.allowed)}, not {_example(extent.denied)}"
    return {ALL: "all", NONE: "none", UNKNOWN: "unknown"}[extent.word]


def _example(example: str | None) -> str:
    """Make the empty name visible."""
    return repr("") if example == "" else str(example)


def _prefix_because(reach: Reach, principal: str, resource_type: str) -> str:
    if reach.is_super:
        return "super user"
    reasons = [
        f"{acl_words(acls[0], principal, resource_type, has_any_host=False)}{_rest(len(acls) - 1)}"
        for acls in (reach.denied_by, reach.allowed_by)
        if acls
    ]
    if not reasons and (reach.known_allowed or reach.to_come.word != NONE):
        return "no ACL applies to some"
    return "; ".join(reasons) or "no ACL allows it"


def _rest(number: int) -> str:
    return f" and {number:,} more" if number else ""
