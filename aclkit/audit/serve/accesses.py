"""Who can, what can, why and since when → their pages, as rows or a graph."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import takewhile
from typing import Any, Final

from aclkit.answer.document import Answer, Heading, Part, Sentence, Table
from aclkit.audit.serve.drawings import MOST_DRAWN, graph_json, lines_of_prefix, of_prefix
from aclkit.audit.serve.finder import Names, read_names
from aclkit.audit.serve.form import controls, fields_of, read_form
from aclkit.audit.serve.page import Given, Link, Page, paged, whole_number
from aclkit.audit.serve.rows import Folded, Lines, fold_what, fold_who, in_words, lines_of
from aclkit.audit.serve.snapshot import Reading
from aclkit.errors import UsageError
from aclkit.model.acl import ANY_OTHER_PRINCIPAL, acl_words, operations_words, pattern_words
from aclkit.model.operation import ANY_OPERATION, OPERATIONS_OF_TYPE, parse_operation
from aclkit.model.resource import TYPE_OF_WORD, Resource, parse_resource
from aclkit.questions.arguments import DECISIONS, WhatCan, WhoCan, Why
from aclkit.questions.query import access
from aclkit.questions.query.decisions import Decisions, decisions_of, decisions_on
from aclkit.questions.query.history import read_history
from aclkit.questions.query.history_answer import history_answer
from aclkit.questions.query.names import Unknown
from aclkit.questions.query.other_reading import others_otherwise_sentence
from aclkit.questions.query.pattern_grants import reach_words, read_pattern_grants, together
from aclkit.questions.query.table_words import hosts_words
from aclkit.questions.query.what_can import what_can as find_what_can
from aclkit.questions.query.what_can_answer import what_can_answer
from aclkit.questions.query.why import Part as Taking
from aclkit.questions.query.why import Why as Reasons
from aclkit.questions.query.why import explain_why
from aclkit.questions.query.why_answer import because_words, why_answer, without_words
from aclkit.rules.decide.rules import ALLOWED
from aclkit.warehouse.acls_in_force import acls_in_force


def who_can(reading: Reading, given: Given) -> Page:
    """Return who can access a resource, one row a principal."""
    asked, (resource, found, folded) = read_form(WhoCan, given), _ask_who(reading, given)
    shown = replace(asked, operation=asked.operation.upper())
    operations = OPERATIONS_OF_TYPE[resource.resource_type], "any"
    return Page("who_can", {
        "resource": resource,
        "controls": [*controls(shown, {"operation": operations, **_hosts(reading)})],
        **_shown(found, folded, given),
        "notes": [*found.caveats(None), *otherwise(reading, found, resource, given)],
    })  # fmt: skip


def what_can(reading: Reading, given: Given) -> Page:
    """Return what a principal can access, one row a resource."""
    asked, (found, folded) = read_form(WhatCan, given), _ask_what(reading, given)
    return Page("what_can", {
        "principal": asked.principal,
        "controls": [*controls(asked, _hosts(reading))],
        "patterns": _pattern_parts(reading, found, given),
        "types": tuple(TYPE_OF_WORD),
        "prefix": given.get("prefix"),
        **_shown(found, folded, given),
        "notes": found.caveats(asked.principal),
    })  # fmt: skip


def graph(reading: Reading, given: Given) -> Page:
    """Return the graph of one of these two."""
    is_what = "principal" in given
    if is_what:
        (found, folded), asked = _ask_what(reading, given), given["principal"]
    else:
        resource, found, folded = _ask_who(reading, given)
        asked = str(resource)
    key = "principal" if is_what else "resource"
    acls = acls_in_force(reading.tables, reading.run, found.acl_ids)
    return Page("graph", {
        "asked": asked,
        "heading": ("What", " can access") if is_what else ("Who can access", ""),
        "rows_path": "/what-can" if is_what else "/who-can",
        "given": {name: given.get(name) for name in (key, *_NARROW)},
        "number": len(folded.rows),
        "most": MOST_DRAWN,
        "drawing": partial(graph_json, found, folded, acls, {key: asked}),
    })  # fmt: skip


_NARROW: Final = ("type", "prefix", "operation", "host", "decision")
"""What narrows an answer of who-can or what-can."""


def _ask_who(reading: Reading, given: Given) -> tuple[Resource, Decisions, Folded]:
    asked = read_form(WhoCan, given)
    resource, decision = parse_resource(asked.resource), DECISIONS[asked.decision]
    operation = asked.operation or ANY_OPERATION
    found = decisions_on(reading.where, operation, resource, host=asked.host, decision=decision)
    return resource, found, fold_who(found, is_folded=decision == ALLOWED)


def otherwise(
    reading: Reading,
    found: Decisions,
    resource: Resource,
    given: Given,
    principals: Sequence[str] | None = None,
) -> Iterator[str]:
    """Yield whom the other reading of ACLs decides otherwise for."""
    asked = parse_operation(given.get("operation") or ANY_OPERATION, resource.resource_type)
    other = access.otherwise_of(reading.where, found, resource, frozenset(asked), principals)
    if other is not None:
        yield others_otherwise_sentence(other)


def _ask_what(reading: Reading, given: Given) -> tuple[Decisions, Folded]:
    asked, prefix = read_form(WhatCan, given), given.get("prefix")
    kind = given.get("type") or ("" if prefix is None else "topic")
    known = tuple(TYPE_OF_WORD) if prefix is None else ("topic",)
    if kind and kind not in known:
        raise UsageError(f"Unknown type {kind!r}. Types: {', '.join(known)}.")
    principal, host, decision = asked.principal, asked.host, DECISIONS[asked.decision]

    def ask(who: str) -> Decisions:
        narrow = {"resource_type": TYPE_OF_WORD.get(kind)}
        return decisions_of(reading.where, who, narrow, host=host, decision=decision)

    found, usual = ask(principal), dict[str, Lines]()
    if decision == ALLOWED and principal != ANY_OTHER_PRINCIPAL:
        key = "everyone", reading.cluster_id, kind, host
        usual = reading.snapshot.memory.kept(key, lambda: lines_of(ask(ANY_OTHER_PRINCIPAL)))
    if prefix is not None:
        found, usual = of_prefix(found, prefix), lines_of_prefix(usual, prefix)
    return found, fold_what(found, usual)


def _pattern_parts(reading: Reading, found: Decisions, given: Given) -> list[Part]:
    """Return what the principal has by patterns; nothing where only a prefix is asked about."""
    if given.get("prefix") is not None:
        return []
    asked = read_form(WhatCan, given)
    decision = DECISIONS[asked.decision]
    grants = read_pattern_grants(
        reading.tables, found, asked.principal, decision=decision,
        kind=TYPE_OF_WORD.get(given.get("type", "")), is_one_host=asked.host is not None,
    )  # fmt: skip
    rows = [
        (
            pattern_words(access.grant.acl),
            operations_words(access.operations, access.grant.acl.resource_type),
            *([access.grant.decision] if decision is None else []),
            hosts_words(access.grant.hosts, found.hosts),
            reach_words(access),
            acl_words(access.grant.acl),
        )
        for access in together(grants)
    ]
    shown = ["decision"] if decision is None else []
    columns = ("pattern", "operations", *shown, "hosts", "today", "because")
    head = Heading("ACLs with a pattern: they also apply to new names")
    return [head, Table(columns, rows)] if rows else []


def _hosts(reading: Reading) -> dict[str, tuple[Sequence[str], str]]:
    return {"host": (read_names(reading).hosts, "all")}


def _shown(found: Decisions, folded: Folded, given: Given) -> dict[str, Any]:
    return {
        "unknown": found.unknown,
        "folded": folded,
        "operation": given.get("operation", ""),
        "host": given.get("host", ""),
        "decision": given.get("decision") or "ALLOWED",
        "kind": given.get("type", ""),
        "in_words": in_words,
        "narrowed": {name: given.get(name) for name in _NARROW},
        **paged(folded.rows, given),
    }


@dataclass(frozen=True, slots=True)
class Leads:
    """A known principal leads to what it can access, a known resource to who can access it.

    Attributes:
        names: the known names.
        link: makes addresses.
        access: the access that a table is about: an offset leads to why it was decided then.
    """

    names: Names
    link: Link
    access: Mapping[str, str | None] = field(default_factory=dict)

    def __call__(self, column: str, cell: object) -> str | None:
        """Return an address; None for what leads nowhere."""
        if column == "offset" and self.access:
            return self.link("/why", **self.access, at=cell)
        if not isinstance(cell, str) or cell not in map(
            str, self.names.whole.get(cell.lower(), ())
        ):
            return None
        if column == "principal":
            return self.link("/what-can", principal=cell)
        return self.link("/who-can", resource=cell) if column == "resource" else None


def why(reading: Reading, given: Given) -> Page:
    """Return a decision and what it rests on; without an operation, those on all of them."""
    asked, resource = _asked(given)
    principal, host = asked.principal, asked.host
    if not asked.operation:
        every = find_what_can(
            *reading.where, principal,
            resource_type=resource.resource_type, resource_name=resource.resource_name,
            host=host, decision=None,
        )  # fmt: skip
        answer = what_can_answer(every, principal, None, about=resource)
        others = otherwise(reading, every, resource, given, [principal])
        title, notes = f"{principal} on {resource}", (*answer.notes, *others)
        return _access(reading, given, replace(answer, title=title, notes=notes), every.unknown)
    found = explain_why(
        *reading.where, principal, asked.operation, resource,
        host=host, moment=_offset(asked.at),
    )  # fmt: skip
    trials = {} if found.least is None else {"adding this ACL": fields_of(found.least)}
    if found.acls:
        trials["removing the deciding ACL"] = fields_of(found.acls[0].acl, "remove")
    answer = why_answer(found)
    answer = replace(answer, parts=partial(_why_parts, answer, found))
    return _access(reading, given, answer, found.unknown, trials)


def _why_parts(answer: Answer, found: Reasons) -> Iterator[Part]:
    """Yield what was decided and how to change it, then every ACL that matches or nearly does."""
    parts = answer.parts() if answer.parts else []
    yield from takewhile(lambda part: not isinstance(part, Heading), parts)
    acls = [*found.acls, *found.near]
    if not acls:
        return
    yield Heading("Matching and near-miss ACLs")
    yield Table(_ACL_COLUMNS, map(_acl_row, acls))
    if more := found.near_count - len(found.near):
        yield Sentence(f"And {more:,} more near misses.")


_ACL_COLUMNS: Final = ("acl", "rank", "because", "without it", "added (UTC)", "id")


def _acl_row(part: Taking) -> tuple[object, ...]:
    at = part.life.added_at
    return (
        acl_words(part.acl),
        part.rank and str(part.rank),
        because_words(part),
        without_words(part),
        f"{f'{at:%Y-%m-%d %H:%M:%S}, ' if at else ''}offset {part.life.added_offset}",
        part.acl.acl_id,
    )


def history(reading: Reading, given: Given) -> Page:
    """Return since when an access is as it is, the newest first."""
    asked, resource = _asked(given)
    found = read_history(
        *reading.where, asked.principal, asked.operation, resource, host=asked.host
    )
    return _access(reading, given, history_answer(found), found.unknown, is_past=True)


def _asked(given: Given) -> tuple[Why, Resource]:
    """Read an access; without an operation it is about all of them."""
    asked = read_form(Why, given)
    return asked, parse_resource(asked.resource)


def _access(
    reading: Reading,
    given: Given,
    answer: Answer,
    unknown: Sequence[Unknown],
    trials: Mapping[str, Mapping[str, str]] | None = None,
    *,
    is_past: bool = False,
) -> Page:
    """Return the page of an answer about one access; ``trials`` are previews to offer."""
    asked, resource = _asked(given)
    names, operation, host = read_names(reading), asked.operation.upper(), asked.host or ""
    pair = {"principal": asked.principal, "operation": operation, "resource": str(resource)}
    offered = {
        "operation": (OPERATIONS_OF_TYPE[resource.resource_type], "" if is_past else "all"),
        "host": (names.hosts, "a host that no ACL names" if operation else "all"),
    }
    return Page("access", {
        **pair,
        "answer": answer,
        "leads": partial(Leads, names, access=pair | {"host": host}),
        "controls": [*controls(replace(asked, operation=operation), offered)],
        "host": host,
        "trials": trials or {},
        "unknown": unknown,
    })  # fmt: skip


def _offset(text: str | None) -> int | None:
    offset = whole_number(text or "")
    if text and offset is None:
        raise UsageError(f"Invalid offset {text!r}. Offsets are whole numbers.")
    return offset
