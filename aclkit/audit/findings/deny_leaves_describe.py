"""ACLs → ``deny-leaves-describe``: which DENYs of READ leave the name and its offsets visible."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from aclkit.audit.findings.containment import (
    ContainmentIndex,
    OrderedTexts,
    PatternKey,
    common,
    pattern_of,
)
from aclkit.audit.findings.facts import AuditInput
from aclkit.audit.findings.never_matches import can_match
from aclkit.model.acl import Acl
from aclkit.model.findings import Finding, Kind
from aclkit.model.operation import coverage

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


def find_deny_leaves_describe(audit: AuditInput) -> Iterator[Finding]:
    """Yield each DENY of READ on which some ALLOW still gives DESCRIBE, with one such ALLOW.

    The two meet where their patterns, principals and hosts do, each either way round: of two that
    have no globs one contains the other or they share nothing.
    """
    denies = [
        acl
        for acl in sorted(audit.acls, key=lambda acl: acl.acl_id)
        if _denies_read_only(acl, audit) and not _is_out_of_sight(acl, audit.containment)
    ]
    search = _Search.of(audit, {pattern_of(deny) for deny in denies})
    for deny in denies:
        allow = search.first_leaving_describe(deny)
        if allow is not None:
            yield DENY_LEAVES_DESCRIBE.about(
                str(deny),
                f"This DENY of READ leaves DESCRIBE, which the ALLOW {allow} gives.",
                acls=(deny, allow),
            )


def _denies_read_only(acl: Acl, audit: AuditInput) -> bool:
    is_deny_of_read = not acl.is_allow and acl.operation == "READ" and acl.resource_type in _TYPES
    return is_deny_of_read and can_match(acl, audit.semantics)


def _is_out_of_sight(acl: Acl, containment: ContainmentIndex) -> bool:
    """Whether a DENY takes DESCRIBE away wherever an ACL answers."""
    return any(
        coverage(other.operation, other.permission_type, "DESCRIBE") is not None
        for other in containment.containing(acl, allows=False)
    )


_Nested = dict[str, dict[str, list[Acl]]]


@dataclass(frozen=True, slots=True)
class _Pool:
    """ALLOWs of DESCRIBE by principal and host, and by host and principal."""

    by_principal: _Nested = field(default_factory=dict)
    by_host: _Nested = field(default_factory=dict)

    def add(self, acl: Acl) -> None:
        self.by_principal.setdefault(acl.principal, {}).setdefault(acl.host, []).append(acl)
        self.by_host.setdefault(acl.host, {}).setdefault(acl.principal, []).append(acl)


@dataclass(frozen=True, slots=True)
class _Kin:
    """The texts that contain a principal or host, itself included, and those that it contains."""

    wider: Mapping[str, OrderedTexts]
    narrower: Mapping[str, OrderedTexts]

    @classmethod
    def of(cls, wider: Mapping[str, OrderedTexts]) -> _Kin:
        narrower: defaultdict[str, OrderedTexts] = defaultdict(dict)
        for text, others in wider.items():
            for other in others:
                if other != text:
                    narrower[other][text] = None
        return cls(wider, narrower)

    def meeting(self, text: str, present: Mapping[str, object]) -> Iterator[str]:
        """Yield those present that share something with a text."""
        yield from common(self.wider[text], present)
        yield from common(self.narrower.get(text, {}), present)

    def count(self, text: str) -> int:
        return len(self.wider[text]) + len(self.narrower.get(text, ()))


@dataclass(frozen=True, slots=True)
class _Search:
    """Where the ALLOWs are that a DENY may meet.

    Attributes:
        at: resource pattern → the ALLOWs on that very pattern.
        within: resource pattern of a DENY → the ALLOWs on narrower patterns.
    """

    containment: ContainmentIndex
    principals: _Kin
    hosts: _Kin
    at: Mapping[PatternKey, _Pool]
    within: Mapping[PatternKey, _Pool]

    @classmethod
    def of(cls, audit: AuditInput, denied: Collection[PatternKey]) -> _Search:
        at: defaultdict[PatternKey, _Pool] = defaultdict(_Pool)
        within: defaultdict[PatternKey, _Pool] = defaultdict(_Pool)
        containment = audit.containment
        for allow in sorted(audit.allows, key=lambda acl: acl.acl_id):
            if audit.gives(allow, "DESCRIBE"):
                pattern = pattern_of(allow)
                at[pattern].add(allow)
                for wider in containment.patterns[pattern]:
                    if wider != pattern and wider in denied:
                        within[wider].add(allow)
        return cls(
            containment, _Kin.of(containment.principals), _Kin.of(containment.hosts), at, within
        )

    def first_leaving_describe(self, deny: Acl) -> Acl | None:
        """Return the first ALLOW found that gives DESCRIBE where a DENY answers."""
        pattern = pattern_of(deny)
        pools = [self.at.get(wider) for wider in self.containment.patterns[pattern]]
        for pool in (*pools, self.within.get(pattern)):
            for allow in self._meeting(deny, pool) if pool is not None else ():
                if not _is_out_of_sight(self._shared(deny, allow), self.containment):
                    return allow
        return None

    def _meeting(self, deny: Acl, pool: _Pool) -> Iterator[Acl]:
        """Yield the ALLOWs whose principal and host meet the DENY's; the rarer goes first."""
        first, second = (deny.principal, self.principals), (deny.host, self.hosts)
        nested = pool.by_principal
        if self.principals.count(deny.principal) > self.hosts.count(deny.host):
            first, second, nested = second, first, pool.by_host
        for outer in first[1].meeting(first[0], nested):
            for inner in second[1].meeting(second[0], nested[outer]):
                yield from nested[outer][inner]

    def _shared(self, deny: Acl, allow: Acl) -> Acl:
        """Return what two ACLs that meet share: of each part the narrower."""
        narrow = allow if pattern_of(deny) in self.containment.patterns[pattern_of(allow)] else deny
        return replace(
            deny,
            pattern_type=narrow.pattern_type,
            resource_name=narrow.resource_name,
            principal=_narrow(deny.principal, allow.principal, self.containment.principals),
            host=_narrow(deny.host, allow.host, self.containment.hosts),
        )


def _narrow(denied: str, allowed: str, wider: Mapping[str, OrderedTexts]) -> str:
    return allowed if denied in wider[allowed] else denied
