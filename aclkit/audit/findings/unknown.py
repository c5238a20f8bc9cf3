"""What the search limit left open → notes, and the earlier findings that stay for it. Pure.

What is unknown makes no finding and clears none. Where it is not known whether something is left of
an ALLOW, the finders are asked for both: what only one of the two finds is unknown. A finding that
was in force before and is unknown now stays in force, as it was found then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from aclkit.audit.findings.audit_input import AuditInput
from aclkit.audit.findings.denies import ALLOW_OVERRIDDEN
from aclkit.audit.findings.ranges import BROKERS_DISAGREE, SLEEPING_RANGE, SUBJECT
from aclkit.audit.findings.redundant import (
    ALLOW_SHADOWED,
    DENY_SHADOWED,
    REDUNDANT_ACL,
    hardest,
    removables_of,
)
from aclkit.audit.findings.sentences import subject_words
from aclkit.model.acl import Acl, acl_words
from aclkit.model.brokers import DIFFER
from aclkit.model.findings import Finding, Kind, bounded, fingerprint_of, sort_findings
from aclkit.model.phrases import few

_BEGINNING: Final = "Unknown, because the search limit was reached: "
_OLD_BEGINNING: Final = "unknown, for the budget of states ended: "
"""What the notes of older runs begin with."""


class Unknown(NamedTuple):
    """A finding that can be neither made nor cleared.

    Attributes:
        finding: its kind.
        subject: what it would be about.
        words: the same for people.
        hard: ACLs that make it hard, the hardest first.
    """

    finding: str
    subject: str
    words: str
    hard: tuple[Acl, ...]

    @classmethod
    def of(cls, kind: Kind, acl: Acl, hard: Iterable[Acl]) -> Unknown:
        """Make one about an ACL."""
        return cls(kind.id, str(acl), acl_words(acl), tuple(hardest(hard)))

    @property
    def fingerprint(self) -> str:
        """That of the finding."""
        return fingerprint_of(self.finding, self.subject)


def find_unknown(
    audit: AuditInput, found: Sequence[Finding], find: Callable[[AuditInput], Sequence[Finding]]
) -> list[Unknown]:
    """Return what is unknown, by kind and subject.

    Args:
        audit: what was audited.
        found: the findings.
        find: finds them.
    """
    unknown = [*_of_removable(audit), *_of_overridden(audit), *_of_ranges(audit)]
    if audit.budget.ended:
        supposed, rows = find(audit.supposing()), audit.rows
        both = {each.fingerprint for each in found} & {each.fingerprint for each in supposed}
        unknown += (
            Unknown(
                each.finding,
                each.subject,
                subject_words(each.subject, (rows[i].acl for i in each.acl_ids if i in rows)),
                _hard(audit, each.acl_ids),
            )
            for each in sort_findings([*found, *supposed])
            if each.fingerprint not in both
        )
    by_name = {each[:2]: each for each in reversed(unknown)}
    return [by_name[name] for name in sorted(by_name)]


def notes_on(unknown: Sequence[Unknown]) -> list[str]:
    """Write what is unknown as notes of a run."""
    return bounded(f"{_BEGINNING}{each.finding} of {each.words}.{_why(each)}" for each in unknown)


def those_on_unknown(notes: Iterable[str]) -> Iterator[str]:
    """Yield the notes on what is unknown."""
    return (note for note in notes if note.startswith((_BEGINNING, _OLD_BEGINNING)))


def staying(unknown: Iterable[Unknown], before: Iterable[Finding]) -> list[Finding]:
    """Return the earlier findings that cannot be cleared."""
    open_now = {each.fingerprint for each in unknown}
    return [each for each in before if each.fingerprint in open_now]


def _of_removable(audit: AuditInput) -> Iterator[Unknown]:
    for acl_id, hard in removables_of(audit).unknown.items():
        acl = audit.rows[acl_id].acl
        for kind in (REDUNDANT_ACL, ALLOW_SHADOWED if acl.is_allow else DENY_SHADOWED):
            yield Unknown.of(kind, acl, {acl, *hard})


def _of_overridden(audit: AuditInput) -> Iterator[Unknown]:
    for acl_id, left in audit.leftovers.items():
        if left.unknown and not left.given:
            acl = audit.rows[acl_id].acl
            yield Unknown.of(ALLOW_OVERRIDDEN, acl, {acl, *(each.acl for each in left.hard)})


def _of_ranges(audit: AuditInput) -> Iterator[Unknown]:
    for each in audit.rereads:
        if not (each.changes or each.is_known):
            yield Unknown.of(SLEEPING_RANGE, each.acl, (each.acl,))
    if audit.by_ranges is not None and audit.ranges.state == DIFFER:
        difference = audit.by_ranges.difference
        if not (difference.changes or difference.is_known):
            hard = hardest(each.acl for each in audit.rereads)
            yield Unknown(BROKERS_DISAGREE.id, SUBJECT, "the cluster", tuple(hard))


def _hard(audit: AuditInput, acl_ids: Iterable[str]) -> tuple[Acl, ...]:
    left = (audit.leftovers[each] for each in acl_ids if each in audit.leftovers)
    return tuple(hardest({row.acl for each in left for row in each.hard}))


def _why(unknown: Unknown) -> str:
    names = few(dict.fromkeys(map(acl_words, unknown.hard)))
    return f" Hard to decide: {names}." if names else ""
