"""One finding: what is wrong, how severe it is, which ACLs cause it, and how to fix it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from aclkit.model.acl import Acl
from aclkit.model.values import dataclass

SEVERITIES: Final = ("high", "medium", "low", "info")

NEVER: Final = "never"
"""In the place of a severity: no finding is that severe."""

EVERY_NAME: Final = "every-name"
INVENTORY: Final = "inventory"
"""What a finding holds for: whatever names there are, or what the run asked about."""

DRIFT: Final = ("unmanaged-acl", "missing-acl", "desired-unreadable")
"""Kinds about the files in which a team keeps its ACLs: they hold for the run that read these."""

ENDS: Final = ("grant-ended", "grant-ends-soon", "lease-without-acl")
"""Kinds about the ends that people wrote for ACLs: they hold for the day of the run."""

OF_THE_NIGHT: Final = (*DRIFT, "changed-by-hand", *ENDS)
"""Kinds that depend on files of the newest nightly run; earlier findings of them do not count."""

MOST_EVIDENCE: Final = 10
"""How many lines of evidence are kept; one more line counts the rest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something a person should look at.

    Attributes:
        finding: which kind, in kebab case.
        severity: one of ``SEVERITIES``.
        subject: what it is about: an ACL as Kafka writes it, a resource, a range of offsets.
        message: subject, ACL and consequence, in short sentences.
        fix: what to do about it.
        acl_ids: the ACLs that cause it.
        holds_for: ``EVERY_NAME`` or ``INVENTORY``.
        evidence: what shows it, a line each: the ACLs as kafka-acls prints them, names, offsets.
    """

    finding: str
    severity: str
    subject: str
    message: str
    fix: str
    acl_ids: tuple[str, ...] = ()
    holds_for: str = EVERY_NAME
    evidence: tuple[str, ...] = ()

    @property
    def fingerprint(self) -> str:
        """A name that the same finding has in every run: kind and subject, never an order."""
        return fingerprint_of(self.finding, self.subject)


def fingerprint_of(finding: str, subject: str) -> str:
    """Return the name that a finding of a kind about a subject has in every run."""
    text = f"{finding}\x00{subject}".encode("utf-8", "surrogatepass")
    return hashlib.sha256(text).hexdigest()[:16]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind of finding, in the words that documents and ``aclkit audit --explain`` print.

    Attributes:
        id: its name, in kebab case.
        severity: the worst that a finding of the kind can be, one of ``SEVERITIES``.
        summary: what such findings are about, in the plural: at most 60 characters, which fit into
            a heading next to severity, kind and number; neither capital letter nor full stop.
        depends: in words, which finding is how severe; empty where all are alike.
        meaning: what such a finding means, and why it matters.
        fix: what to do, for all of the kind.
        holds_for: ``EVERY_NAME`` or ``INVENTORY``.
    """

    id: str
    severity: str
    summary: str
    meaning: str
    fix: str
    holds_for: str = EVERY_NAME
    depends: str = ""

    @property
    def severity_words(self) -> str:
        """How bad such a finding is, for people."""
        return self.depends or self.severity

    def about(
        self,
        subject: str | Acl,
        message: str,
        *,
        severity: str | None = None,
        fix: str | None = None,
        acls: Sequence[Acl] = (),
        evidence: Iterable[str] = (),
    ) -> Finding:
        """Make a finding of this kind.

        Args:
            subject: what it is about; an ACL is the first of those that cause it.
            message: subject, ACL and consequence, in short sentences.
            severity: where it is not the kind's only one.
            fix: where it is not the kind's own.
            acls: the (other) ACLs that cause it; they are its first evidence.
            evidence: further lines.
        """
        acls = (subject, *acls) if isinstance(subject, Acl) else acls
        return Finding(
            finding=self.id,
            severity=severity or self.severity,
            subject=str(subject),
            message=message,
            fix=fix or self.fix,
            acl_ids=tuple(acl.acl_id for acl in acls),
            holds_for=self.holds_for,
            evidence=(*bounded(f"ACL {acl.acl_id}: {acl}" for acl in acls), *bounded(evidence)),
        )


