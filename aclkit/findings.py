"""One finding: what is wrong, how bad it is, which ACLs are behind it, and how to mend it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

SEVERITIES: Final = ("high", "medium", "low", "info")


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something a person should look at.

    Attributes:
        finding: which kind, in kebab case.
        severity: one of ``SEVERITIES``.
        subject: what it is about: an ACL as Kafka writes it, a resource, a range of offsets.
        message: one plain sentence.
        fix: what to do about it.
        acl_ids: the ACLs behind it.
    """

    finding: str
    severity: str
    subject: str
    message: str
    fix: str
    acl_ids: tuple[str, ...] = ()

    @property
    def fingerprint(self) -> str:
        """A name that the same finding has in every run: kind and subject, never an order."""
        text = f"{self.finding}\x00{self.subject}".encode("utf-8", "surrogatepass")
        return hashlib.sha256(text).hexdigest()[:16]


def sort_findings(findings: Iterable[Finding]) -> list[Finding]:
    """Sort the worst first, then by kind and subject."""
    return sorted(set(findings), key=lambda f: (SEVERITIES.index(f.severity), f.finding, f.subject))
