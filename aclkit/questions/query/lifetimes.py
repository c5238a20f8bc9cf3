"""ACLs → their lives: since when each applies, who added or removed it, and when it ends."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

from aclkit.model.acl import Acl
from aclkit.model.findings import EVERY_NAME, Finding
from aclkit.model.phrases import few
from aclkit.model.resource import Resource
from aclkit.model.semantics import BROKER, Semantics
from aclkit.model.values import dataclass
from aclkit.rules.decide.order import BrokerRescan
from aclkit.rules.patterns.match import reaches
from aclkit.warehouse.acls_in_force import NAMES
from aclkit.warehouse.codecs import acl_of, acl_sql, behind_acl
from aclkit.warehouse.duck import Tables, fetch


@dataclass(frozen=True, slots=True, kw_only=True)
class Lifetime:
    """A row of ``acl_history``: see the table's columns."""

    acl: Acl
    added_offset: int
    effective_offset: int
    added_at: datetime | None
    added_by: str
    removed_offset: int | None
    removed_at: datetime | None

    def is_alive(self, offset: int) -> bool:
        """Whether the ACL is in effect as of an offset (exclusive, as in snapshots)."""
        return self.effective_offset < offset and not (
            self.removed_offset is not None and self.removed_offset < offset
        )


_LIVED: Final = tuple(field.name for field in fields(Lifetime) if field.name != "acl")


def lifetime_sql(rest: str) -> str:
    """Return the SELECT of lifetimes, from the rest: FROM ``acl_history``, and so on."""
    columns = (f"CAST({name} AS TIMESTAMP)" if name.endswith("_at") else name for name in _LIVED)
    return acl_sql(rest, *columns)


def lifetime_of(row: Sequence[Any]) -> Lifetime:
    """Make a lifetime of a row of ``lifetime_sql``."""
    return Lifetime(acl=acl_of(row), **dict(zip(_LIVED, behind_acl(row), strict=True)))


def lifetimes_reaching(
    connection: Tables,
    cluster_id: str,
    resource: Resource,
    semantics: Semantics,
    offset: int | None = None,
) -> list[Lifetime]:
    """Read the lifetimes of all ACLs that reach a resource, the oldest first.

    Args:
        connection: see ``reader.open_tables``.
        cluster_id: the cluster.
        resource: what is reached.
        semantics: how ACLs are read.
        offset: only those alive as of it.
    """
    found = lifetimes_near(connection, cluster_id, resource, offset)
    return [life for life in found if reaches(life.acl, *resource, semantics)]


def lifetimes_near(
    connection: Tables, cluster_id: str, resource: Resource, offset: int | None = None
) -> list[Lifetime]:
    """Read the lifetimes of all ACLs that apply to a resource in some reading, or possibly do.

    The engine leaves out ACLs that apply in no reading; the rule decides which ones do.
    """
    values = [cluster_id, *resource, resource.resource_name]
    return _read(connection, _REACHING, values, offset)


def lifetimes_of_type(
    connection: Tables, cluster_id: str, resource_type: str, offset: int
) -> list[Lifetime]:
    """Read the lifetimes of all ACLs on a resource type that are alive as of an offset."""
    return _read(connection, "", [cluster_id, resource_type], offset)


def lifetimes_beginning(
    connection: Tables, cluster_id: str, resource_type: str, prefix: str, offset: int
) -> list[Lifetime]:
    """Read the lifetimes of the ACLs alive that can reach a name with a beginning.

    A glob is among them wherever it begins.
    """
    return _read(connection, _BEGINNING, [cluster_id, resource_type, prefix, prefix], offset)


def lifetimes_naming(
    connection: Tables, cluster_id: str, resource_type: str, principal: str, offset: int
) -> list[Lifetime]:
    """Read the lifetimes of the ACLs alive that may match a principal, see ``NAMES``."""
    return _read(connection, f"AND {NAMES} ", [cluster_id, resource_type, principal], offset)


def lifetimes_of(
    connection: Tables, cluster_id: str, principal: str, offset: int
) -> list[Lifetime]:
    """Read the lifetimes of the ACLs alive whose principal is this text, of all resource types."""
    rows = fetch(
        connection, _OF_PRINCIPAL + _ALIVE + _ORDER, [cluster_id, principal, *[offset] * 3]
    )
    return list(map(lifetime_of, rows))


