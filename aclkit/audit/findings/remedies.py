"""A finding and its ACLs → what its remedy does to ACLs, or why a person must decide. Pure.

Derived from the kind, the subject and the ACLs of a finding; its sentences are for people. A remedy
never opens anything. So what has to be added first, because it grants new access, is for a person.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final, NamedTuple

from aclkit.audit.findings import (
    by_hand,
    denies,
    drift,
    leases,
    left_over,
    never_matches,
    public_access,
    ranges,
    readings,
    redundant,
    required_pairs,
    rights,
    too_much,
)
from aclkit.audit.findings.escalation import ESCALATION, powers_on
from aclkit.model import findings
from aclkit.model.acl import Acl
from aclkit.model.findings import Finding, Kind
from aclkit.questions.remedy.change_set import Advice, ForPerson, Proposal
from aclkit.rules.names.rows import operations_of

_REVOKED: Final = frozenset(kind.id for kind in (
    public_access.PUBLIC_ACCESS, ESCALATION, left_over.INHERITED_ACCESS, left_over.ORPHAN_RESOURCE,
    left_over.ORPHAN_PRINCIPAL, never_matches.UNUSUAL_PRINCIPAL, findings.UNUSED_GRANT,
    leases.GRANT_ENDED,
))  # fmt: skip
"""Kinds whose remedy takes the access away that they are about."""

_WITHOUT_EFFECT: Final = frozenset(kind.id for kind in (
    denies.ALLOW_OVERRIDDEN, redundant.REDUNDANT_ACL, redundant.ALLOW_SHADOWED,
    redundant.DENY_SHADOWED, never_matches.NEVER_MATCHES, never_matches.MALFORMED_RANGE,
))  # fmt: skip
"""Kinds whose remedy changes no decision."""


class Decision(NamedTuple):
    """What a person must know or decide about a kind of finding.

    Attributes:
        why: in a sentence.
        holds: its ACLs stay until it is decided, although they have no effect today.
    """

    why: str
    holds: bool = False


_INTENDED: Final = Decision("Only a person knows which ACL was intended in its place.", holds=True)
_READ: Final = Decision("Its effect depends on how brokers read it.", holds=True)
_NO_ACL: Final = Decision("No change of ACLs ends it.")
_OPENS: Final = Decision("Its remedy grants access.")
_COPIES: Final = Decision("kafka-acls cannot remove only one copy.", holds=True)
_FILES: Final = Decision("Only a person knows whether the cluster or the files are right.")

_DECISIONS: Final[Mapping[Kind, Decision]] = {
    public_access.ANY_HOST: Decision("The addresses of its clients are not known here."),
    too_much.OVER_BROAD: Decision("The topics that the principal needs are not known here."),
    too_much.OPEN_TO_EVERYONE: Decision("The clients that need the resource are not known here."),
    ranges.BROKERS_DISAGREE: _READ,
    ranges.SLEEPING_RANGE: _READ,
    never_matches.GLOB_LOOKALIKE: _INTENDED,
    denies.DENY_LEAVES_DESCRIBE: Decision("Producers need DESCRIBE, so a DENY can stop them."),
    required_pairs.READ_WITHOUT_GROUP: Decision("Either a group is missing, or READ is left over."),
    required_pairs.TRANSACTIONAL_WITHOUT_WRITE: Decision(
        "Either a topic is missing, or the transactional id is left over."
    ),
    readings.READING_CHANGED: _NO_ACL,
    readings.READS_DIFFERENTLY: _READ,
    readings.DUPLICATE_ACL: _COPIES,
    readings.UNKNOWN_CODE: _INTENDED,
    findings.REFUSED_ACCESS: _OPENS,
    findings.AUTHORIZER_LOG_MISMATCH: _NO_ACL,
    findings.SNAPSHOT_CONTRADICTS_LOG: _NO_ACL,
    readings.BROKER_SETTINGS_DIFFER: _NO_ACL,
    readings.SUPER_USERS_UNKNOWN: _NO_ACL,
    findings.LOG_DIVERGED: _NO_ACL,
    drift.UNMANAGED_ACL: _FILES,
    drift.MISSING_ACL: _OPENS,
    drift.DESIRED_UNREADABLE: _NO_ACL,
    leases.GRANT_ENDS_SOON: Decision("Its end has not come yet."),
    leases.LEASE_WITHOUT_ACL: _NO_ACL,
    rights.MISSING_RIGHT: _OPENS,
    by_hand.CHANGED_BY_HAND: Decision("Only a person knows whether the change was right."),
}
_BY_KIND: Final = {kind.id: decision for kind, decision in _DECISIONS.items()}
_PROTECTS: Final = frozenset(kind.id for kind in (
    never_matches.NEVER_MATCHES, never_matches.MALFORMED_RANGE, never_matches.UNUSUAL_PRINCIPAL,
))  # fmt: skip
"""Kinds of which a DENY was meant to protect something, and does not."""


def advice_of(finding: Finding, acls: Mapping[str, Acl]) -> Advice:
    """Return what the remedy of a finding does to ACLs, or why a person must decide.

    Args:
        finding: the finding.
        acls: the ACLs in force, by id.
    """
    own = _own(finding, acls)
    decision = _decision(finding, own)
    if decision is not None:
        return ForPerson(
            step_id=finding.fingerprint,
            kind=finding.finding,
            severity=finding.severity,
            subject=finding.subject,
            message=finding.message,
            why=decision.why,
            acls=own or tuple(acls[each] for each in finding.acl_ids if each in acls),
            holds=decision.holds,
        )
    named = {acl.acl_id for acl in own}
    return Proposal(
        step_id=finding.fingerprint,
        kind=finding.finding,
        severity=finding.severity,
        subject=finding.subject,
        reason=finding.message,
        remove=own,
        add=tuple(_harmless(own, finding)) if finding.finding == ESCALATION.id else (),
        revokes=finding.finding in _REVOKED,
        by=tuple(acls[each] for each in finding.acl_ids if each in acls and each not in named),
    )


def _own(finding: Finding, acls: Mapping[str, Acl]) -> tuple[Acl, ...]:
    """Return the ACLs that a finding is about: others are those that cover or override them."""
    listed = [acls[each] for each in finding.acl_ids if each in acls]
    if finding.finding == left_over.ORPHAN_PRINCIPAL.id:
        return tuple(listed)
    return tuple(acl for acl in listed if str(acl) == finding.subject)


def _decision(finding: Finding, own: tuple[Acl, ...]) -> Decision | None:
    """Return what a person must decide; None where the remedy is known."""
    kind = finding.finding
    if kind not in _REVOKED | _WITHOUT_EFFECT:
        return _BY_KIND[kind]
    if not own:
        is_setting = finding.subject == public_access.ANONYMOUS
        return _NO_ACL if is_setting else Decision("No ACL of it is in force any more.")
    if len({acl.binding for acl in own}) < len(own):
        return _COPIES
    if kind == left_over.ORPHAN_PRINCIPAL.id and finding.severity == "info":
        return Decision("The principal may authenticate with TLS, Kerberos or OAuth.")
    if kind in _PROTECTS and not all(acl.is_allow for acl in own):
        return Decision("Only a person knows what the DENY was meant to protect.", holds=True)
    return None


def _harmless(own: tuple[Acl, ...], finding: Finding) -> Iterator[Acl]:
    """Yield ALLOWs of what ALLOWs grant in addition to the access that lets somebody gain more."""
    for acl in own:
        for operation in sorted(operations_of(acl) - powers_on(acl.resource_type)):
            acl_id = f"{finding.fingerprint}-{operation}"
            yield replace(acl, acl_id=acl_id, operation=operation)
