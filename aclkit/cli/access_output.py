"""The answer of who-can or what-can → a table for people, and rows of JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from aclkit.cli.context import Context
from aclkit.cli.output import JSON, Objects, tell_all
from aclkit.cli.table import Part, Table, Words
from aclkit.model.acl_words import acl_words
from aclkit.model.groups import grouped
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.model.resource import TYPE_OF_WORD, WORD_OF_TYPE, Resource
from aclkit.questions.preview.words import few_hosts
from aclkit.questions.query.access import WHO_CAN_COLUMNS, Access
from aclkit.questions.query.fold import ALL_HOSTS, Folded, Ground, fold
from aclkit.questions.query.names import near_object
from aclkit.questions.query.pattern_grants import PatternGrant, pattern_words, reach_words, together
from aclkit.questions.query.words import others_otherwise_sentence, short_reason
from aclkit.rules.decide.rules import ALLOWED, MATCHING_ACL
from aclkit.warehouse.rows import Rows

GRANT_COLUMNS: Final = ("pattern_type", "extent", "reaches", "reached_names")
"""What a row of what-can has besides where it is about a pattern; null where it is about a name."""

_MOST_NAMED: Final = 2


def print_access(
    context: Context, answer: Access, about: str, decision: str | None, nothing: str = ""
) -> None:
    """Print an answer.

    Args:
        context: where and how.
        answer: the answer.
        about: what is the same in it: the principal, or the resource's type.
        decision: the one that was asked for; a table says it where it is not ALLOWED.
        nothing: what a table without rows says, see ``nothing_words``; of who-can nothing.
    """
    found = answer if answer.columns == WHO_CAN_COLUMNS else _with_grants(answer)
    caveats = answer.caveats(None if answer.columns == WHO_CAN_COLUMNS else about)
    if context.output_format == JSON:
        # An answer without rows has no place for them.
        tell_all([*caveats, *_otherwise(answer)])
    otherwise = [Words(text) for text in _otherwise(answer)]
    context.write(
        found.columns,
        found.rows,
        [*map(Words, caveats), *otherwise],
        json=lambda: _json(found, answer),
        table=lambda: [
            *_parts(answer, about, nothing, says_decision=decision != ALLOWED),
            *map(Words, caveats),
            *("\n" for _ in otherwise),
            *otherwise,
        ],
    )


def _json(found: Rows, answer: Access) -> Objects:
    """Return the rows, each with what holds for all of them: who reads one reads that too."""
    near = {**near_object(answer.unknown), "unknown_settings": answer.unknown_settings}
    if answer.columns == WHO_CAN_COLUMNS:
        near["other_reading"] = next(_otherwise(answer), None)
    columns = (*found.columns, *near)
    return Objects(columns, ((*row, *near.values()) for row in found.rows))


def _with_grants(answer: Access) -> Rows:
    """Return the rows of known names, and behind them those of patterns."""
    of_names = ((*row, *[None] * len(GRANT_COLUMNS)) for row in answer.rows)
    return Rows((*answer.columns, *GRANT_COLUMNS), [*of_names, *map(_grant_row, answer.grants)])


def _grant_row(grant: PatternGrant) -> tuple[object, ...]:
    acl = grant.acl
    return (
        str(grant.resource), grant.hosts, grant.operation, grant.decision, MATCHING_ACL, str(acl),
        acl.acl_id, acl.pattern_type, grant.extent, grant.reaches, list(grant.names),
    )  # fmt: skip


def _parts(answer: Access, about: str, nothing: str, *, says_decision: bool) -> Iterator[Part]:
    """Yield the table of known names, and that of patterns below it where there are any."""
    if answer.rows or not nothing:
        yield _table(answer, about, says_decision=says_decision)
    else:
        yield Words(nothing)
    if answer.grants:
        yield "\n"
        yield Words("ACLs with a pattern; they also apply to names to come:")
        yield _grants_table(answer, about, says_decision=says_decision)


def nothing_words(
    principal: str,
    resource_type: str | None,
    resource_name: str | None,
    host: str | None,
    decision: str | None,
) -> str:
    """Write that a principal has nothing of what what-can was asked about."""
    where = f" from {host}" if host else ""
    if resource_type and resource_name is not None:
        what = str(Resource(resource_type, resource_name))
    else:
        what = f"known {WORD_OF_TYPE[resource_type] if resource_type else 'resource'}"
    if decision != ALLOWED:
        return f"No decision on {what} is {decision or 'known'} for {principal}{where}."
    if resource_name is not None:
        return f"{principal} has no access to {what}{where}."
    return f"{principal} can access no {what}{where}."


def _grants_table(answer: Access, principal: str, *, says_decision: bool) -> Table:
    """Return what ACLs with a pattern grant, the operations of one together."""
    decision = ["decision"] if says_decision else []
    rows = [
        (
            pattern_words(grant.acl),
            operations_words(done, grant.acl.resource_type),
            *([grant.decision] if says_decision else []),
            hosts_words(grant.hosts, answer.hosts),
            reach_words(grant),
            acl_words(grant.acl, principal, grant.acl.resource_type),
        )
        for grant, done in together(answer.grants)
    ]
    wide = Table((*answer.columns, *GRANT_COLUMNS), list(map(_grant_row, answer.grants)))
    return Table(("pattern", "operations", *decision, "host", "today", "because"), rows, wide)


def _otherwise(answer: Access) -> Iterator[str]:
    if answer.otherwise is not None:
        yield others_otherwise_sentence(answer.otherwise)


def _table(answer: Access, about: str, *, says_decision: bool) -> Table:
    """Return the rows with operations together, and last what everybody has."""
    is_who = answer.columns == WHO_CAN_COLUMNS
    rows = []
    for line in fold(answer.groups, _by_kind(answer, is_who=is_who), answer.hosts):
        shown_type = TYPE_OF_WORD.get(line.kind or str(line.name).partition(":")[0])
        of_type = about if is_who else shown_type
        rows.append((
            line.name or _all_words(line),
            operations_words(line.operations, of_type),
            *([line.ground.decision] if says_decision else []),
            hosts_words(line.ground.hosts, answer.hosts),
            _because(line.ground, answer, line.name if is_who else about, of_type),
        ))  # fmt: skip
    decision = ["decision"] if says_decision else []
    columns = (answer.columns[0], "operations", *decision, "host", "because")
    return Table(columns, rows, Table(answer.columns, answer.rows))


def _by_kind(answer: Access, *, is_who: bool) -> dict[str, Sequence[str]]:
    if is_who:
        return {"": answer.names}
    return {**grouped((name.partition(":")[0], name) for name in answer.names)}


def _all_words(line: Folded) -> str:
    """Write for whom a line holds that stands for all.

    >>> ground = Ground("*", "ALLOWED", "MatchingAcl", "id")
    >>> _all_words(Folded(None, ("READ",), ground, "topic", ("topic:x",), 87))
    'all 87 topics but topic:x'
    >>> _all_words(Folded(None, ("READ",), ground, "", ("User:a", "User:b", "User:c"), 35))
    '32 of 35 principals'
    """
    kind = f"{line.kind or 'principal'}s"
    if len(line.but) > _MOST_NAMED:
        return f"{line.number - len(line.but):,} of {line.number:,} {kind}"
    but = f" but {' and '.join(line.but)}" if line.but else ""
    return f"all {line.number:,} {kind}{but}"


def operations_words(done: Sequence[str], resource_type: str | None) -> str:
    """Write operations in the order of their codes; all that the type knows are ``ANY``."""
    known = OPERATIONS_OF_TYPE.get(resource_type or "", ())
    if len(done) > 1 and set(done) == set(known):
        return f"all {len(known)}"
    return ", ".join(sorted(done, key=known.index) if known else done)


def hosts_words(hosts: str, known: frozenset[str]) -> str:
    """Write hosts that fare alike, few of them."""
    if hosts == ALL_HOSTS or len(known) == 1:
        return hosts
    return few_hosts(hosts.split(","), sorted(known))


def _because(
    ground: Ground, answer: Access, principal: str | None, resource_type: str | None
) -> str:
    acl = answer.acls.get(ground.acl_id)
    return short_reason(ground.decision, ground.rule, acl, principal, resource_type)
