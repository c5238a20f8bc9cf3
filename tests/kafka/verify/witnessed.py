"""The small warehouse of tests/questions/query with witnesses of "any other", but for groups."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from aclkit.model.acl import ANY_OTHER, ANY_OTHER_PRINCIPAL, Acl
from aclkit.model.semantics import BrokerSettings, Semantics
from tests.questions.query import small_warehouse as small

WITNESSES = {
    ("principal", ANY_OTHER_PRINCIPAL): "User:any-other",
    ("host", ANY_OTHER): "192.0.2.1",
    ("resource_name", ANY_OTHER): "q-any-other",
}


def build(
    root: Path,
    acls: Sequence[Acl],
    settings: BrokerSettings,
    semantics: Semantics,
    changes: Mapping[str, Mapping[str, Any]] | None = None,
) -> dict[str, int]:
    """Write and publish a whole warehouse; return the versions.

    Args:
        root: where to.
        acls: the ACLs.
        settings: the broker's.
        semantics: how the rows are decided.
        changes: ruleset and operation, joined by a space, → columns of its rulings to falsify.
    """
    versions = {}
    for name, rows in small.tables(acls, settings, semantics).items():
        written = [_changed(_witnessed(row), changes or {}) for row in rows]
        versions[name] = small.write_table(root, name, written)
    said = {
        "semantics": asdict(semantics),
        "super_users": sorted(settings.super_users),
        "allow_everyone": settings.allow_everyone,
    }
    small.publish(root, versions, settings=json.dumps(said))
    return versions


def _witnessed(row: Mapping[str, Any]) -> Mapping[str, Any]:
    if "ruleset_id" in row or row.get("resource_type") == "GROUP":
        return row
    for (column, symbol), witness in WITNESSES.items():
        if row.get(column) == symbol and "acl_host" not in row:
            return {**row, "witness": witness}
    return row


def _changed(row: Mapping[str, Any], changes: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Any]:
    key = f"{row.get('ruleset_id')} {row.get('operation')}"
    return {**row, **changes[key]} if key in changes else row
