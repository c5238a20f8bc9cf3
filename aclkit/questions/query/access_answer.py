"""Who can do what, also to names with a prefix → its answer, the most powerful first. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from aclkit.answer.document import Answer, Part, Row, Sentence, Table
from aclkit.model.acl import (
    ANY_OTHER,
    ANY_OTHER_PRINCIPAL,
    Acl,
    acl_words,
    operations_words,
    power_of,
    quoted,
    type_words,
)
from aclkit.model.groups import grouped
from aclkit.model.operation import ANY_OPERATION
from aclkit.model.phrases import listed, number_of
from aclkit.model.resource import TYPE_OF_WORD, Resource
from aclkit.questions.query.access import Access
from aclkit.questions.query.by_prefix import ByPrefix, Reach
from aclkit.questions.query.every_client import but_words, every_client_words
from aclkit.questions.query.group_rows import Folded, Line, fold
from aclkit.questions.query.names import near_object
from aclkit.questions.query.pattern_grants import PatternGrant, together
from aclkit.questions.query.table_words import AccessRow, access_parts, hosts_words, short_reason
from aclkit.questions.query.words import others_otherwise_sentence
from aclkit.rules.decide.rules import ALLOWED, DENIED, MATCHING_ACL
from aclkit.rules.names.cover import ALL, NONE, SOME, UNKNOWN, Extent

GRANT_COLUMNS: Final = ("pattern_type", "extent", "reaches", "reached_names")
"""The extra columns of what-can for rows about a pattern; null in rows about a name."""

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
        more=_more(answer) | {"other_reading": next(iter(otherwise), None)},
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


def what_can_answer(
    answer: Access,
    principal: str,
    decision: str | None,
    *,
    about: Resource | None = None,
    resource_type: str | None = None,
) -> Answer:
    """Return what a principal can do: a row for each ACL that decides, with what it applies to.

    Args:
        answer: what was found.
        principal: the principal.
        decision: the one asked for; None for both.
        about: the one resource asked about, if it was one.
        resource_type: the one type asked about, if it was one.
    """
    of_names = ((*row, *[None] * len(GRANT_COLUMNS)) for row in answer.rows)
    return Answer(
        title=f"What {principal} can do" if decision else f"Decisions on {principal}",
        columns=(*answer.columns, *GRANT_COLUMNS),
        rows=(*of_names, *map(_grant_row, answer.grants)),
        parts=lambda: _what_parts(answer, principal, decision, about, resource_type),
        notes=answer.caveats(principal),
        more=_more(answer),
    )


def _grant_row(grant: PatternGrant) -> Row:
    acl = grant.acl
    return (
        str(grant.resource), grant.hosts, grant.operation, grant.decision, MATCHING_ACL, str(acl),
        acl.acl_id, acl.pattern_type, grant.extent, grant.reaches, list(grant.names),
    )  # fmt: skip


class _Line(NamedTuple):
    """Operations on what one ACL or rule decides; ``what`` is one name, or words for several."""

    what: str
    resource_type: str
    operations: Sequence[str]
    ground: Line
    number: int
    note: str = ""
    is_name: bool = False


def _what_parts(
    answer: Access,
    principal: str,
    decision: str | None,
    about: Resource | None,
    resource_type: str | None,
) -> Iterator[Part]:
    lines = sorted([*_patterns(answer), *_names(answer)], key=_what_order)
    if not lines:
        yield Sentence(_nothing(principal, decision, about, resource_type))
        return
    if about is None:
        verbs = {ALLOWED: "can access", DENIED: "is denied access to"}
        verb = verbs.get(decision or "", "has decisions on")
        yield Sentence(f"{principal} {verb} {_counts(answer, resource_type)}.")
    rows = [_what_row(answer, line, principal) for line in lines]
    wide = Table(answer.columns, answer.rows)
    yield from access_parts("resource", rows, has_decision=decision is None, wide=wide)


def _what_order(line: _Line) -> tuple[object, ...]:
    return power_of(line.operations, line.resource_type), -line.number, line.what


def _counts(answer: Access, resource_type: str | None) -> str:
    """Write how many known resources of each type an answer is about."""
    words = [_kind(name) for group in answer.groups for name in group.names if _is_known(name)]
    counts = [
        "the cluster" if word == "CLUSTER" else number_of(number, type_words(word))
        for word, number in Counter(words).items()
    ]
    if not counts:
        return f"no known {_type_or_resource(resource_type)}"
    return listed(counts)


def _kind(name: str) -> str:
    return TYPE_OF_WORD[name.partition(":")[0]]


def _is_known(name: str) -> bool:
    return name.partition(":")[2] != ANY_OTHER


def _patterns(answer: Access) -> Iterator[_Line]:
    """Yield what ACLs with a pattern grant, for future names too."""
    for grant, operations, less in together(answer.grants):
        acl = grant.acl
        ground = Line(grant.hosts, "", grant.decision, MATCHING_ACL, acl.acl_id)
        number = number_of(grant.reaches, type_words(acl.resource_type))
        mark = "" if acl.pattern_type == "PREFIXED" else f"{acl.pattern_type.lower()}, "
        star = "*" if acl.pattern_type == "PREFIXED" else ""
        what = f"{grant.resource}{star} ({mark}{number})"
        yield _Line(what, acl.resource_type, operations, ground, grant.reaches, less)


def _names(answer: Access) -> Iterator[_Line]:
    """Yield the decisions on known names, equal ones together, unless a pattern covers them."""
    said = {(g.acl.acl_id, g.hosts, g.operation) for g in answer.grants}
    found: dict[tuple[str, Line, tuple[str, ...]], list[str]] = {}
    for names, lines in answer.groups:
        own = grouped(
            (line.ground, line.operation)
            for line in lines
            if (line.acl_id, line.hosts, line.operation) not in said
        )
        for ground, operations in own.items():
            for name in names:
                key = _kind(name), ground, tuple(operations)
                found.setdefault(key, []).append(name)
    for (kind, ground, done), names in found.items():
        # Of one resource that was asked about the ACL's pattern is no answer.
        acl = answer.acls.get(ground.acl_id) if len(answer.names) > 1 else None
        yield from _lines_of_names(kind, ground, done, names, acl)


def _lines_of_names(
    kind: str, ground: Line, operations: Sequence[str], names: Sequence[str], acl: Acl | None
) -> Iterator[_Line]:
    known = [name for name in names if _is_known(name)]
    is_every = acl is not None and acl.resource_name == "*" and acl.pattern_type == "LITERAL"
    if len(known) == 1 and not is_every:
        yield _Line(known[0], kind, operations, ground, 1, is_name=True)
        return
    every = f"all {type_words(kind)}s ({len(known):,} today)"
    if is_every or not known:
        yield _Line(every, kind, operations, ground, len(known))
    elif acl is None:
        number = number_of(len(known), type_words(kind))
        yield _Line(number, kind, operations, ground, len(known))
    else:
        for name in known:
            yield _Line(name, kind, operations, ground, 1, is_name=True)


def _what_row(answer: Access, line: _Line, principal: str) -> AccessRow:
    ground, acl = line.ground, answer.acls.get(line.ground.acl_id)
    acl = acl or next((g.acl for g in answer.grants if g.acl.acl_id == ground.acl_id), None)
    if acl is None:
        because = short_reason(ground.decision, ground.rule, None, principal, None)
    else:
        whom = "" if acl.principal == principal else f" for {acl.principal}"
        host = "" if acl.host == "*" else f" from {acl.host}"
        because = f"{acl.permission_type} {acl.operation}{whom}{host}"
        if line.is_name and line.what != str(Resource(acl.resource_type, acl.resource_name)):
            # The row is about a name, not about the ACL's pattern, so that the ACL is named whole.
            because = acl_words(acl, principal, line.resource_type, has_any_host=False)
    return AccessRow(
        line.what,
        operations_words(line.operations, line.resource_type),
        ground.decision,
        hosts_words(ground.hosts, answer.hosts),
        f"{because}{line.note}",
    )


def _nothing(
    principal: str, decision: str | None, about: Resource | None, resource_type: str | None
) -> str:
    """Write that a principal has nothing of what was asked about."""
    what = str(about) if about is not None else f"any known {_type_or_resource(resource_type)}"
    if decision == ALLOWED:
        return f"{principal} has no access to {what}."
    return (
        f"{principal} is {'denied nothing' if decision == DENIED else 'asked nothing'} on {what}."
    )


def _type_or_resource(resource_type: str | None) -> str:
    return type_words(resource_type) if resource_type else "resource"


def _more(answer: Access) -> dict[str, object]:
    """Return what holds for all rows: who reads one reads that too."""
    return {
        **near_object(answer.unknown),
        "unknown_settings": answer.unknown_settings,
        "unread_parts": sorted(answer.unread),
    }


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
