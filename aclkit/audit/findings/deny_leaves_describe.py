"""ACLs → ``deny-leaves-describe``: which DENYs of READ leave the name and its offsets visible."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Final

from aclkit.audit.findings.facts import AuditInput
from aclkit.audit.findings.others import Starts, View
from aclkit.model.acl import Acl, Request
from aclkit.model.findings import Finding, Kind
from aclkit.rules.names.rows import Row
from aclkit.rules.names.symbols import Symbols

DENY_LEAVES_DESCRIBE: Final = Kind(
    id="deny-leaves-describe",
    severity="low",
    meaning=(
        "A DENY implies nothing: an ALLOW of READ also gives DESCRIBE, but a DENY of READ takes "
        "READ away and nothing else. What still gives DESCRIBE, an ALLOW of READ included, leaves "
        "the topic or group in listings, with its partitions, offsets and lag."
    ),
    fix=(
        "If the resource is to be out of sight, add a DENY of DESCRIBE, or of ALL, with the same "
        "pattern, principal and host; or narrow the ALLOW that is named."
    ),
)

_TYPES: Final = ("TOPIC", "GROUP")
_FEW: Final = 50
"""Up to so many principals and hosts are gone through one by one."""
_Key = tuple[str, Symbols | None, Symbols]
"""Resource type, principal, host."""


def find_deny_leaves_describe(audit: AuditInput) -> Iterator[Finding]:
    """Yield each DENY of READ on which some ALLOW still gives DESCRIBE, with one such ALLOW."""
    search = _Search.of(audit)
    for row in audit.others.rows.values():
        shown = search.shown(row) if _denies_read_only(row.acl) else None
        if shown is not None:
            allow, request = shown
            yield DENY_LEAVES_DESCRIBE.about(
                str(row.acl),
                f"This DENY of READ leaves DESCRIBE, which the ALLOW {allow.acl} gives"
                f"{audit.show([request])}.",
                acls=(row.acl, allow.acl),
            )


def _denies_read_only(acl: Acl) -> bool:
    return not acl.is_allow and acl.operation == "READ" and acl.resource_type in _TYPES


@dataclass(frozen=True, slots=True)
class _Search:
    """Where the ALLOWs are that a DENY may meet.

    Attributes:
        at: type, principal and host → the ALLOWs of DESCRIBE there.
        everywhere: type → all of them.
    """

    audit: AuditInput
    at: Mapping[_Key, Starts]
    everywhere: Mapping[str, Starts]

    @classmethod
    def of(cls, audit: AuditInput) -> _Search:
        at: defaultdict[_Key, Starts] = defaultdict(Starts)
        everywhere: defaultdict[str, Starts] = defaultdict(Starts)
        for row in audit.others.rows.values():
            if audit.gives(row.acl, "DESCRIBE"):
                start = audit.others.start_of(row)
                at[row.acl.resource_type, row.principal, row.host].add(start, row)
                everywhere[row.acl.resource_type].add(start, row)
        return cls(audit, at, everywhere)

    def shown(self, deny: Row) -> tuple[Row, Request | None] | None:
        """Return an ALLOW that gives DESCRIBE where a DENY answers, and the shortest request.

        Where that is but supposed, there is no request.
        """
        if self._left((deny,)) is None:
            return None
        left = ((allow, self._left((deny, allow))) for allow in self._meeting(deny))
        return next(((allow, found[0]) for allow, found in left if found), None)

    def _left(self, rows: tuple[Row, ...]) -> tuple[Request | None] | None:
        """Return the shortest request of DESCRIBE left of what ACLs all answer."""
        classes, is_known = self.audit.others.who(*rows)
        for who in classes:
            view = View(self.audit.others, rows, who)
            left = view.left("DESCRIBE")
            if left.name is not None:
                return (view.request("DESCRIBE", left.name),)
            is_known &= left.is_known
        return (None,) if self.audit.supposed and not is_known else None

    def _meeting(self, deny: Row) -> Iterator[Row]:
        """Yield the ALLOWs that can share a request with a DENY, found by what is rarer."""
        others, kind = self.audit.others, deny.acl.resource_type
        start, principal = others.start_of(deny), deny.principal or ()
        principals, hosts = (
            others.principals[kind].meeting(principal),
            others.hosts[kind].meeting(deny.host),
        )
        if len(principals) * len(hosts) <= _FEW:
            for key in product((kind,), principals, hosts):
                if key in self.at:
                    yield from self.at[key].near(start)
        elif kind in self.everywhere:
            wanted = set(principals), set(hosts)
            for row in self.everywhere[kind].near(start):
                if row.principal in wanted[0] and row.host in wanted[1]:
                    yield row
