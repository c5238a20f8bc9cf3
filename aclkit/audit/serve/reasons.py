"""One access → the pages that say why it is decided so, and since when."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import takewhile
from typing import Final

from aclkit.answer.document import Answer, Heading, Part, Sentence, Table
from aclkit.audit.serve.accesses import otherwise
from aclkit.audit.serve.finder import Names, read_names
from aclkit.audit.serve.form import fields_of
from aclkit.audit.serve.page import Given, Link, Page, whole_number
from aclkit.audit.serve.snapshot import Reading
from aclkit.errors import UsageError
from aclkit.model.acl_words import acl_words
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.model.resource import Resource, parse_resource
from aclkit.questions.query import access
from aclkit.questions.query.access_answer import what_can_answer
from aclkit.questions.query.history import read_history
from aclkit.questions.query.names import Unknown
from aclkit.questions.query.why import Part as Taking
from aclkit.questions.query.why import Why, explain_why
from aclkit.questions.query.why_answer import (
    because_words,
    history_answer,
    why_answer,
    without_words,
)


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
    principal, resource = _pair(given)
    host = given.get("host") or None
    if not given.get("operation"):
        every = access.what_can(
            *reading.where, principal,
            resource_type=resource.resource_type, resource_name=resource.resource_name,
            host=host, decision=None,
        )  # fmt: skip
        answer = what_can_answer(every, principal, None, about=resource)
        others = otherwise(reading, every, resource, given, [principal])
        title, notes = f"{principal} on {resource}", (*answer.notes, *others)
        return _access(reading, given, replace(answer, title=title, notes=notes), every.unknown)
    found = explain_why(
        *reading.where, principal, given["operation"], resource,
        host=host, moment=_offset(given),
    )  # fmt: skip
    trials = {} if found.least is None else {"adding this ACL": fields_of(found.least)}
    if found.acls:
        trials["removing the deciding ACL"] = fields_of(found.acls[0].acl, "remove")
    answer = why_answer(found)
    answer = replace(answer, parts=partial(_why_parts, answer, found))
    return _access(reading, given, answer, found.unknown, trials)


def _why_parts(answer: Answer, found: Why) -> Iterator[Part]:
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
    principal, resource = _pair(given)
    found = read_history(
        *reading.where, principal, given.get("operation", ""), resource,
        host=given.get("host") or None,
    )  # fmt: skip
    return _access(reading, given, history_answer(found), found.unknown)


def _pair(given: Given) -> tuple[str, Resource]:
    return given.get("principal", ""), parse_resource(given.get("resource", ""))


def _access(
    reading: Reading,
    given: Given,
    answer: Answer,
    unknown: Sequence[Unknown],
    trials: Mapping[str, Mapping[str, str]] | None = None,
) -> Page:
    """Return the page of an answer about one access; ``trials`` are previews to offer."""
    principal, resource = _pair(given)
    names = read_names(reading)
    operation, host = given.get("operation", "").upper(), given.get("host", "")
    asked = {"principal": principal, "operation": operation, "resource": str(resource)}
    return Page("access", {
        **asked,
        "answer": answer,
        "leads": partial(Leads, names, access=asked | {"host": host}),
        "operations": OPERATIONS_OF_TYPE[resource.resource_type],
        "host": host,
        "hosts": names.hosts,
        "trials": trials or {},
        "unknown": unknown,
    })  # fmt: skip


def _offset(given: Given) -> int | None:
    text = given.get("at", "")
    offset = whole_number(text)
    if text and offset is None:
        raise UsageError(f"Invalid offset {text!r}. Offsets are whole numbers.")
    return offset
