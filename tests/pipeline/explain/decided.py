"""A cluster's explain tables in memory: by the oracle, and by the kernel in slices."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import pyarrow as pa

from aclkit.model.acl import Acl
from aclkit.pipeline.explain import rows
from aclkit.pipeline.explain.pairing import cut, pair_up
from aclkit.pipeline.explain.prepared import Matched, Prepared, Resources, prepare
from aclkit.pipeline.explain.rulings import Ruler
from aclkit.pipeline.explain.scope import Scope, of_inventory
from aclkit.warehouse.schemas import TABLES
from tests.pipeline.explain import oracle
from tests.pipeline.explain.memory import Memory

Rows = dict[str, list[tuple[Any, ...]]]
"""Table → its rows, lists as tuples."""

DECIDED = ("explain_pair", "explain_class_pair", "ruleset_group", "ruleset", "explain_ruling")
"""The tables that deciding writes."""


def decided(scope: Scope, acls: Sequence[Acl], *, allow_everyone: bool = False) -> Memory:
    """The tables as a materialize of these ACLs would leave them."""
    memory = Memory()
    give_acls(memory, acls)
    give_inventory(memory, scope)
    for name, found in oracle.decide_all(scope, acls, allow_everyone=allow_everyone).items():
        memory.contract(name, _as_mappings(name, found))
    return memory


def acl_table(acls: Iterable[Acl]) -> pa.Table:
    """ACLs as columns."""
    columns = {name: [getattr(acl, name) for acl in acls] for name in Acl.__slots__}
    return pa.table({name: pa.array(texts, pa.string()) for name, texts in columns.items()})


def matched(scope: Scope, prepared: Prepared) -> Matched:
    resources = Resources.of(scope)
    return Matched.of(resources, [prepared.index.matches(*key) for key in resources.keys])


def by_kernel(scope: Scope, acls: Sequence[Acl], most: int = 1_000_000, looks: int = 50) -> Rows:
    """The rows that the kernel writes of these ACLs, the defaults aside.

    Args:
        scope: what is asked about.
        acls: those in force.
        most: so many entries of a slice at most.
        looks: so many rows at once rulings are found of.
    """
    prepared = prepare(scope, acl_table(acls))
    resources = matched(scope, prepared)
    found: dict[str, list[pa.Table]] = {"ruleset_group": [rows.group_rows(prepared)]}
    known: set[str] = set()
    for start, end in cut(prepared, resources, most):
        paired = pair_up(prepared, resources.part(start, end))
        sets = rows.set_rows(prepared, paired.sets, np.arange(len(paired.sets)))
        ids = sets.column("ruleset_id").combine_chunks()
        fresh = np.array([n for n, i in enumerate(ids.to_pylist()) if i not in known], np.int64)
        known.update(ids.to_pylist())
        ruler = Ruler.of(prepared, paired.sets)
        rulings = [
            rows.ruling_rows(
                prepared,
                paired.sets.resource_type[part],
                ids.take(pa.array(part)),
                ruler.rule(part),
            )
            for part in ruler.parts(fresh, looks)
        ]
        for table, parts in (
            ("explain_pair", rows.pair_rows(prepared, paired, ids)),
            ("explain_class_pair", [rows.class_pair_rows(prepared, paired, ids)]),
            ("ruleset", [sets.take(pa.array(fresh))]),
            ("explain_ruling", rulings),
        ):
            found.setdefault(table, []).extend(parts)
    return {table: _as_rows(table, parts) for table, parts in found.items()}


def _as_rows(table: str, parts: Iterable[pa.Table]) -> list[tuple[Any, ...]]:
    return [
        tuple(tuple(v) if isinstance(v, list) else v for v in row.values())
        for part in parts
        for row in part.select(TABLES[table].column_names).to_pylist()
    ]


def give_acls(memory: Memory, acls: Sequence[Acl], name: str = "acl_history") -> None:
    found = [{"cluster_id": "c", **asdict(acl), "effective_offset": 1} for acl in acls]
    memory.contract("acl_history", found, name=name)


def give_inventory(memory: Memory, scope: Scope) -> None:
    for name, found in of_inventory(scope).items():
        memory.contract(name, _as_mappings(name, found))


def _as_mappings(table: str, found: Iterable[Sequence[Any]]) -> list[dict[str, Any]]:
    return [dict(zip(TABLES[table].column_names, row, strict=True)) for row in found]
