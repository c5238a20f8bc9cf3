"""Who can access a resource, what a principal can access → their pages, as rows or a graph."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Final

from aclkit.answer.document import Heading, Part, Table
from aclkit.audit.serve.drawings import MOST_DRAWN, graph_json, lines_of_prefix, of_prefix
from aclkit.audit.serve.finder import read_names
from aclkit.audit.serve.page import Given, Page, paged
from aclkit.audit.serve.rows import Folded, Lines, fold_what, fold_who, in_words, lines_of
from aclkit.audit.serve.snapshot import Reading
from aclkit.errors import UsageError
from aclkit.model.acl import ANY_OTHER_PRINCIPAL
from aclkit.model.acl_words import acl_words, operations_words, pattern_words
from aclkit.model.operation import ANY_OPERATION, OPERATIONS_OF_TYPE, parse_operation
from aclkit.model.resource import TYPE_OF_WORD, Resource, parse_resource
from aclkit.questions.query import access
from aclkit.questions.query.decisions import Decisions, decisions_of, decisions_on
from aclkit.questions.query.pattern_grants import reach_words, read_pattern_grants, together
from aclkit.questions.query.table_words import hosts_words
from aclkit.questions.query.words import others_otherwise_sentence
from aclkit.rules.decide.rules import ALLOWED
from aclkit.warehouse.acls_in_force import acls_in_force

DECISIONS: Final = {"ALLOWED": "ALLOWED", "DENIED": "DENIED", "both": None}


def who_can(reading: Reading, given: Given) -> Page:
    """Return who can access a resource, one row a principal."""
    resource, found, folded = _ask_who(reading, given)
    return Page("who_can", {
        "resource": resource,
        "operations": OPERATIONS_OF_TYPE[resource.resource_type],
        **_shown(reading, found, folded, given),
        "notes": [*found.caveats(None), *otherwise(reading, found, resource, given)],
    })  # fmt: skip


def what_can(reading: Reading, given: Given) -> Page:
    """Return what a principal can access, one row a resource."""
    found, folded = _ask_what(reading, given)
    return Page("what_can", {
        "principal": given.get("principal", ""),
        "patterns": _pattern_parts(reading, found, given),
        "types": tuple(TYPE_OF_WORD),
        "prefix": given.get("prefix"),
        **_shown(reading, found, folded, given),
        "notes": found.caveats(given.get("principal", "")),
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
    resource, decision = parse_resource(given.get("resource", "")), _decision(given)
    operation, host = given.get("operation") or ANY_OPERATION, given.get("host") or None
    found = decisions_on(reading.where, operation, resource, host=host, decision=decision)
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
    principal, prefix = given.get("principal", ""), given.get("prefix")
    kind = given.get("type") or ("" if prefix is None else "topic")
    known = tuple(TYPE_OF_WORD) if prefix is None else ("topic",)
    if kind and kind not in known:
        raise UsageError(f"Unknown type {kind!r}. Types: {', '.join(known)}.")
    decision, host = _decision(given), given.get("host") or None

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
    decision = _decision(given)
    grants = read_pattern_grants(
        reading.tables, found, given.get("principal", ""), decision=decision,
        kind=TYPE_OF_WORD.get(given.get("type", "")), is_one_host=bool(given.get("host")),
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


def _shown(reading: Reading, found: Decisions, folded: Folded, given: Given) -> dict[str, Any]:
    return {
        "unknown": found.unknown,
        "folded": folded,
        "hosts": read_names(reading).hosts,
        "operation": given.get("operation", ""),
        "host": given.get("host", ""),
        "decision": given.get("decision") or "ALLOWED",
        "decisions": tuple(DECISIONS),
        "kind": given.get("type", ""),
        "in_words": in_words,
        "narrowed": {name: given.get(name) for name in _NARROW},
        **paged(folded.rows, given),
    }


def _decision(given: Given) -> str | None:
    asked = given.get("decision") or "ALLOWED"
    if asked not in DECISIONS:
        raise UsageError(f"Unknown decision {asked!r}. Decisions: {', '.join(DECISIONS)}.")
    return DECISIONS[asked]
