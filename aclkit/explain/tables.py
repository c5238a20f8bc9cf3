"""Inventory, pairs and rulings → the explain tables, written; the transforms are elsewhere."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, Final

from pyspark.sql import DataFrame, SparkSession

from aclkit.explain import rulesets
from aclkit.explain.pairing import Pairing, classify_principals
from aclkit.explain.scope import Scope
from aclkit.explain.views import EXPLAIN_TABLES, explain_sql
from aclkit.frame import local_frame
from aclkit.inventory.entry import Entry
from aclkit.inventory.identity import match_hosts
from aclkit.model.acl import ANY_OTHER
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.model.principal import parse_principal
from aclkit.model.semantics import BrokerSettings
from aclkit.readback import read_written


def write_inventory(scope: Scope, settings: BrokerSettings, digest_before: str | None) -> str:
    """Write ``principal``, ``host``, ``resource`` and ``host_match``; return a digest of the rows.

    Nothing is written where the digest is that of the tables as they are.
    """
    inventory, cluster = scope.inventory, scope.cluster_id
    classes = classify_principals(scope)
    matches = match_hosts(scope.texts.hosts, scope.host_names, scope.semantics)
    universal = {acl_host for acl_host, host in matches if host == ANY_OTHER}
    named = {host for acl_host, host in matches if acl_host not in universal}
    principals = [
        (
            cluster,
            entry.name,
            *parse_principal(entry.name),
            classes.class_of[entry.name],
            entry.name in settings.super_users,
            *_common(entry),
        )
        for entry in inventory.principals
    ]
    hosts = [(cluster, e.name, e.name in named, *_common(e)) for e in inventory.hosts]
    resources = [(cluster, e.resource_type, e.name, *_common(e)) for e in inventory.resources]
    rows: dict[str, list[tuple[Any, ...]]] = {
        "principal": principals,
        "host": hosts,
        "resource": resources,
        "host_match": [(cluster, *match) for match in matches],
    }
    digest = hashlib.sha256(repr(rows).encode("utf-8", "surrogatepass")).hexdigest()
    for table in rows if scope.is_trial or digest != digest_before else ():
        scope.write_rows(table, rows[table])
    return digest


def write_setting(scope: Scope, settings: BrokerSettings) -> None:
    """Note the broker settings with the time since which they hold, when they are new."""
    users = sorted(settings.super_users)
    with read_written(scope.store, scope.cluster_id, "setting") as read:
        newest = read.rows(_NEWEST_SETTING)
    if newest != [(users, settings.allow_everyone)]:
        row = (scope.cluster_id, scope.run.started_at, users, settings.allow_everyone)
        scope.store.append_rows("setting", [row])


_NEWEST_SETTING: Final = (
    "SELECT super_users, allow_everyone FROM setting ORDER BY since_time DESC LIMIT 1"
)


def of_pairing(spark: SparkSession, pairing: Pairing) -> dict[str, DataFrame]:
    """Return the rows of the tables of pairs and of the sets of ACLs that rule them."""
    return {
        "explain_pair": pairing.pairs,
        "explain_class_pair": pairing.class_pairs,
        "ruleset": pairing.contents.select(*RULESET).unionByName(_fixed_rulesets(spark)),
        "ruleset_group": pairing.groups,
    }


RULESET: Final = ("ruleset_id", "resource_type", "group_ids", "wildcard_last")
"""The columns of ``ruleset``, the cluster aside."""


def write_dense(scope: Scope) -> None:
    """Write the table ``explain``: the view of that name, multiplied out.

    Where the table was not there its rows are those of all clusters, for it takes the place of a
    view that holds them all.
    """
    whose = scope.cluster_id if scope.store.has("explain") else None
    with read_written(scope.store, whose, *EXPLAIN_TABLES, "explain") as read:
        read.rewrite("explain", explain_sql())


def explain_view(scope: Scope, instead: Mapping[str, DataFrame]) -> DataFrame:
    """Return the view ``explain`` of the cluster over its tables, some of them replaced."""
    names = {}
    for table in EXPLAIN_TABLES:
        frame = instead.get(table)
        names[table] = f"aclkit_{table}"
        (scope.read(table) if frame is None else frame).createOrReplaceTempView(names[table])
    return scope.spark.sql(explain_sql(names))


def _common(entry: Entry) -> tuple[bool, str, str | None, dict[str, str]]:
    return entry.is_any_other, entry.origin, entry.witness, dict(entry.attributes)


def _fixed_rulesets(spark: SparkSession) -> DataFrame:
    fixed: list[tuple[str, str | None]] = [(rulesets.SUPER, None)]
    fixed += [
        (f"{kind}:{resource_type}", resource_type)
        for kind in (rulesets.NONE, rulesets.OTHER)
        for resource_type in OPERATIONS_OF_TYPE
    ]
    return local_frame(
        spark,
        [(name, resource_type, [], None) for name, resource_type in fixed],
        "ruleset_id STRING, resource_type STRING, group_ids ARRAY<STRING>, wildcard_last STRING",
    )
