"""What changed since the decisions before → the pairs that it touches, decided again in place.

The result equals a full rebuild row by row, because ids are hashes of content: a pair that no
changed ACL, principal or resource touches has the same ruleset, and a ruleset the same rulings.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from aclkit.explain.pairing import Pairing, Touched, classify_principals
from aclkit.explain.rulesets import NONE, OTHER, SUPER
from aclkit.explain.scope import Scope
from aclkit.explain.tables import RULESET, rule_on
from aclkit.frame import local_frame, settle
from aclkit.model.acl import Acl
from aclkit.model.semantics import BROKER
from aclkit.patterns.match import names_exactly
from aclkit.patterns.trie import PatternIndex
from aclkit.readback import read_back
from aclkit.schemas import TABLES

MOST_CHANGES: Final = 1_000
"""Above so many changed ACLs or principals everything is decided anew."""

_PAIR: Final = ("principal", "resource_type", "resource_name")
_CLASS_PAIR: Final = ("principal_class", "resource_type", "resource_name")


def find_touched(
    scope: Scope, before: Mapping[str, Any] | None, settings: Mapping[str, Any]
) -> Touched | None:
    """Say which pairs may have another ruleset than in the run before; None for all of them.

    All are decided where there was no run before; where settings, hosts or the classes of
    principals differ; and where a name below ``*`` makes the broker's order depend on all ACLs.
    """
    if before is None or not _is_alike(json.loads(before["settings"]), settings):
        return None
    if scope.semantics.deciding_acl == BROKER and any(
        entry.name < "*" for entry in scope.inventory.resources
    ):
        return None
    then, now = before["table_versions"], scope.store.versions
    tables = {
        "was_history": ("acl_history", then.get("acl_history")),
        "acl_history": ("acl_history", now.get("acl_history")),
        **{name: (name, then.get(name)) for name in ("principal", "host", "resource")},
    }
    with read_back(scope.store, scope.cluster_id, tables) as read:
        changed = [Acl(**dict(zip(Acl.__slots__, row, strict=True))) for row in read.rows(_CHANGED)]
        hosts = {host for (host,) in read.rows("SELECT host FROM host")}
        classes = dict(read.rows("SELECT principal, principal_class FROM principal"))
        resources = set(read.rows("SELECT resource_type, resource_name FROM resource"))
        class_of = classify_principals(scope).class_of
        added = [name for name in scope.principal_names if name not in classes]
        if (
            len(changed) + len(added) > MOST_CHANGES
            or hosts != set(scope.host_names)
            or any(classes[name] != class_of[name] for name in classes.keys() & class_of.keys())
            or not set(class_of.values()) <= set(classes.values())
        ):
            return None
        read.give("added", pa.table({"principal": pa.array(added, pa.string())}))
        patterns = [*read.rows(_PATTERNS_OF_ADDED)]
    return _touched_by(scope, changed, frozenset(added), patterns, resources)


def _is_alike(then: Mapping[str, Any], now: Mapping[str, Any]) -> bool:
    return all(then[key] == now[key] for key in ("semantics", "super_users", "allow_everyone"))


_FIELDS: Final = ", ".join(Acl.__slots__)
_ALIVE: Final = "SELECT acl_id FROM {} WHERE removed_offset IS NULL"
_CHANGED: Final = (
    f"SELECT {_FIELDS} FROM acl_history WHERE removed_offset IS NULL "  # noqa: S608 -- contract
    f"AND acl_id NOT IN ({_ALIVE.format('was_history')}) UNION ALL "
    f"SELECT {_FIELDS} FROM was_history WHERE removed_offset IS NULL "
    f"AND acl_id NOT IN ({_ALIVE.format('acl_history')})"
)
_PATTERNS_OF_ADDED: Final = (
    "SELECT DISTINCT h.resource_type, h.pattern_type, h.resource_name FROM acl_history h "
    "JOIN added a ON a.principal = h.principal WHERE h.removed_offset IS NULL"
)


def _touched_by(
    scope: Scope,
    changed: list[Acl],
    added: frozenset[str],
    patterns_of_added: list[tuple[Any, ...]],
    known: set[tuple[Any, ...]],
) -> Touched:
    """Find the resources that changed ACLs, or ACLs of new principals, reach."""
    narrow = {acl.principal for acl in changed if names_exactly(acl.principal, scope.semantics)}
    patterns = [
        *((a.resource_type, a.pattern_type, a.resource_name) for a in changed),
        *patterns_of_added,
    ]
    is_wide = [a.principal not in narrow for a in changed] + [False] * len(patterns_of_added)
    index = PatternIndex.build(
        ((number, *pattern) for number, pattern in enumerate(patterns)), scope.semantics
    )
    resources: dict[tuple[str, str], bool] = {}
    for entry in scope.inventory.resources:
        matches = index.matches(entry.resource_type, entry.name)
        is_new = entry.key not in known
        if matches or is_new:
            resources[entry.key] = is_new or any(is_wide[number] for number in matches)
    return Touched(resources=resources, principals=frozenset(narrow) | added)


def amend(scope: Scope, pairing: Pairing, touched: Touched, before: Mapping[str, int]) -> None:
    """Put what was decided again in the place of what was: only rows that differ are written."""
    store, cluster = scope.store, scope.cluster_id
    old = {
        table: store.read_version(table, before.get(table)).where(F.col("cluster_id") == cluster)
        for table in ("explain_pair", "explain_class_pair", "ruleset", "ruleset_group")
    }
    pairs = _differences(
        _in_scope(scope, old["explain_pair"], touched), pairing.pairs, _PAIR, "ruleset_id"
    )
    class_pairs = _differences(
        _class_rows_in_scope(scope, old["explain_class_pair"], touched),
        pairing.class_pairs,
        _CLASS_PAIR,
        "ruleset_id",
    )
    groups = _differences(old["ruleset_group"], pairing.groups, ("group_id",), "group_id")
    for table, key, changes in (
        ("explain_pair", _PAIR, pairs),
        ("explain_class_pair", _CLASS_PAIR, class_pairs),
    ):
        _amend_table(scope, table, key, changes, changes)
    fresh_groups = pairing.groups.join(
        F.broadcast(groups.where("is_fresh").select("group_id")), on="group_id", how="left_semi"
    ).withColumn("is_fresh", F.lit(True))
    _amend_table(scope, "ruleset_group", ("group_id",), groups, fresh_groups)
    _amend_rulesets(scope, pairing, old["ruleset"], pairs, class_pairs)


def _amend_rulesets(
    scope: Scope,
    pairing: Pairing,
    old: DataFrame,
    pairs: DataFrame,
    class_pairs: DataFrame,
) -> None:
    """Add rulesets that are new, with their rulings; take away those that no pair has any more."""
    known = old.select("ruleset_id")
    fresh = settle(pairing.contents.join(known, on="ruleset_id", how="left_anti"))
    left = (
        pairs.where("NOT is_fresh")
        .select("ruleset_id")
        .unionByName(class_pairs.where("NOT is_fresh").select("ruleset_id"))
        .distinct()
        .where(~F.split("ruleset_id", ":")[0].isin(SUPER, NONE, OTHER))
    )
    for table in ("explain_pair", "explain_class_pair"):
        left = left.join(
            scope.written(table).select("ruleset_id"), on="ruleset_id", how="left_anti"
        )
    gone = settle(left.withColumn("is_fresh", F.lit(False)))
    rulesets = fresh.select(*RULESET).withColumn("is_fresh", F.lit(True))
    _amend_table(scope, "ruleset", ("ruleset_id",), gone, rulesets)
    ruled = rule_on(scope, pairing, fresh).withColumn("is_fresh", F.lit(True))
    _amend_table(scope, "explain_ruling", ("ruleset_id",), gone, ruled)


def _differences(old: DataFrame, new: DataFrame, key: tuple[str, ...], value: str) -> DataFrame:
    """Return rows of ``old`` that are gone and rows of ``new`` that are fresh."""
    columns = list(dict.fromkeys((*key, value)))
    sides = (
        old.select(*columns)
        .withColumn("side", F.lit(1))
        .unionByName(new.select(*columns).withColumn("side", F.lit(2)))
    )
    return settle(
        sides.groupBy(*columns)
        .agg(F.sum("side").alias("side"))
        .where(F.col("side") != 3)
        .select(*columns, (F.col("side") == 2).alias("is_fresh"))
    )


def _in_scope(scope: Scope, pairs: DataFrame, touched: Touched) -> DataFrame:
    """Keep the old pairs that were decided again, or whose principal or resource is gone."""
    rows = [(*resource, whole) for resource, whole in touched.resources.items()]
    looked_at = local_frame(
        scope.spark, rows, "resource_type STRING, resource_name STRING, is_whole BOOLEAN"
    )
    asked = local_frame(
        scope.spark,
        [(p, p in touched.principals) for p in scope.principal_names],
        "principal STRING, is_touched BOOLEAN",
    )
    return (
        pairs.join(F.broadcast(looked_at), on=["resource_type", "resource_name"], how="left")
        .join(F.broadcast(asked), on="principal", how="left")
        .join(_asked_resources(scope), on=["resource_type", "resource_name"], how="left")
        .where(
            F.col("is_touched").isNull()
            | F.col("is_asked").isNull()
            | F.col("is_whole")
            | (F.col("is_whole").isNotNull() & F.col("is_touched"))
        )
    )


def _class_rows_in_scope(scope: Scope, rows: DataFrame, touched: Touched) -> DataFrame:
    looked_at = local_frame(
        scope.spark,
        [(*resource, True) for resource in touched.resources],
        "resource_type STRING, resource_name STRING, is_touched BOOLEAN",
    )
    classes = sorted(set(classify_principals(scope).class_of.values()))
    return (
        rows.join(F.broadcast(looked_at), on=["resource_type", "resource_name"], how="left")
        .join(_asked_resources(scope), on=["resource_type", "resource_name"], how="left")
        .where(
            F.col("is_touched")
            | F.col("is_asked").isNull()
            | ~F.col("principal_class").isin(*classes)
        )
    )


def _asked_resources(scope: Scope) -> DataFrame:
    return F.broadcast(
        local_frame(
            scope.spark,
            [(*entry.key, True) for entry in scope.inventory.resources],
            "resource_type STRING, resource_name STRING, is_asked BOOLEAN",
        )
    )


def _amend_table(
    scope: Scope, table: str, key: tuple[str, ...], gone: DataFrame, fresh: DataFrame
) -> None:
    """Delete the rows whose key is gone and insert the fresh ones, in one commit."""
    names = TABLES[table].column_names
    columns = {name: kind for name, kind, _ in TABLES[table].columns}
    rows = (
        gone.where("NOT is_fresh")
        .select(*key, "is_fresh")
        .distinct()
        .unionByName(fresh.where("is_fresh"), allowMissingColumns=True)
        .withColumn("cluster_id", F.lit(scope.cluster_id))
    )
    missing = {n: F.lit(None).cast(columns[n]) for n in names if n not in rows.columns}
    rows = settle(rows.withColumns(missing).select(*names, "is_fresh"))
    if rows.isEmpty():
        return
    scope.store.amend(table, rows, key)