def lifetimes_below_star(
    connection: Tables, cluster_id: str, resource: Resource, semantics: Semantics
) -> list[Lifetime]:
    """Read the lifetimes that a broker's second scan for a resource may meet.

    Only names below ``*`` have such a search, and only a broker's deciding ACL depends on it.
    """
    if semantics.deciding_acl != BROKER or resource.resource_name >= "*":
        return []
    return _read(connection, _BELOW, [cluster_id, resource.resource_type], None)


def broker_rescan(below: Sequence[Lifetime], offset: int) -> BrokerRescan:
    """Return a broker's second scan among such ACLs, as of an offset."""
    return BrokerRescan.among(life.acl for life in below if life.is_alive(offset))


def _read(connection: Tables, which: str, values: list[str], offset: int | None) -> list[Lifetime]:
    rows = fetch(connection, _LIFETIMES + which + _ALIVE + _ORDER, [*values, *[offset] * 3])
    return list(map(lifetime_of, rows))


_OF_PRINCIPAL: Final = lifetime_sql("FROM acl_history WHERE cluster_id = ? AND principal = ? ")
_LIFETIMES: Final = lifetime_sql("FROM acl_history WHERE cluster_id = ? AND resource_type = ? ")
_REACHING: Final = (
    "AND (resource_name IN (?, '*') OR pattern_type = 'GLOB' "
    "OR (pattern_type <> 'LITERAL' AND starts_with(?, resource_name))) "
)
_BEGINNING: Final = (
    "AND (resource_name = '*' OR pattern_type = 'GLOB' OR starts_with(resource_name, ?) "
    "OR (pattern_type <> 'LITERAL' AND starts_with(?, resource_name))) "
)
_BELOW: Final = "AND (resource_name < '*' OR pattern_type = 'PREFIXED' AND resource_name = '*') "
_ALIVE: Final = (
    "AND (? IS NULL OR (effective_offset < ? AND (removed_offset IS NULL OR removed_offset >= ?))) "
)
_ORDER: Final = "ORDER BY effective_offset, acl_id"


ACL_LEASE: Final = "acl_lease"


@dataclass(frozen=True, slots=True, kw_only=True)
class AclEnd:
    """When an ACL ends.

    Attributes:
        until: the first moment at which it is not needed any more, in UTC.
        place: where that stands.
        owner: who answers for it, if that is known.
        reason: why it has an end, if that is known.
    """

    until: datetime
    place: str
    owner: str | None = None
    reason: str | None = None


def read_ends(tables: Tables, cluster_id: str) -> dict[str, AclEnd]:
    """Return the id of each ACL that has an end → its end."""
    return {
        acl_id: AclEnd(until=until.replace(tzinfo=UTC), place=place, owner=owner, reason=reason)
        for acl_id, until, place, owner, reason in fetch(tables, _ENDS, [cluster_id])
    }


_ENDS: Final = (
    "SELECT acl_id, until_time, place, owner, reason FROM acl_lease "
    "WHERE cluster_id = ? ORDER BY acl_id"
)


ACL_CHANGE_BY: Final = "acl_change_by"

ONE: Final = "one"
SEVERAL: Final = "several"
UNSURE: Final = "unsure"
NONE: Final = "none"
MISSING: Final = "missing"
"""How sure it is: one principal, or one of several; perhaps those, because lines of that time may
be missing; no request although the log is whole; or no log of that time."""

CERTAINTIES: Final = (ONE, SEVERAL, UNSURE, NONE, MISSING)


class ChangeKey(NamedTuple):
    """What names a change: the ACL, ``added`` or ``removed``, and where it took effect."""

    acl_id: str
    acl_change: str
    log_offset: int


