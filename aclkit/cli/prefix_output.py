"""Who can do what to names that begin so → a table for people, and rows of JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from aclkit.cli.access_output import hosts_words, operations_words
from aclkit.cli.context import Context
from aclkit.cli.output import JSON, Objects, tell_all
from aclkit.cli.table import Part, Table, Words
from aclkit.model.acl import ANY_OTHER_PRINCIPAL
from aclkit.model.acl_words import acl_words
from aclkit.model.groups import grouped
from aclkit.model.resource import WORD_OF_TYPE
from aclkit.questions.query.by_prefix import ByPrefix, Reach
from aclkit.rules.decide.rules import DENIED
from aclkit.rules.names.extent import ALL, NONE, SOME, UNKNOWN, Extent

_COLUMNS: Final = ("principal", "operations", "host", "known", "to_come", "because")


def print_by_prefix(context: Context, answer: ByPrefix, decision: str | None) -> None:
    """Print an answer; the decision is the one that was asked for."""
    caveats = answer.caveats(decision)
    if context.output_format == JSON:
        # An answer without rows has no place for them.
        tell_all(caveats)
    context.write(
        answer.columns,
        answer.rows,
        map(Words, caveats),
        json=lambda: _json(answer),
        table=lambda: [*_parts(answer, decision), *map(Words, caveats)],
    )


def _json(answer: ByPrefix) -> Objects:
    """Return the rows, each with what holds for all of them: who reads one reads that too."""
    columns = (*answer.columns, "unknown_settings")
    return Objects(columns, ((*row, answer.unknown_settings) for row in answer.rows))


def _parts(answer: ByPrefix, decision: str | None) -> Iterator[Part]:
    word = WORD_OF_TYPE[answer.resource_type]
    number = len(answer.known)
    exist = f"{number:,} {word}{'s' * (number != 1)} that begin{'s' * (number == 1)}"
    yield Words(f"Today there {'is' if number == 1 else 'are'} {exist} with '{answer.prefix}'.")
    if not answer.reaches:
        can = "is denied anything on" if decision == DENIED else "can do this to"
        yield Words(f"No principal {can} a {word} that begins so, now or later.")
        return
    rows = [_row(answer, *line) for line in _lines(answer)]
    yield Table(_COLUMNS, rows, Table(answer.columns, answer.rows))


def _lines(answer: ByPrefix) -> Iterator[tuple[str, Reach, Sequence[str]]]:
    """Yield each principal with what it can do, the operations of one together.

    Last in one line stand all that have the same as a principal that no ACL names.
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
        every = f"all {total:,} principals" if number == total else f"{number:,} of {total:,}"
        parties.append((every if number == total else f"{every} principals", usual))
    for name, reaches in parties:
        together = grouped((reach._replace(operation=""), reach.operation) for reach in reaches)
        yield from ((name, reach, done) for reach, done in together.items())


def _row(
    answer: ByPrefix, principal: str, reach: Reach, operations: Sequence[str]
) -> tuple[object, ...]:
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
    return {ALL: "all", NONE: "none", UNKNOWN: "not known"}[extent.word]


def _name(example: str | None) -> str:
    """Make the empty name visible."""
    return repr("") if example == "" else str(example)


def _because(reach: Reach, principal: str, resource_type: str) -> str:
    if reach.is_super:
        return "super user"
    told = [
        f"{acl_words(acls[0], principal, resource_type)}{_more(len(acls) - 1)}"
        for acls in (reach.denied_by, reach.allowed_by)
        if acls
    ]
    if not told and (reach.known_allowed or reach.to_come.word != NONE):
        return "no ACL reaches some"
    return "; ".join(told) or "no ACL allows it"


def _more(number: int) -> str:
    return f" and {number:,} more" if number else ""
