"""Two consecutive runs of a small cluster in memory, and the pure rule's word on both."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from aclkit.model.acl import Acl, Request
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.model.semantics import KAFKA, BrokerSettings, Semantics
from aclkit.pipeline.explain.affected import find_affected
from aclkit.pipeline.explain.changes import changed_accesses, tables_of_changes
from aclkit.pipeline.explain.incremental import AMENDED, amend, decide_affected
from aclkit.pipeline.explain.scope import Scope
from aclkit.rules.decide.rules import decide
from aclkit.warehouse.views import PAST, PAST_TABLES, explain_sql, sql_of
from tests.pipeline.explain.decided import decided
from tests.pipeline.explain.frames import scope_of
from tests.pipeline.explain.memory import Memory

Cell = tuple[str, str, str, str, str]
"""Principal, host, operation, resource type and name."""

INVENTORY = ("principal", "host", "resource", "host_match")


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
    """The tables of both runs, the second one's decided as a run after another one does.

    Attributes:
        was: the first run's.
        now: the second one's.
        whole: the second one's where everything is decided anew.
        is_incremental: whether only what is affected was decided.
        changes: the rows of ``access_change``.
    """

    was: Memory
    now: Memory
    whole: Memory
    is_incremental: bool
    changes: list[dict[str, Any]]

    def differing_tables(self) -> list[str]:
        """Name the tables that are not those of deciding everything anew."""
        return [name for name in AMENDED if _rows(self.now, name) != _rows(self.whole, name)]

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
    """Decide a cluster twice, the second time what the changes affect where that will do."""
    was = decided(first.scope, first.acls)
    whole = decided(second.scope, second.acls)
    now = _next_run(was, whole, first, second)
    memory = Memory()
    for name, (table, _) in tables_of_changes({}, {}).items():
        of = was if name.startswith("was_") else now or whole
        memory.give(name, of.arrow(f"FROM {table}"))
    found = changed_accesses(
        memory,
        settings_changed=first.super_users != second.super_users,
        rules_changed=False,
        hosts_changed=first.scope.inventory.digest() != second.scope.inventory.digest(),
    )
    return TwoRuns(was, now or whole, whole, now is not None, found.read_all().to_pylist())


def _next_run(was: Memory, whole: Memory, first: Night, second: Night) -> Memory | None:
    """Amend the tables of the first run; None where the second decides everything anew."""
    if first.super_users != second.super_users:
        return None
    memory = Memory()
    for name in (*AMENDED, *INVENTORY):
        memory.give(f"of_{name}", was.arrow(f"FROM {name}"))
        memory.connection.execute(f"CREATE TABLE {name} AS FROM of_{name}")
    memory.give("was_history", was.arrow("FROM acl_history"))
    memory.give("acl_history", whole.arrow("FROM acl_history"))
    found = find_affected(second.scope, memory)
    if found is None:
        return None
    changes = decide_affected(second.scope, found, memory)
    assert changes is not None
    amend(memory, changes)
    for name in INVENTORY:
        memory.connection.execute(f"DROP TABLE {name}")
        memory.give(name, whole.arrow(f"FROM {name}"))
    return memory


def _rows(memory: Memory, name: str) -> Counter[str]:
    return Counter(map(repr, memory.rows(f"FROM {name}")))


def _explained(memory: Memory) -> dict[Cell, tuple[str, str, str | None]]:
    rows = memory.rows(
        "SELECT principal, host, operation, resource_type, resource_name, decision, rule, "
        f"deciding_acl_id FROM ({explain_sql()})"
    )
    return {row[:5]: row[5:] for row in rows}
