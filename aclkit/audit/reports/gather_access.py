"""Published decisions of a cluster → the explorer of a report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import duckdb

from aclkit.audit.reports.data import AliveAcl, Explorer, NumberedRuling
from aclkit.audit.reports.embed import numbered
from aclkit.model.acl import ANY_OTHER
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.model.resource import Resource
from aclkit.questions.query.names import read_hosts, read_resources
from aclkit.rules.decide.rules import ALLOWED
from aclkit.warehouse.sql import fetch
from aclkit.warehouse.views import SUPER_RULESET

MOST_PAIRS: Final = 2_000_000
"""Up to so many principals × resources the explorer is part of a report."""

MOST_PARTS: Final = 1_250_000
"""And up to so many rows of the factored tables: about 4 MB of the page."""


def gather_explorer(
    connection: duckdb.DuckDBPyConnection, cluster_id: str, acls: Sequence[AliveAcl]
) -> tuple[Explorer | None, str]:
    """Read all decisions in their factored form; beyond the limits say why not."""
    ((principals, resources, parts),) = fetch(connection, _SIZES, [cluster_id] * 5)
    if principals * resources > MOST_PAIRS or parts > MOST_PARTS:
        return None, (
            f"This cluster has {principals:,} principals × {resources:,} resources, decided by "
            f"{parts:,} rows; a report holds up to {MOST_PAIRS:,} pairs and {MOST_PARTS:,} rows. "
            "Ask the warehouse instead: aclkit who-can OPERATION RESOURCE, aclkit what-can "
            "PRINCIPAL, aclkit why PRINCIPAL OPERATION RESOURCE."
        )
    return _ExplorerReader(connection, cluster_id, acls).read(), ""


class _Numbers(dict[Any, int]):
    """Numbers names in the order in which they are first asked for."""

    def __missing__(self, key: object) -> int:
        self[key] = len(self)
        return self[key]


class _ExplorerReader:
    """Reads the factored tables of one cluster, and gives every name its number."""

    def __init__(
        self, connection: duckdb.DuckDBPyConnection, cluster_id: str, acls: Sequence[AliveAcl]
    ) -> None:
        self._ask: Callable[[str], list[tuple[Any, ...]]] = lambda text: fetch(
            connection, text, [cluster_id]
        )
        self._acls = tuple(acls)
        hosts = read_hosts(connection, cluster_id)
        self._hosts = tuple(host for host in hosts if host != ANY_OTHER)
        self._resources = read_resources(connection, cluster_id)
        self._classes, self._rules = _Numbers(), _Numbers()
        self._principals = tuple(
            (name, self._classes[kind], is_super) for name, kind, is_super in self._ask(_PRINCIPALS)
        )
        self._place_of = numbered(self._resources)
        self._number_of = numbered(ruleset for (ruleset,) in self._ask(_RULESETS))
        self._acl_of = numbered(alive.acl.acl_id for alive in acls)

    def read(self) -> Explorer:
        """Read it all; hosts that no ACL names are ruled on as any other."""
        return Explorer(
            principals=self._principals,
            hosts=self._hosts,
            resources=self._resources,
            operations=OPERATIONS_OF_TYPE,
            acls=self._acls,
            rulesets=self._members(),
            rulings=self._rulings(),
            super_ruleset=self._number_of.get(SUPER_RULESET, -1),
            classes=self._class_rulesets(),
            pairs=tuple(self._pairs()),
            rules=tuple(self._rules),
        )

    def _class_rulesets(self) -> tuple[tuple[int, ...], ...]:
        """Return the ruleset of every resource for each class; -1 where there is none."""
        found = [[-1] * len(self._resources) for _ in self._classes]
        for kind, resource_type, name, ruleset in self._ask(_CLASS_PAIRS):
            place = self._place_of.get(Resource(resource_type, name))
            if kind in self._classes and place is not None:
                found[self._classes[kind]][place] = self._number_of[ruleset]
        return tuple(map(tuple, found))

    def _rulings(self) -> tuple[tuple[NumberedRuling, ...], ...]:
        """Return the rulings of each ruleset, those on any other host with -1 for the host."""
        found: list[list[NumberedRuling]] = [[] for _ in self._number_of]
        host_of = numbered(self._hosts)
        for ruleset, operation, host, decision, rule, acl_id in self._ask(_RULINGS):
            verdict = decision == ALLOWED, self._rules[rule], self._acl_of.get(acl_id, -1)
            found[self._number_of[ruleset]].append((operation, host_of.get(host, -1), *verdict))
        return tuple(map(tuple, found))

    def _members(self) -> tuple[tuple[int, ...], ...]:
        """Return the ACLs of each ruleset."""
        group_of = dict(self._ask(_GROUPS))
        members: list[tuple[int, ...]] = [()] * len(self._number_of)
        for ruleset, groups in self._ask(_MEMBERS):
            if ruleset in self._number_of:
                ids = (acl_id for group in groups for acl_id in group_of.get(group, ()))
                held = map(self._acl_of.get, ids)
                members[self._number_of[ruleset]] = tuple(sorted(p for p in held if p is not None))
        return tuple(members)

    def _pairs(self) -> list[tuple[int, int, int]]:
        """Return the pairs that a class does not answer for."""
        principal_of = numbered(name for name, _, _ in self._principals)
        return sorted(
            (principal_of[principal], self._place_of[what], self._number_of[ruleset])
            for principal, *named, ruleset in self._ask(_PAIRS)
            if principal in principal_of and (what := Resource(*named)) in self._place_of
        )


_SIZES: Final = (
    "SELECT (SELECT count(*) FROM principal WHERE cluster_id = ?), "
    "(SELECT count(*) FROM resource WHERE cluster_id = ?), "
    "(SELECT count(*) FROM explain_pair WHERE cluster_id = ?) "
    "+ (SELECT count(*) FROM explain_class_pair WHERE cluster_id = ?) "
    "+ (SELECT count(*) FROM explain_ruling WHERE cluster_id = ?)"
)
_PRINCIPALS: Final = (
    "SELECT principal, principal_class, coalesce(is_super_user, false) FROM principal "
    "WHERE cluster_id = ? ORDER BY principal"
)
_RULESETS: Final = (
    "SELECT DISTINCT ruleset_id FROM explain_ruling WHERE cluster_id = ? ORDER BY ruleset_id"
)
_CLASS_PAIRS: Final = (
    "SELECT principal_class, resource_type, resource_name, ruleset_id FROM explain_class_pair "
    "WHERE cluster_id = ?"
)
_PAIRS: Final = (
    "SELECT principal, resource_type, resource_name, ruleset_id FROM explain_pair "
    "WHERE cluster_id = ?"
)
_RULINGS: Final = (
    "SELECT ruleset_id, operation, host, decision, rule, deciding_acl_id FROM explain_ruling "
    "WHERE cluster_id = ? ORDER BY ruleset_id, operation, host"
)
_GROUPS: Final = "SELECT group_id, acl_ids FROM ruleset_group WHERE cluster_id = ?"
_MEMBERS: Final = "SELECT ruleset_id, group_ids FROM ruleset WHERE cluster_id = ?"