def bounded(lines: Iterable[str]) -> list[str]:
    """Keep the first lines, and add a line that counts the rest.

    >>> bounded(map(str, range(12)))[-2:]
    ['9', '… and 2 more']
    """
    rows = list(lines)
    more = len(rows) - MOST_EVIDENCE
    return [*rows[:MOST_EVIDENCE], f"… and {more:,} more"] if more > 0 else rows


def up_to(severity: str) -> tuple[str, ...]:
    """Return a severity and those that are worse; of ``NEVER`` none."""
    return () if severity == NEVER else SEVERITIES[: SEVERITIES.index(severity) + 1]


def merge_same(findings: Iterable[Finding]) -> list[Finding]:
    """Sort findings, and make one of those with one fingerprint.

    They are about ACLs with the same fields under several ids.
    """
    merged: dict[tuple[str, str], Finding] = {}
    for found in sort_findings(findings):
        same = merged.setdefault((found.finding, found.subject), found)
        if same is not found:
            merged[found.finding, found.subject] = replace(
                same,
                acl_ids=tuple(dict.fromkeys((*same.acl_ids, *found.acl_ids))),
                evidence=tuple(dict.fromkeys((*same.evidence, *found.evidence))),
            )
    return list(merged.values())


def sort_findings(findings: Iterable[Finding]) -> list[Finding]:
    """Sort the worst first, then by kind and subject."""
    return sorted(set(findings), key=_order)


def _order(finding: Finding) -> tuple[int, str, str, tuple[str, ...]]:
    severity = SEVERITIES.index(finding.severity)
    return severity, finding.finding, finding.subject, finding.acl_ids


LOG_DIVERGED: Final = Kind(
    id="log-diverged",
    severity="medium",
    summary="log offsets that another leader overwrote",
    meaning=(
        "aclkit read some offsets with a leader epoch that another copy or a snapshot rules out. "
        "The records read with it were never committed, so aclkit does not use them."
    ),
    fix="When you copy the log from a follower, pass --high-watermark.",
)
SNAPSHOT_CONTRADICTS_LOG: Final = Kind(
    id="snapshot-contradicts-log",
    severity="high",
    summary="snapshots that contradict the log",
    meaning=(
        "A snapshot and the complete log before it disagree on the ACLs at the snapshot's end "
        "offset. aclkit uses the log."
    ),
    fix="Compare the snapshots of all controllers at this offset. One of them is wrong.",
)
AUTHORIZER_LOG_MISMATCH: Final = Kind(
    id="authorizer-log-mismatch",
    severity="high",
    summary="broker decisions that contradict the ACLs",
    meaning=(
        "Kafka's authorizer log contains a decision that the ACLs and settings of that moment do "
        "not imply. Or the log names another rule. aclkit usage finds such lines."
    ),
    fix=(
        "Check that the log was replayed up to that time and belongs to this cluster. Check that "
        "super.users and allow.everyone.if.no.acl.found match the brokers. If all of them do, a "
        "broker uses other ACLs than those in the log."
    ),
)
UNUSED_GRANT: Final = Kind(
    id="unused-grant",
    severity="low",
    summary="ALLOW ACLs that no client uses",
    meaning=(
        "No line of the authorizer log names the ALLOW, or is about a request that it would also "
        "have allowed. The log is whole: it has the days of the window, all brokers at DEBUG, and "
        "every line. Of access that only controllers check it has the controllers' lines too. If "
        "any of this is missing, aclkit usage names it, and no ACL counts as unused."
    ),
    fix=(
        "Ask the owner, then remove the ACL if no client needs it. aclkit preview remove-acl shows "
        "who would lose access."
    ),
)
REFUSED_ACCESS: Final = Kind(
    id="refused-access",
    severity="low",
    summary="clients that brokers refuse again and again",
    meaning=(
        "Brokers refuse the client this access again and again, and the ACLs still do not allow "
        "it. The client may be configured wrongly, lack an ACL, or probe. aclkit usage finds such "
        "accesses; lines that only leave something out of an answer do not count."
    ),
    fix=(
        "aclkit denials shows since when, whether an ACL once allowed it, and the smallest ACL "
        "that would. Add that ACL, or stop the client."
    ),
)
