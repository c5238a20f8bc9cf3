"""ACLs → ``deny-leaves-describe``: which DENYs of READ leave the name and its offsets visible."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from aclkit.audit.facts import AuditInput
from aclkit.audit.shelf import Pattern, Places, Shelf, Texts, common, pattern_of
from aclkit.findings import Finding, Kind
from aclkit.model.acl import Acl
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
    waiting: _Waiting = {}
    for acl in audit.acls:
        if _denies_read_only(acl) and not _is_out_of_sight(acl, audit.shelf):
            of_pattern = waiting.setdefault(pattern_of(acl), {})
            of_pattern.setdefault(acl.principal, {})[acl.acl_id] = acl
    for deny, allow in sorted(_meetings(audit.shelf, waiting), key=lambda m: m[0].acl_id):
        yield DENY_LEAVES_DESCRIBE.about(
            str(deny),
            f"This DENY of READ leaves DESCRIBE, which the ALLOW {allow} gives.",
            acls=(deny, allow),
        )


_Denies = dict[str, dict[str, Acl]]
"""Principal → id → DENY that has met no ALLOW yet."""
_Waiting = dict[Pattern, _Denies]


@dataclass(frozen=True, slots=True)
class _Kin:
    """Texts that contain a principal or host, and those that it contains."""

    shelf: Shelf
    principals: tuple[Mapping[str, Texts], Mapping[str, Texts]]
    hosts: tuple[Mapping[str, Texts], Mapping[str, Texts]]

    @classmethod
    def of(cls, shelf: Shelf) -> _Kin:
        return cls(
            shelf,
            (shelf.principals, _narrower(shelf.principals)),
            (shelf.hosts, _narrower(shelf.hosts)),
        )


def _narrower(wider: Mapping[str, Texts]) -> Mapping[str, Texts]:
    """Turn "contained in" round; a text is not among its own."""
    found: defaultdict[str, Texts] = defaultdict(dict)
    for text, others in wider.items():
        for other in others:
            if other != text:
                found[other][text] = None
    return found


def _denies_read_only(acl: Acl) -> bool:
    return not acl.is_allow and acl.operation == "READ" and acl.resource_type in _TYPES


def _is_out_of_sight(acl: Acl, shelf: Shelf) -> bool:
    """Say whether a DENY takes DESCRIBE away wherever an ACL answers."""
    return any(_covers_describe(other) for other in shelf.containing(acl, allows=False))


def _covers_describe(acl: Acl) -> bool:
    return coverage(acl.operation, acl.permission_type, "DESCRIBE") is not None


def _meetings(shelf: Shelf, waiting: _Waiting) -> Iterator[tuple[Acl, Acl]]:
    """Yield each DENY with the first ALLOW found that meets it; a DENY that has one is done."""
    kin = _Kin.of(shelf)
    for pattern, denies in waiting.items():
        for wider in shelf.patterns[pattern]:
            yield from _met(denies, shelf.places.get((True, wider), {}), kin)
    for (allows, pattern), places in shelf.places.items():
        if allows:
            for wider in shelf.patterns[pattern]:
                yield from _met(waiting.get(wider, {}), places, kin)


def _met(denies: _Denies, places: Places, kin: _Kin) -> Iterator[tuple[Acl, Acl]]:
    """Yield the DENYs that an ALLOW of these places meets, and strike them off."""
    for denied, allowed in list(_pairs(denies, places, kin)):
        for acl_id, deny in list(denies[denied].items()):
            allow = _first_meeting(deny, places[allowed], kin)
            if allow is not None:
                del denies[denied][acl_id]
                yield deny, allow


def _pairs(denies: _Denies, places: Places, kin: _Kin) -> Iterator[tuple[str, str]]:
    """Yield the principals of both sides that meet; only the smaller side is gone through."""
    if len(denies) <= len(places):
        for denied, rows in denies.items():
            if rows:
                yield from ((denied, allowed) for allowed in _meeting(denied, places, kin))
    else:
        for allowed in places:
            yield from ((denied, allowed) for denied in _meeting(allowed, denies, kin))


def _meeting(principal: str, present: Mapping[str, object], kin: _Kin) -> Iterator[str]:
    wider, narrower = kin.principals
    yield from common(wider[principal], present)
    yield from common(narrower.get(principal, {}), present)


def _first_meeting(deny: Acl, hosts: Mapping[str, Mapping[str, Acl]], kin: _Kin) -> Acl | None:
    """Return the first ALLOW of DESCRIBE whose host meets that of a DENY."""
    wider, narrower = kin.hosts
    for texts in (wider[deny.host], narrower.get(deny.host, {})):
        for host in common(texts, hosts):
            for allow in hosts[host].values():
                if _covers_describe(allow) and not _is_out_of_sight(
                    _shared(deny, allow, kin.shelf), kin.shelf
                ):
                    return allow
    return None


def _shared(deny: Acl, allow: Acl, shelf: Shelf) -> Acl:
    """Return what two ACLs that meet share: of both patterns, principals and hosts the narrower."""
    narrow = allow if pattern_of(deny) in shelf.patterns[pattern_of(allow)] else deny
    return replace(
        deny,
        pattern_type=narrow.pattern_type,
        resource_name=narrow.resource_name,
        principal=_narrow(deny.principal, allow.principal, shelf.principals),
        host=_narrow(deny.host, allow.host, shelf.hosts),
    )


def _narrow(denied: str, allowed: str, wider: Mapping[str, Texts]) -> str:
    return allowed if denied in wider[allowed] else denied