@dataclass(frozen=True, slots=True)
class ChangedBy:
    """Who may have made a change.

    Attributes:
        certainty: one of ``CERTAINTIES``.
        candidates: principals, each with the host it came from.
    """

    certainty: str
    candidates: tuple[tuple[str, str], ...] = ()

    @property
    def names(self) -> str:
        """The candidates in one text; empty where there are none."""
        if len({principal for principal, _ in self.candidates}) != 1:
            return _or(dict.fromkeys(principal for principal, _ in self.candidates))
        return f"{self.candidates[0][0]} from {_or(host for _, host in self.candidates)}"

    @property
    def words(self) -> str:
        """Who made the change and how sure that is, as the end of a sentence about the change."""
        if self.certainty == ONE:
            return f"by {self.names} (only candidate)"
        if self.certainty == SEVERAL:
            return f"by {self.names}"
        if self.certainty == UNSURE:
            return f"perhaps by {self.names} (the log of that time may have gaps)"
        why = "no request in the log" if self.certainty == NONE else "no log of that time"
        return f"by whom is not known: {why}"


def certainty_of(candidates: Iterable[tuple[str, str]], *, is_covered: bool) -> str:
    """Return how sure it is who made a change.

    Args:
        candidates: principals with hosts.
        is_covered: no line of that time is missing.
    """
    principals = {principal for principal, _ in candidates}
    if not is_covered:
        return UNSURE if principals else MISSING
    return {0: NONE, 1: ONE}.get(len(principals), SEVERAL)


def read_changed_by(
    tables: Tables, cluster_id: str, offsets: Iterable[int]
) -> Mapping[ChangeKey, ChangedBy]:
    """Read who may have made the changes at log offsets, as far as controllers' logs were read."""
    rows = fetch(tables, _BY, [cluster_id, sorted(set(offsets))])
    return {
        ChangeKey(*key): ChangedBy(certainty, tuple(zip(who, hosts, strict=True)))
        for *key, certainty, who, hosts in rows
    }


def _or(names: Iterable[str]) -> str:
    found = list(names)
    return few(found) if len(found) > _MOST_NAMED else " or ".join(found)


_MOST_NAMED: Final = 3
_BY: Final = (
    "SELECT acl_id, acl_change, log_offset, certainty, coalesce(principals, []), "
    "coalesce(hosts, []) FROM acl_change_by WHERE cluster_id = ? "
    "AND log_offset IN (SELECT unnest(CAST(? AS BIGINT[])))"
)


def first_seen(
    tables: Tables, cluster_id: str, findings: Iterable[Finding]
) -> dict[str, datetime | None]:
    """Return since when each finding is there, by fingerprint.

    What ACLs alone make true is there since the youngest of them: the log time of its record.
    What takes the inventory or the use of ACLs as well, or whose ACLs have no time, is there since
    the start of the first run that showed it. None where no run has published it yet. Of several
    findings with one fingerprint the earliest counts.
    """
    found = list(findings)
    ids = sorted({acl_id for finding in found for acl_id in finding.acl_ids})
    names = sorted({finding.fingerprint for finding in found})
    added = dict(fetch(tables, _ADDED, [cluster_id, ids]))
    shown = dict(fetch(tables, _SHOWN, [cluster_id, names]))
    seen: dict[str, datetime | None] = {}
    for finding in found:
        times = [added.get(acl_id) for acl_id in finding.acl_ids]
        if finding.holds_for == EVERY_NAME and times and None not in times:
            time = max(time for time in times if time is not None)
        else:
            time = shown.get(finding.fingerprint)
        other = seen.get(finding.fingerprint)
        utc = None if time is None else time.replace(tzinfo=UTC)
        seen[finding.fingerprint] = min(filter(None, (utc, other)), default=None)
    return seen


_ADDED = (
    "SELECT acl_id, CAST(max(added_at) AS TIMESTAMP) FROM acl_history WHERE cluster_id = ? "
    "AND acl_id IN (SELECT unnest(CAST(? AS VARCHAR[]))) GROUP BY acl_id"
)
_SHOWN = (
    "SELECT f.fingerprint, CAST(min(coalesce(f.first_seen, r.started_at)) AS TIMESTAMP) "
    "FROM finding f JOIN job_run r ON r.run_id = f.run_id AND r.cluster_id = f.cluster_id "
    "WHERE f.cluster_id = ? AND f.fingerprint IN (SELECT unnest(CAST(? AS VARCHAR[]))) "
    "GROUP BY f.fingerprint"
)
