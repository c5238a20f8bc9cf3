"""Advice about ACLs as values: what shall go and come, and what only a person can decide. Pure.

Every source of advice makes these: findings, tidy, and what a log of requests shows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from aclkit.model.acl import Acl
from aclkit.model.findings import SEVERITIES
from aclkit.questions.usage.whole_log import Missing

TIDY: Final = "tidy"
NARROW: Final = "narrow"
"""Kinds of advice that are no findings: what others make redundant, and what was not used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """ACLs that shall go, and those that shall come in their place.

    Attributes:
        step_id: hexadecimal; the same advice has it in every run.
        kind: the kind of the finding, or another source of advice.
        severity: one of ``SEVERITIES``.
        subject: what it is about.
        reason: why, in one or two sentences.
        remove: the ACLs that shall go.
        add: ALLOWs that shall come before these go: what the advice leaves of them.
        revokes: the access that only the ACLs to remove give is meant to go. Otherwise no decision
            may change.
        by: the ACLs that decide in place of those to remove, where they are known.
        hides: it is no loss to anybody if the advice cannot be followed, and it is not mentioned.
    """

    step_id: str
    kind: str
    severity: str
    subject: str
    reason: str
    remove: tuple[Acl, ...]
    add: tuple[Acl, ...] = ()
    revokes: bool = False
    by: tuple[Acl, ...] = ()
    hides: bool = False

    @property
    def order(self) -> tuple[object, ...]:
        """Sort findings first, of them what only removes, then the worst, then kind and subject.

        What only removes an ACL goes before what replaces it: its finding names more.
        """
        return (
            self.kind == NARROW,
            bool(self.add),
            SEVERITIES.index(self.severity),
            self.kind,
            self.subject,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ForPerson:
    """A finding that no change of ACLs ends, or of which a person must choose one.

    Attributes:
        step_id: the fingerprint of the finding.
        kind: of the finding.
        severity: one of ``SEVERITIES``.
        subject: what it is about.
        message: the finding in words.
        why: what a person must know or decide.
        acls: the ACLs that cause it.
        holds: no other advice may remove them until it is decided.
        used_by: who used what of them, and when last.
        add_first: ACLs that these need before the others go.
        missing: what is missing before it is known whether they are used.
    """

    step_id: str
    kind: str
    severity: str
    subject: str
    message: str
    why: str
    acls: tuple[Acl, ...] = ()
    holds: bool = False
    used_by: tuple[str, ...] = ()
    add_first: tuple[Acl, ...] = ()
    missing: tuple[Missing, ...] = ()


Advice = Proposal | ForPerson
