"""Findings whose fix can remove a DENY → the same, and their fixes show what that allows. Pure.

A DENY is no grant: who removes one allows all that ALLOWs, or the default, then grant. The state
without the DENYs of a finding is compared with the state of today, for every name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Final, NamedTuple

from aclkit.audit.findings.audit_input import AuditInput
from aclkit.audit.findings.denies import DENY_LEAVES_DESCRIBE
from aclkit.audit.findings.readings import READS_DIFFERENTLY
from aclkit.model.acl import Acl, quoted, type_words
from aclkit.model.broker_settings import ALLOW_EVERYONE
from aclkit.model.cidr import parse_range
from aclkit.model.findings import Finding
from aclkit.model.semantics import BrokerSettings, Semantics
from aclkit.rules.decide.confirm import Comparison
from aclkit.rules.names.compare import GAINED
from aclkit.rules.names.overlap_index import PrefixIndex
from aclkit.rules.names.question import Budget
from aclkit.rules.names.region import fold
from aclkit.rules.names.rows import Row, Rules, Symbols, may_share, rows_of, start_of_pattern

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
