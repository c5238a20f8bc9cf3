"""ACLs → findings on DENYs: what they leave of ALLOWs, and what is allowed without them. Pure.

A DENY is no grant: who removes one allows all that ALLOWs, or the default, then grant. The state
without the DENYs of a finding is compared with the state of today, for every name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Final, NamedTuple

from aclkit.audit.findings.audit_input import AuditInput
from aclkit.audit.findings.readings import READS_DIFFERENTLY
from aclkit.audit.findings.sentences import acls_words
from aclkit.model.acl import Acl, Request, acl_words, quoted, type_words
from aclkit.model.broker_settings import ALLOW_EVERYONE
from aclkit.model.cidr import parse_range
from aclkit.model.findings import Finding, Kind
from aclkit.model.semantics import BrokerSettings, Semantics
from aclkit.rules.decide.confirm import Comparison
from aclkit.rules.names.compare import GAINED
from aclkit.rules.names.overlap_index import PrefixIndex
from aclkit.rules.names.question import Budget
from aclkit.rules.names.redundancy import find_left
from aclkit.rules.names.region import fold
from aclkit.rules.names.rows import Row, Rules, Symbols, may_share, rows_of, start_of_pattern

ALLOW_OVERRIDDEN: Final = Kind(
    id="allow-overridden",
    severity="medium",
    summary="ALLOW ACLs that DENY ACLs override completely",
    meaning=(
        "One DENY, or several together, deny every request that the ALLOW matches. A DENY "
        "overrides every ALLOW, even a more specific one. So the ALLOW grants nothing today, but "
        "it takes effect as soon as the DENY is removed."
    ),
    fix=(
        "If the access is not intended, remove the ALLOW. Otherwise, narrow the DENY: no ALLOW can "
        "override a DENY. aclkit preview remove-acl shows the effect."
    ),
)


def find_overridden(audit: AuditInput) -> Iterator[Finding]:
    """Yield each ALLOW that DENYs contain entirely, operation by operation."""
    for acl in audit.acls:
        cover = audit.overridden.get(acl.acl_id)
        if cover:
            together = f"{len(cover):,} DENY ACLs together override it ({acls_words(cover)})"
            why = f"{acl_words(cover[0])} overrides it" if len(cover) == 1 else together
            message = f"{acl_words(acl)} has no effect: {why}."
            yield ALLOW_OVERRIDDEN.about(acl, message, acls=cover)


DENY_LEAVES_DESCRIBE: Final = Kind(
    id="deny-leaves-describe",
    severity="low",
    summary="DENY READ ACLs that leave DESCRIBE allowed",
    meaning=(
        "An ALLOW of READ also grants DESCRIBE, but a DENY of READ denies READ only. So another "
        "ALLOW, even an ALLOW of READ, still grants DESCRIBE. The topic or group stays visible in "
        "listings, with its partitions, offsets and lag."
    ),
    fix=(
        "To hide the resource, add a DENY of DESCRIBE with the same pattern, principal and host. "
        "Or narrow the ALLOW. aclkit preview add-acl shows who would lose access."
    ),
)

_TYPES: Final = ("TOPIC", "GROUP")
_DESCRIBE: Final = "DESCRIBE"


def find_deny_leaves_describe(audit: AuditInput) -> Iterator[Finding]:
    """Yield each DENY of READ on which some ALLOW still grants DESCRIBE, with one such ALLOW."""
    for row in audit.rows.values():
        acl = row.acl
        reads = not acl.is_allow and acl.operation == "READ" and acl.resource_type in _TYPES
        if reads and (shown := _shown(audit, row)):
            allow, request = shown
            yield DENY_LEAVES_DESCRIBE.about(
                acl,
                f"{acl_words(acl)} leaves DESCRIBE allowed: {acl_words(allow.acl)} grants it."
                f"{audit.example([request], acl, allow.acl)}",
                acls=(allow.acl,),
            )


def _shown(audit: AuditInput, deny: Row) -> tuple[Row, Request | None] | None:
    """Return an ALLOW that gives DESCRIBE where a DENY answers, and the shortest request.

    Where that is but supposed, there is no request.
    """
    if _left(audit, deny) is None:
        return None
    allows = audit.others.meeting(deny, allows=True)
    left = (
        (allow, _left(audit, deny, allow)) for allow in allows if audit.gives(allow.acl, _DESCRIBE)
    )
    return next(((allow, found[0]) for allow, found in left if found), None)


def _left(audit: AuditInput, *rows: Row) -> tuple[Request | None] | None:
    """Return the shortest request of DESCRIBE left of what ACLs all answer."""
    left = find_left(rows, audit.others, [_DESCRIBE])
    if left.given:
        view, name = left.given[_DESCRIBE]
        return (view.request(_DESCRIBE, name),)
    return (None,) if audit.supposed and left.unknown else None


MOST: Final = 200
"""The effect of so many findings is computed; the fixes of the others name the command for it."""

_KEEPS: Final = frozenset((DENY_LEAVES_DESCRIBE.id, READS_DIFFERENTLY.id))
"""Kinds whose fix removes no DENY."""

_UNKNOWN: Final = "it is unknown what is allowed. Next: aclkit preview remove-acl"

_MARK: Final = " Without the DENY"


def has_denies(findings: Iterable[Finding], acls: Iterable[Acl]) -> bool:
    """Whether a finding is about a DENY that its fix can remove."""
    by_id = {acl.acl_id: acl for acl in acls}
    return any(_own(finding, by_id) for finding in findings)


def with_openings(findings: Iterable[Finding], audit: AuditInput) -> list[Finding]:
    """Return findings; the fix of each one about DENYs also shows what is allowed without these.

    Args:
        findings: of the ACLs of the audit, the worst first. Those that show it already stay.
        audit: the ACLs in force, and what decides besides.
    """
    by_id, teller, told = {acl.acl_id: acl for acl in audit.acls}, _Openings(audit), 0
    found: list[Finding] = []
    for finding in findings:
        own = [] if _MARK in finding.fix else _own(finding, by_id)
        if own:
            told += 1
            words = teller.words(own) if told <= MOST else f"Without the DENY, {_UNKNOWN}"
            found.append(replace(finding, fix=f"{finding.fix} {words}"))
        else:
            found.append(finding)
    return found


def _own(finding: Finding, by_id: Mapping[str, Acl]) -> list[Acl]:
    """Return the DENYs that a finding is about; those that only override or cover are not."""
    if finding.finding in _KEEPS:
        return []
    mine = [by_id[acl_id] for acl_id in finding.acl_ids if acl_id in by_id]
    # A principal can be called as an ACL is written.
    about = [acl for acl in mine if str(acl) == finding.subject] or mine
    return [acl for acl in about if not acl.is_allow]


class _Case(NamedTuple):
    """Settings and a reading that may hold, in words where they are not those of today."""

    settings: BrokerSettings
    semantics: Semantics
    words: str


class _Openings:
    """Finds out what is allowed without DENYs."""

    def __init__(self, audit: AuditInput) -> None:
        self.audit = audit
        self.rows = cache(self._rows)

    def words(self, denies: Sequence[Acl]) -> str:
        """Write it, with an example that the rule decides so."""
        is_known = True
        for case in self._cases(denies):
            found = self._compare(denies, case)
            is_known &= found.difference.is_known
            if gained := fold(found.difference.of_kind(GAINED)):
                request, _, _ = found.rulings(gained[0].change)
                where = f"{type_words(request.resource_type)} {quoted(request.resource_name)}"
                return (
                    f"Without the DENY, more is allowed{case.words}: for example, "
                    f"{quoted(request.principal)} can {request.operation} {where} from "
                    f"{request.host}. All of it: aclkit preview remove-acl."
                )
        return f"Without the DENY, {'nothing more is allowed.' if is_known else _UNKNOWN}"

    def _cases(self, denies: Sequence[Acl]) -> Iterator[_Case]:
        known, read = self.audit.settings, self.audit.semantics
        yield _Case(known, read, "")
        if not known.allow_everyone and ALLOW_EVERYONE in known.unknown:
            yield _Case(replace(known, allow_everyone=True), read, f" if {ALLOW_EVERYONE} is true")
        if not read.cidr_hosts and any(parse_range(acl.host) for acl in denies):
            yield _Case(known, replace(read, cidr_hosts=True), " on brokers of Kafka 4.4 or later")

    def _compare(self, denies: Sequence[Acl], case: _Case) -> Comparison:
        budget = self.audit.budget
        now = Rules(
            acls=self._concerned(denies, case), settings=case.settings, semantics=case.semantics
        )
        gone = {deny.acl_id for deny in denies}
        after = replace(now, acls=[acl for acl in now.acls if acl.acl_id not in gone])
        # What this takes is no part of what the audit leaves open.
        spent = Budget(per_question=budget.per_question, total=budget.total)
        return Comparison.of(now, after, spent)

    def _concerned(self, denies: Sequence[Acl], case: _Case) -> list[Acl]:
        """Return the ACLs that can share a request with DENYs; with a default, a name is enough."""
        found = {deny.acl_id: deny for deny in denies}
        for deny in rows_of(denies, case.semantics):
            start = start_of_pattern(*deny.acl.pattern[1:], case.semantics)
            by_principal = self.rows(case.semantics).get(deny.acl.resource_type, {})
            for principal, rows in by_principal.items():
                if case.settings.allow_everyone or _may_share(principal, deny.principal):
                    near = (row for row in rows.near(start) if _may_meet(row, deny))
                    found |= {row.acl.acl_id: row.acl for row in near}
        return [found[acl_id] for acl_id in sorted(found)]

    def _rows(self, semantics: Semantics) -> dict[str, dict[Symbols | None, PrefixIndex]]:
        """Return the ACLs by resource type and principal."""
        found: dict[str, dict[Symbols | None, PrefixIndex]] = {}
        for row in rows_of(self.audit.acls, semantics):
            of_type = found.setdefault(row.acl.resource_type, {})
            start = start_of_pattern(*row.acl.pattern[1:], semantics)
            of_type.setdefault(row.principal, PrefixIndex()).add(start, row)
        return found


def _may_share(one: Symbols | None, other: Symbols | None) -> bool:
    return one is not None and other is not None and may_share(one, other)


def _may_meet(row: Row, other: Row) -> bool:
    return any(may_share(one, two) for one in row.patterns for two in other.patterns)
