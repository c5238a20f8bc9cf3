"""A cluster's explain tables in memory, decided by the pure rules, for tests of what reads them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from aclkit.model.acl import ANY_OTHER, Acl
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.pipeline.explain import tables
from aclkit.pipeline.explain.affected import Affected
from aclkit.pipeline.explain.incremental import AMENDED, decide_affected
from aclkit.pipeline.explain.scope import Scope
from aclkit.warehouse.schemas import TABLES
from tests.pipeline.explain.memory import Memory


def decided(scope: Scope, acls: Sequence[Acl], *, allow_everyone: bool = False) -> Memory:
    """The tables as a materialize of these ACLs would leave them."""
    memory = Memory()
    give_acls(memory, acls)
    give_inventory(memory, scope)
    rulings = fixed_rulings(allow_everyone)
    names = dict.fromkeys(ruling["ruleset_id"] for ruling in rulings)
    fixed = {"explain_ruling": rulings, "ruleset": [_fixed_ruleset(name) for name in names]}
    for name in AMENDED:
        memory.contract(name, fixed.get(name, ()))
    for table, _, gone, fresh in decide_affected(scope, _everything(scope, acls), memory):
        assert not gone
        memory.insert(table, _as_mappings(table, fresh))
    return memory


def _everything(scope: Scope, acls: Sequence[Acl]) -> Affected:
    """All pairs of a scope, as if every ACL had just come."""
    return Affected(
        changed=acls,
        resources={entry.key: True for entry in scope.inventory.resources},
        principals=frozenset(),
        gone_resources=frozenset(),
        gone_principals=frozenset(),
    )


def give_acls(memory: Memory, acls: Sequence[Acl], name: str = "acl_history") -> None:
    rows = [{"cluster_id": "c", **asdict(acl), "effective_offset": 1} for acl in acls]
    memory.contract("acl_history", rows, name=name)


def give_inventory(memory: Memory, scope: Scope) -> None:
    for name, rows in tables.of_inventory(scope).items():
        memory.contract(name, _as_mappings(name, rows))


def _as_mappings(table: str, rows: Iterable[Sequence[Any]]) -> list[dict[str, Any]]:
    return [dict(zip(TABLES[table].column_names, row, strict=True)) for row in rows]


def _fixed_ruleset(name: str) -> dict[str, Any]:
    resource_type = name.partition(":")[2] or None
    return {"cluster_id": "c", "ruleset_id": name, "resource_type": resource_type, "group_ids": []}


def fixed_rulings(allow_everyone: bool) -> list[dict[str, Any]]:
    default = ("ALLOWED", "DefaultAllow") if allow_everyone else ("DENIED", "DefaultDeny")
    fixed = {"super": ("ALLOWED", "SuperUser")}
    fixed |= {f"none:{kind}": default for kind in OPERATIONS_OF_TYPE}
    fixed |= {f"other:{kind}": ("DENIED", "DefaultDeny") for kind in OPERATIONS_OF_TYPE}
    every = sorted({operation for known in OPERATIONS_OF_TYPE.values() for operation in known})
    return [
        {"cluster_id": "c", "ruleset_id": name, "host": ANY_OTHER, "operation": operation,
         "decision": decision, "rule": rule}
        for name, (decision, rule) in fixed.items()
        for operation in (OPERATIONS_OF_TYPE[name.partition(":")[2]] if ":" in name else every)
    ]  # fmt: skip
