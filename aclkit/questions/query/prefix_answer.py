"""Who can do what to names with a prefix, known ones and names to come → its answer. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from aclkit.answer.document import Answer, Part, Row, Sentence, Table
from aclkit.model.acl import ANY_OTHER_PRINCIPAL
from aclkit.model.acl_words import acl_words, operations_words, power_of, quoted, type_words
from aclkit.model.groups import grouped
from aclkit.model.operation import ANY_OPERATION
from aclkit.model.phrases import number_of
from aclkit.questions.query.by_prefix import ByPrefix, Reach
from aclkit.questions.query.hosts import hosts_words
from aclkit.rules.decide.rules import DENIED
from aclkit.rules.names.extent import ALL, NONE, SOME, UNKNOWN, Extent

_COLUMNS: Final = ("principal", "operations", "host", "known", "to come", "because")


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
        parts=lambda: _parts(answer, operation, what, decision),
        notes=answer.caveats(decision),
        more={"unknown_settings": answer.unknown_settings},
    )


def _parts(answer: ByPrefix, operation: str, what: str, decision: str | None) -> Iterator[Part]:
    lines = sorted(_lines(answer), key=lambda line: _order(line, answer.resource_type))
    today = number_of(len(answer.known), "exists today", "exist today")
    does = "access" if operation.upper() == ANY_OPERATION else operation.upper()
    if not lines:
        verb = f"is denied {does}" if decision == DENIED else f"can {does}"
        yield Sentence(f"No principal {verb} {what}, existing or future ({today}).")
        return
    number = number_of(len(answer.reaches), "principal")
    verb = f"cannot {does} all" if decision == DENIED else f"can {does}"
    yield Sentence(f"{number} {verb} {what} ({today}).")
    rows = [_row(answer, *line) for line in lines]
    yield Table(_COLUMNS, rows, Table(answer.columns, answer.rows), spare=("host",))


_Line = tuple[str, Reach, Sequence[str]]


def _lines(answer: ByPrefix) -> Iterator[_Line]:
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


def _order(line: _Line, resource_type: str) -> tuple[object, ...]:
    name, reach, operations = line
    return power_of(operations, resource_type), -reach.known_allowed, name


def _row(answer: ByPrefix, principal: str, reach: Reach, operations: Sequence[str]) -> Row:
    number = len(answer.known)
    return (
        principal,
        operations_words(operations, answer.resource_type),
        hosts_words(reach.hosts, answer.hosts),
        f"{reach.known_allowed:,} of {number:,}" if number else None,
        _to_come(reach.to_come),
        _because(reach, principal, answer.resource_type),
    )


def _to_come(extent: Extent) -> str:
    """Write how many of the names are allowed that do not exist yet."""
    if extent.word == SOME:
        return f"some: {_name(extent.allowed)}, not {_name(extent.denied)}"
    return {ALL: "all", NONE: "none", UNKNOWN: "unknown"}[extent.word]


def _name(example: str | None) -> str:
    """Make the empty name visible."""
    return repr("") if example == "" else str(example)


def _because(reach: Reach, principal: str, resource_type: str) -> str:
    if reach.is_super:
        return "super user"
    reasons = [
        f"{acl_words(acls[0], principal, resource_type, has_any_host=False)}{_more(len(acls) - 1)}"
        for acls in (reach.denied_by, reach.allowed_by)
        if acls
    ]
    if not reasons and (reach.known_allowed or reach.to_come.word != NONE):
        return "no ACL applies to some"
    return "; ".join(reasons) or "no ACL allows it"


def _more(number: int) -> str:
    return f" and {number:,} more" if number else ""
