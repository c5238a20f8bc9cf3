"""The explain tables before and after a run → which accesses changed, and what caused it. SQL.

A row stands for one principal, or for all principals of a class that no own ACL concerns. Super
users are a class of their own, ``super``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import pyarrow as pa

from aclkit.pipeline.explain.change_steps import change_steps
from aclkit.pipeline.explain.steps import in_steps
from aclkit.warehouse.reader import Reader, Versions

_TABLES: Final = (
    "principal",
    "host",
    "explain_pair",
    "explain_class_pair",
    "explain_ruling",
    "ruleset",
    "ruleset_group",
)


def tables_of_changes(before: Mapping[str, int], after: Mapping[str, int]) -> Versions:
    """Return what ``changed_accesses`` asks about: tables as two runs left them, and history."""
    return {
        **{f"was_{name}": (name, before.get(name)) for name in _TABLES},
        **{f"now_{name}": (name, after.get(name)) for name in _TABLES},
        "acl_history": ("acl_history", after.get("acl_history")),
    }


def changed_accesses(
    tables: Reader, *, settings_changed: bool, rules_changed: bool, hosts_changed: bool
) -> pa.RecordBatchReader:
    """Yield the rows of ``access_change``, cluster and run aside.

    A pair counts as changed when its ruleset did, or when the ruleset's rulings did. Of other
    rules, those of another aclkit, the cause is ``settings`` where no ACL moved. There may be as
    many rows as pairs.
    """
    steps = change_steps(
        settings_changed=settings_changed,
        rules_changed=rules_changed,
        hosts_changed=hosts_changed,
    )
    return tables.stream(in_steps(steps))
