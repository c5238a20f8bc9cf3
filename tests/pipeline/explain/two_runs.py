"""Two consecutive runs of a small cluster in memory, and the pure rule's word on both."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from aclkit.model.acl import Acl, Request
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.model.semantics import KAFKA, BrokerSettings, Semantics
from aclkit.pipeline.explain.changes import changed_accesses, tables_of_changes
from aclkit.pipeline.explain.scope import Scope
from aclkit.rules.decide.rules import decide
from aclkit.warehouse.views import PAST, PAST_TABLES, explain_sql, sql_of
from tests.pipeline.explain.decided import decided
from tests.pipeline.explain.frames import scope_of
from tests.pipeline.explain.memory import Memory

Cell = tuple[str, str, str, str, str]
"""Principal, host, operation, resource type and name."""


@dataclass(frozen=True, kw_only=True)
class Night:
    """What one run is about; ``acls`` have ids of their own."""

    acls: Sequence[Acl]
    principals: Sequence[str] = ("User:a", "User:b")
    hosts: Sequence[str] = ()
    resources: Sequence[tuple[str, str]] = (("TOPIC", "t"),)
    super_users: frozenset[str] = frozenset()
    semantics: Semantics = KAFKA

    @property
    def scope(self) -> Scope:
        return scope_of(
            self.acls, principals=self.principals, hosts=self.hosts, resources=self.resources,
            super_users=self.super_users, semantics=self.semantics,
        )  # fmt: skip

    def cells(self) -> Iterator[Cell]:
        """Yield everything that is asked about."""
        for principal in self.principals:
            for host in self.scope.host_names:
                for kind, name in self.resources:
                    for operation in OPERATIONS_OF_TYPE[kind]:
                        yield principal, host, operation, kind, name

    def by_the_rule(self) -> dict[Cell, tuple[str, str, str | None]]:
        """Decide every cell by the pure rule."""
        settings = BrokerSettings(super_users=self.super_users)
        found = {}
        for cell in self.cells():
            principal, host, operation, kind, name = cell
            request = Request(
                principal=principal, host=host, operation=operation,
                resource_type=kind, resource_name=name,
            )  # fmt: skip
            ruling = decide(self.acls, request, settings, self.semantics)
            found[cell] = ruling.decision, ruling.rule, ruling.acl_id
        return found


@dataclass(frozen=True)
class TwoRuns:
    """The tables of both runs.

    Attributes:
        was: the first run's.
        now: the second one's.
        changes: the rows of ``access_change``.
    """

    was: Memory
    now: Memory
    changes: list[dict[str, Any]]

    def explained(self) -> dict[Cell, tuple[str, str, str | None]]:
        """Every decision of the second run."""
        return _explained(self.now)

    def cells(self) -> dict[Cell, tuple[str, str]]:
        """The decisions before and after of the view ``access_change_cell``, each row once."""
        memory = Memory()
        for name in PAST_TABLES:
            memory.give(f"was_{name}", self.was.arrow(f"FROM {name}"))
            memory.give(name, self.now.arrow(f"FROM {name}"))
        rows = [row | {"cluster_id": "c", "run_id": "2"} for row in self.changes]
        memory.contract("access_change", rows)
        memory.connection.execute(
            "CREATE TABLE job_run AS SELECT 'c' AS cluster_id, '2' AS run_id, 2 AS run_number, "
            "MAP {'decided_in_run': 2} AS counts"
        )
        names = {f"{PAST}.{name}": f"was_{name}" for name in PAST_TABLES}
        found = memory.rows(
            "SELECT principal, host, operation, resource_type, resource_name, decision_before, "
            f"decision_after FROM ({sql_of('access_change_cell', names)})"
        )
        assert len({row[:5] for row in found}) == len(found)
        return {row[:5]: row[5:] for row in found}


def run_twice(first: Night, second: Night) -> TwoRuns:
    """Decide a cluster twice, and find what changed."""
    was, now = (decided(night.scope, night.acls) for night in (first, second))
    memory = Memory()
    for name, (table, _) in tables_of_changes({}, {}).items():
        of = was if name.startswith("was_") else now
        memory.give(name, of.arrow(f"FROM {table}"))
    found = changed_accesses(
        memory,
        settings_changed=first.super_users != second.super_users,
        rules_changed=False,
        hosts_changed=first.scope.inventory.digest() != second.scope.inventory.digest(),
    )
    return TwoRuns(was, now, found.read_all().to_pylist())


def _explained(memory: Memory) -> dict[Cell, tuple[str, str, str | None]]:
    rows = memory.rows(
        "SELECT principal, host, operation, resource_type, resource_name, decision, rule, "
        f"deciding_acl_id FROM ({explain_sql()})"
    )
    return {row[:5]: row[5:] for row in rows}
