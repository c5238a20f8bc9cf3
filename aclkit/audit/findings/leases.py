"""ACLs in force × the ends that people wrote for them → grants that end soon, or should have.

An end stands in a file of desired state, next to its ACL, or in a file of leases, which selects
ACLs by their fields. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final

from aclkit.errors import UsageError
from aclkit.kafka.acls.command import kafka_acls_command
from aclkit.kafka.desired.model import DesiredAcl
from aclkit.model.acl import BINDING, Acl, acl_words
from aclkit.model.findings import Finding, Kind
from aclkit.model.groups import grouped
from aclkit.model.moment import parse_until, until_words
from aclkit.questions.query.lifetimes import AclEnd
from aclkit.runtime.notation import parse_tables, refuse_unknown, require_texts

NOTICE: Final = timedelta(days=14)
"""So long before its end a grant is a finding, unless told otherwise."""

GRANT_ENDED: Final = Kind(
    id="grant-ended",
    severity="high",
    summary="ACLs in force whose end is over",
    meaning=(
        "A file of leases, an annotation of a KafkaUser or a CSV holds until when the ALLOW is "
        "needed. That time is over, and the ALLOW is still in force. Kafka itself knows no end of "
        "an ACL. A DENY is no grant, so no end applies to it."
    ),
    fix="Remove the ACL. If it is still needed, have its owner agree to a later end.",
)
GRANT_ENDS_SOON: Final = Kind(
    id="grant-ends-soon",
    severity="info",
    summary="ACLs whose end is near",
    meaning=(
        "Somebody wrote until when the ACL is needed, and that time is near (--lease-notice). "
        "Kafka does not remove it by itself: after that time the ACL is the finding grant-ended."
    ),
    fix="Ask the owner. Extend the end, or plan the removal of the ACL.",
)
LEASE_WITHOUT_ACL: Final = Kind(
    id="lease-without-acl",
    severity="low",
    summary="leases that no ALLOW in force fits",
    meaning=(
        "A lease whose end is still to come fits no ALLOW in force; it never fits a DENY. If it "
        "has a mistake, the ALLOW that it is meant for has no end."
    ),
    fix="Compare its fields with aclkit acls list. Remove the lease if the ACL is gone.",
)

_ALLOW: Final = "ALLOW"
_KEYS: Final = (*BINDING, "until", "owner", "reason")


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """Until when some ACLs are needed.

    Attributes:
        fields: name of a field of ACLs → the exact text that it must have.
        until: when they end, in UTC.
        place: where it stands.
        owner: who answers for it, if that is known.
        reason: why there is an end, if that is known.
        is_of_file: it is one of a file of leases, and no end of one desired ACL.
    """

    fields: Mapping[str, str]
    until: datetime
    place: str
    owner: str | None = None
    reason: str | None = None
    is_of_file: bool = False

    def fits(self, acl: Acl) -> bool:
        """Whether it is about an ACL. A DENY is no grant: without it, more is allowed."""
        return acl.is_allow and all(
            getattr(acl, name) == text for name, text in self.fields.items()
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Leases:
    """All that is known about ends.

    Attributes:
        leases: those of files of leases and of desired state.
        notice: so long before its end a grant is a finding.
    """

    leases: tuple[Lease, ...] = ()
    notice: timedelta = NOTICE

    def with_files(self, acls: Iterable[DesiredAcl]) -> Leases:
        """Return the same with the ends that files of desired state hold."""
        return replace(self, leases=(*self.leases, *leases_of(acls)))

    def with_known(self, acls: Iterable[Acl], known: Mapping[str, AclEnd]) -> Leases:
        """Return the same with the ends that an earlier run read, for files that cannot be read."""
        kept = (
            Lease(
                fields=dict(zip(BINDING, acl.binding, strict=True)),
                until=end.until,
                place=end.place,
                owner=end.owner,
                reason=end.reason,
            )
            for acl in acls
            if (end := known.get(acl.acl_id)) is not None
        )
        return replace(self, leases=(*self.leases, *kept))

    def ends_of(self, acls: Iterable[Acl]) -> dict[str, AclEnd]:
        """Return the id of each ACL that has an end → its end."""
        return {
            acl_id: AclEnd(
                until=lease.until, place=lease.place, owner=lease.owner, reason=lease.reason
            )
            for acl_id, lease in first_ends(acls, self.leases).items()
        }

    def findings(self, acls: Sequence[Acl], now: datetime) -> list[Finding]:
        """Return the grants that are over or will be soon, and leases that fit no ACL."""
        return [*find_ends(acls, self.leases, now, self.notice)]


def leases_of(acls: Iterable[DesiredAcl]) -> list[Lease]:
    """Return the ends that files of desired state hold."""
    return [
        Lease(
            fields=dict(zip(BINDING, each.binding, strict=True)),
            until=each.until,
            place=str(each.place),
        )
        for each in acls
        if each.until is not None
    ]


def first_ends(acls: Iterable[Acl], leases: Sequence[Lease]) -> dict[str, Lease]:
    """Return the id of each ACL that has an end → the lease that counts: of several the first end.

    An earlier end is never undone by a wider lease: to extend a grant, change the lease.
    """
    return {acl.acl_id: _first(fitting) for acl, fitting in _fitting(acls, leases)}


def _first(leases: Iterable[Lease]) -> Lease:
    return min(leases, key=lambda lease: (lease.until, lease.place))


def _fitting(acls: Iterable[Acl], leases: Sequence[Lease]) -> Iterator[tuple[Acl, Sequence[Lease]]]:
    """Yield each ACL that leases fit, with these; a lease is looked up by its principal or name."""
    by_principal = grouped(
        (lease.fields["principal"], lease) for lease in leases if "principal" in lease.fields
    )
    by_name = grouped(
        (lease.fields["resource_name"], lease)
        for lease in leases
        if "principal" not in lease.fields
    )
    for acl in acls:
        about = (*by_principal.get(acl.principal, ()), *by_name.get(acl.resource_name, ()))
        if fitting := [lease for lease in about if lease.fits(acl)]:
            yield acl, fitting


def find_ends(
    acls: Sequence[Acl], leases: Sequence[Lease], now: datetime, notice: timedelta = NOTICE
) -> Iterator[Finding]:
    """Yield each grant that is over, or will be within a time, and leases that fit no ACL.

    Args:
        acls: those in force.
        leases: all that are known.
        now: when the run began.
        notice: how long before its end a grant is a finding.
    """
    used: set[int] = set()
    for acl, fitting in _fitting(acls, leases):
        lease = _first(fitting)
        if lease.until - notice <= now:
            yield _ending(acl, lease, is_over=lease.until <= now)
        used.update(map(id, fitting))
    for lease in leases:
        if lease.is_of_file and now < lease.until and id(lease) not in used:
            words = ", ".join(f"{name} {text}" for name, text in lease.fields.items())
            yield LEASE_WITHOUT_ACL.about(
                words,
                f"No ALLOW in force fits the lease until {until_words(lease.until)}: {words}.",
                evidence=[lease.place],
            )


def _ending(acl: Acl, lease: Lease, *, is_over: bool) -> Finding:
    kind = GRANT_ENDED if is_over else GRANT_ENDS_SOON
    when = until_words(lease.until)
    message = f"{acl_words(acl)} was needed until {when}" if is_over else (
        f"{acl_words(acl)} is needed until {when}"
    )  # fmt: skip
    owner = f" Its owner is {lease.owner}." if lease.owner else ""
    return kind.about(
        str(acl),
        f"{message}.{owner}",
        acls=[acl],
        evidence=_evidence(acl, lease),
    )


def _evidence(acl: Acl, lease: Lease) -> Iterator[str]:
    yield f"end: {lease.place}" + (f" ({lease.reason})" if lease.reason else "")
    if (command := kafka_acls_command(acl, "remove")) is not None:
        yield f"to remove it: {command}"


def parse_leases(text: str, source: str) -> list[Lease]:
    """Read leases: TOML tables ``[[lease]]``.

    Each has ``until``, some fields of ACLs, of which ``principal`` or ``resource_name`` is one,
    and ``owner`` and ``reason`` for people. A field is compared as a text: ``*`` is Kafka's own.

    Raises:
        UsageError: no TOML, an unknown key, or a value that cannot be used.
    """
    return [_lease(table, where) for where, table in parse_tables(text, source, "lease").items()]


def _lease(table: Mapping[str, Any], where: str) -> Lease:
    refuse_unknown(table, _KEYS, where)
    texts = {key: table[key] for key in _KEYS if key in table and key != "until"}
    require_texts(texts, where)
    if "until" not in table:
        raise UsageError(f"{where}: until is missing")
    try:
        until = parse_until(table["until"])
    except ValueError as error:
        raise UsageError(f"{where}: until: {error}, found {str(table['until'])!r}") from None
    if texts.get("permission_type", _ALLOW) != _ALLOW:
        raise UsageError(
            f"{where}: permission_type: expected {_ALLOW}, found {texts['permission_type']!r}. A "
            "DENY is no grant: removing it allows more."
        )
    if "principal" not in texts and "resource_name" not in texts:
        raise UsageError(f"{where}: expected principal, resource_name or both")
    return Lease(
        fields={name: texts[name] for name in BINDING if name in texts},
        until=until,
        place=where,
        owner=texts.get("owner"),
        reason=texts.get("reason"),
        is_of_file=True,
    )
