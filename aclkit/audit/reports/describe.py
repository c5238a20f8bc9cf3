"""A principal or a resource → one page: what is known of it, its access, ACLs and findings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, field
from datetime import datetime
from typing import Final

from aclkit.answer.document import Answer, Facts, Heading, Item, Items, Part, Sentence, Table
from aclkit.answer.rows import as_objects
from aclkit.model.acl import acl_words
from aclkit.model.findings import Finding, sort_findings
from aclkit.model.moment import until_words
from aclkit.model.operation import ANY_OPERATION, OPERATIONS_OF_TYPE
from aclkit.model.resource import Resource
from aclkit.model.values import dataclass
from aclkit.questions.query.access import NEEDED as ACCESS
from aclkit.questions.query.access import Access, who_can
from aclkit.questions.query.access_answer import who_can_answer
from aclkit.questions.query.decisions import Where
from aclkit.questions.query.lifetimes import (
    AclEnd,
    Lifetime,
    lifetimes_of,
    lifetimes_reaching,
    read_ends,
)
from aclkit.questions.query.what_can import what_can
from aclkit.questions.query.what_can_answer import what_can_answer
from aclkit.rules.decide.rules import ALLOWED
from aclkit.warehouse.codecs import finding_of, finding_sql
from aclkit.warehouse.duck import fetch
from aclkit.warehouse.published import run_settings

_NEWEST: Final = "%Y-%m-%d %H:%M:%S UTC"

NEEDED: Final[Mapping[str, Mapping[str, str]]] = {
    **ACCESS,
    **{name: {} for name in ("finding", "job_run", "acl_lease")},
}
"""The tables that it asks, see ``duck.connect``; ``finding_current`` is a view of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Described:
    """What is known of a principal or a resource.

    Attributes:
        subject: its name, ``User:bob`` or ``topic:x``.
        resource: the resource; None for a principal.
        is_super: it is a super user.
        access: what it can do, or who can do what to it.
        lives: the ACLs in force that name the principal, or that apply to the resource; those for
            this name first.
        findings: those about these ACLs, and about the name itself.
        ends: id of an ACL that has an end → its end.
    """

    subject: str
    resource: Resource | None
    is_super: bool
    access: Access
    lives: tuple[Lifetime, ...]
    findings: tuple[Finding, ...]
    ends: Mapping[str, AclEnd] = field(default_factory=dict)


def describe_principal(where: Where, principal: str) -> Described:
    """Read what is known of a principal; the errors are those of ``what_can``."""
    access = what_can(*where, principal)
    offset = access.decided_by.head_offset or 0
    types = list(OPERATIONS_OF_TYPE)
    own = lifetimes_of(where.tables, where.cluster_id, principal, offset)
    lives = [life for life in own if life.acl.resource_type in types]
    lives.sort(key=lambda life: types.index(life.acl.resource_type))
    settings, _ = run_settings(access.decided_by)
    return Described(
        subject=principal,
        resource=None,
        is_super=settings.makes_super(principal),
        access=access,
        lives=tuple(lives),
        findings=_findings(where, principal, lives),
        ends=read_ends(where.tables, where.cluster_id),
    )


def describe_resource(where: Where, resource: Resource) -> Described:
    """Read what is known of a resource; the errors are those of ``who_can``."""
    access = who_can(*where, ANY_OPERATION, resource)
    _, semantics = run_settings(access.decided_by)
    offset = access.decided_by.head_offset or 0
    lives = lifetimes_reaching(where.tables, where.cluster_id, resource, semantics, offset)
    own = [life for life in lives if life.acl.resource_name == resource.resource_name]
    lives.sort(key=lambda life: life not in own)
    return Described(
        subject=str(resource),
        resource=resource,
        is_super=False,
        access=access,
        lives=tuple(lives),
        findings=_findings(where, str(resource), own),
        ends=read_ends(where.tables, where.cluster_id),
    )


def _findings(where: Where, subject: str, lives: Sequence[Lifetime]) -> tuple[Finding, ...]:
    """Read the findings about a name, or about one of some ACLs."""
    ids = {life.acl.acl_id for life in lives}
    found = map(finding_of, fetch(where.tables, _FINDINGS, [where.cluster_id]))
    about = (f for f in found if f.subject == subject or ids.intersection(f.acl_ids))
    return tuple(sort_findings(about))


_FINDINGS: Final = finding_sql("FROM finding_current WHERE cluster_id = ?")


def describe_answer(found: Described) -> Answer:
    """Return the page."""
    return Answer(
        title=found.subject,
        columns=found.access.columns,
        rows=found.access.rows,
        parts=lambda: _parts(found),
        notes=found.access.caveats(found.subject if found.resource is None else None),
        json=lambda: _object(found),
    )


def _parts(found: Described) -> Iterator[Part]:
    yield Heading(found.subject)
    yield Facts(list(_facts(found)))
    yield Heading("Findings")
    if found.findings:
        rows = [(each.severity, each.finding, each.message) for each in found.findings]
        yield Table(("severity", "finding", "message"), rows)
    else:
        yield Sentence("No finding is about it.")
    yield Heading("Access")
    yield from _access(found).for_people()
    yield Heading("ACLs that name it" if found.resource is None else "ACLs that apply to it")
    if found.lives:
        yield Items(_item(found, life) for life in found.lives)
    else:
        yield Sentence("None.")


def _access(found: Described) -> Answer:
    if found.resource is None:
        return what_can_answer(found.access, found.subject, ALLOWED)
    return who_can_answer(found.access, ANY_OPERATION, found.resource, ALLOWED)


def _facts(found: Described) -> Iterator[tuple[str, str]]:
    unknown = {each.name for each in found.access.unknown}
    yield "exists", "no; this is what would apply" if found.subject in unknown else "yes"
    if found.resource is None:
        yield "super user", "yes" if found.is_super else "no"
    denies = sum(not life.acl.is_allow for life in found.lives)
    yield "ACLs", f"{len(found.lives):,}, of which {denies:,} DENY"
    yield "findings", f"{len(found.findings):,}"
    if times := [life.added_at for life in found.lives if life.added_at is not None]:
        yield "newest ACL", f"{max(times):{_NEWEST}}"


def _item(found: Described, life: Lifetime) -> Item:
    principal = found.subject if found.resource is None else None
    at = "" if life.added_at is None else f" ({life.added_at:%Y-%m-%d})"
    end = found.ends.get(life.acl.acl_id)
    until = "" if end is None else f", needed until {until_words(end.until)}"
    return Item(f"{acl_words(life.acl, principal)}{at}{until}")


def _until(found: Described, life: Lifetime) -> datetime | None:
    end = found.ends.get(life.acl.acl_id)
    return None if end is None else end.until


def _object(found: Described) -> dict[str, object]:
    return {
        "subject": found.subject,
        "is_known": found.subject not in {each.name for each in found.access.unknown},
        "is_super_user": found.is_super,
        "access": as_objects(found.access.columns, found.access.rows),
        "acls": [
            {**asdict(life.acl), "text": str(life.acl), "added_offset": life.added_offset,
             "added_at": life.added_at, "until": _until(found, life)}
            for life in found.lives
        ],
        "findings": [{**asdict(each), "fingerprint": each.fingerprint} for each in found.findings],
        "unknown_settings": found.access.unknown_settings,
        "unread_parts": sorted(found.access.unread),
    }  # fmt: skip
