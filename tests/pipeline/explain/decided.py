"""A cluster's explain tables in memory, decided by the pure rules, for tests of what reads them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from aclkit.model.acl import Acl
from aclkit.pipeline.explain import tables
from aclkit.pipeline.explain.incremental import AMENDED
from aclkit.pipeline.explain.scope import Scope
from aclkit.pipeline.explain.whole import decide_whole
from aclkit.warehouse.schemas import TABLES
from tests.pipeline.explain.memory import Memory


def decided(scope: Scope, acls: Sequence[Acl], *, allow_everyone: bool = False) -> Memory:
    """The tables as a materialize of these ACLs would leave them."""
    memory = Memory()
    give_acls(memory, acls)
    give_inventory(memory, scope)
    for name in AMENDED:
        memory.contract(name)
    found = decide_whole(scope, memory, allow_everyone=allow_everyone)
    assert found is not None
    for table, columns in found.items():
        memory.insert(table, columns.to_pylist())
    return memory


def give_acls(memory: Memory, acls: Sequence[Acl], name: str = "acl_history") -> None:
    rows = [{"cluster_id": "c", **asdict(acl), "effective_offset": 1} for acl in acls]
    memory.contract("acl_history", rows, name=name)


def give_inventory(memory: Memory, scope: Scope) -> None:
    for name, rows in tables.of_inventory(scope).items():
        memory.contract(name, _as_mappings(name, rows))


def _as_mappings(table: str, rows: Iterable[Sequence[Any]]) -> list[dict[str, Any]]:
    return [dict(zip(TABLES[table].column_names, row, strict=True)) for row in rows]
