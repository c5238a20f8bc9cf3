"""What a principal can do → its answer, the most powerful first. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from aclkit.answer.document import Answer, Part, Row, Sentence, Table
from aclkit.model.acl import ANY_OTHER, Acl, acl_words, operations_words, power_of, type_words
from aclkit.model.groups import grouped
from aclkit.model.phrases import listed, number_of
from aclkit.model.resource import TYPE_OF_WORD, Resource
from aclkit.questions.query.access import Access
from aclkit.questions.query.access_answer import shared_of
from aclkit.questions.query.group_rows import Line
from aclkit.questions.query.pattern_grants import PatternGrant, together
from aclkit.questions.query.table_words import AccessRow, access_parts, hosts_words, short_reason
from aclkit.rules.decide.rules import ALLOWED, DENIED, MATCHING_ACL

GRANT_COLUMNS: Final = ("pattern_type", "extent", "reaches", "reached_names")
"""The extra columns of what-can for rows about a pattern; null in rows about a name."""


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
        more=shared_of(answer),
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
