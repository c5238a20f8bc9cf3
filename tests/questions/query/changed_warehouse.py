"""A small warehouse of two nights, and what the second one changed, without Spark."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from aclkit.model.acl import Acl
from aclkit.model.semantics import KIP_1042, BrokerSettings
from aclkit.pipeline.explain.changes import changed_accesses
from tests.pipeline.explain.memory import Memory
from tests.questions.query import small_warehouse as small

_READ = (
    "principal", "host", "explain_pair", "explain_class_pair", "explain_ruling", "ruleset",
    "ruleset_group", "resource",
)  # fmt: skip


def build(
    root: Path, nights: Sequence[tuple[Sequence[Acl], BrokerSettings]]
) -> list[dict[str, Any]]:
    """Publish two nights; return the rows of ``access_change``."""
    key = build, tuple((tuple(acls), settings) for acls, settings in nights)
    return small.copied(root, key, lambda place: _build(place, nights))


def _build(
    root: Path, nights: Sequence[tuple[Sequence[Acl], BrokerSettings]]
) -> list[dict[str, Any]]:
    made = [small.tables(acls, settings, KIP_1042) for acls, settings in nights]
    history = _history(nights[0][0], nights[1][0])
    memory = Memory()
    alive = [row for row in history if row["added_offset"] == 1]
    memory.contract(
        "acl_history", [row | {"removed_offset": None} for row in alive], name="was_acl_history"
    )
    memory.contract("acl_history", history, name="now_acl_history")
    for side, tables in zip(("was", "now"), made, strict=True):
        for name in _READ:
            memory.contract(name, tables[name], name=f"{side}_{name}")
    changed = changed_accesses(
        memory,
        settings_changed=nights[0][1] != nights[1][1],
        rules_changed=False,
        hosts_changed=False,
    )
    changes = [
        {**row, "cluster_id": small.CLUSTER, "run_id": "night-2"}
        for row in changed.read_all().to_pylist()
    ]
    for number, tables in enumerate(made, start=1):
        extra = {"acl_history": history, "access_change": changes if number == 2 else []}
        versions = {n: small.write_table(root, n, rows) for n, rows in (tables | extra).items()}
        said = {
            "semantics": asdict(KIP_1042),
            "super_users": sorted(nights[number - 1][1].super_users),
            "allow_everyone": nights[number - 1][1].allow_everyone,
        }
        counts = {"decided_in_run": number, "access_changes": len(changes) if number == 2 else 0}
        small.publish(
            root, versions, run_number=number, run_id=f"night-{number}", counts=counts,
            settings=json.dumps(said), head_offset=10 * number, notes=[],
        )  # fmt: skip
    return changes


def _history(before: Sequence[Acl], after: Sequence[Acl]) -> list[dict[str, Any]]:
    """ACLs of the first night come at offset 1; what differs comes or goes at 15."""
    rows = []
    for acl in sorted({*before, *after}, key=lambda a: a.acl_id):
        came, gone = (1 if acl in before else 15), (None if acl in after else 15)
        rows.append(
            small._history(acl) | {"added_offset": came, "effective_offset": came,
                                   "removed_offset": gone,
                                   "removed_at": None if gone is None else small.WHEN}
        )  # fmt: skip
    return rows
