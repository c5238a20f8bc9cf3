"""The written tables → proof that every decision is there and right, or a failed run."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from aclkit.decide.rules import decide
from aclkit.errors import DataError
from aclkit.explain import frames
from aclkit.explain.tables import EXPLAIN_TABLES, Scope, explain_view
from aclkit.frame import local_frame
from aclkit.model.acl import ANY_OTHER, Acl, Request
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.model.semantics import BrokerSettings
from aclkit.patterns.match import pattern_matches

SAMPLE: Final = 1_000
"""How many cells of the view are decided again by the pure rule."""

_SIDE: Final = 8


def check_completeness(
    scope: Scope, acls: DataFrame, settings: BrokerSettings, expected: int
) -> None:
    """Read the tables back: every decision once, and a sample of them by the pure rule.

    The counts go into the run's row.

    Raises:
        DataError: a key twice, a ruleset without its rulings, a pair without its ruleset, or a
            cell that the pure rule decides otherwise.
    """
    counts = _count_keys(scope)
    decided = rows_decided(scope, counts)
    scope.run.counts |= {
        "rows_expected": expected,
        "rows_decided": decided,
        **{table: counts.get(table, 0) for table in _KEYS},
    }
    if decided != expected:
        raise DataError(f"expected {expected:,} decisions, the written tables hold {decided:,}")
    if scope.store.has("explain"):
        dense = scope.written("explain").where(F.col("decision").isNotNull()).count()
        if dense != expected:
            raise DataError(f"expected {expected:,} rows in explain, it holds {dense:,}")
    scope.run.counts["cells_checked"] = _check_sample(scope, acls, settings)


def rows_decided(scope: Scope, counts: Mapping[str, int]) -> int:
    """Count the decisions that the factored tables hold, without multiplying them out.

    A (class, resource) counts for each principal of the class and each host, and for every
    operation of the type when its ruleset has a ruling of any other host for all of them. A
    pair whose own ruleset lacks one takes its operations away again.
    """
    operations = frames.operations(scope.spark)
    known = operations.groupBy("resource_type").agg(F.count("*").alias("known"))
    answered = (
        scope.written("explain_ruling")
        .where(F.col("host") == ANY_OTHER)
        .groupBy("ruleset_id")
        .agg(F.count_distinct("operation").alias("answers"))
    )
    complete = (
        scope.written("ruleset")
        .join(answered, on="ruleset_id", how="inner")
        .join(F.broadcast(known), on="resource_type", how="inner")
        .where(F.col("answers") == F.col("known"))
        .select("ruleset_id", "known")
        .persist()
    )
    members = scope.written("principal").where(~F.col("is_super_user")).groupBy("principal_class")
    shared = (
        scope.written("explain_class_pair")
        .join(complete, on="ruleset_id", how="inner")
        .join(members.agg(F.count("*").alias("members")), on="principal_class", how="inner")
        .agg(F.sum(F.col("members") * F.col("known")).alias("cells"))
        .collect()[0]["cells"]
    )
    broken = (
        scope.written("explain_pair")
        .join(complete, on="ruleset_id", how="left_anti")
        .join(F.broadcast(known), on="resource_type", how="inner")
        .agg(F.sum("known").alias("cells"))
        .collect()[0]["cells"]
    )
    complete.unpersist()
    of_supers = counts.get(_SUPERS, 0) * sum(
        counts.get(f"{_TYPE}{resource_type}", 0) * len(known_operations)
        for resource_type, known_operations in OPERATIONS_OF_TYPE.items()
    )
    return counts.get("host", 0) * (int(shared or 0) - int(broken or 0) + of_supers)


_KEYS: Final = {
    "principal": ["principal"],
    "host": ["host"],
    "resource": ["resource_type", "resource_name"],
    "explain_pair": ["principal", "resource_type", "resource_name"],
    "explain_class_pair": ["principal_class", "resource_type", "resource_name"],
    "ruleset": ["ruleset_id"],
    "explain_ruling": ["ruleset_id", "host", "operation"],
}
_SUPERS: Final = "super users"
_TYPE: Final = "resources of "


def _count_keys(scope: Scope) -> dict[str, int]:
    """Count the rows of every written table in one job, and refuse a key that stands twice.

    Keys are compared by a hash first; only where two hashes meet are the keys looked at.
    """
    sides = [_hashed(scope.written(table), table, key) for table, key in _KEYS.items()]
    every = reduce(DataFrame.unionByName, sides)
    rows = (
        every.groupBy("of", "key")
        .agg(F.count("*").alias("times"))
        .groupBy("of")
        .agg(F.sum("times").alias("rows"), F.max("times").alias("most"))
        .collect()
    )
    for row in rows:
        if row["most"] > 1:
            _refuse_duplicates(scope, row["of"])
    counts = {row["of"]: int(row["rows"]) for row in rows}
    extra = (
        scope.written("principal")
        .where("is_super_user")
        .select(F.lit(_SUPERS).alias("of"))
        .unionByName(
            scope.written("resource").select(F.concat(F.lit(_TYPE), "resource_type").alias("of"))
        )
    )
    return counts | {row["of"]: row["count"] for row in extra.groupBy("of").count().collect()}


def _hashed(rows: DataFrame, table: str, key: list[str]) -> DataFrame:
    return rows.select(F.lit(table).alias("of"), F.xxhash64(*key).alias("key"))


def _refuse_duplicates(scope: Scope, table: str) -> None:
    key = _KEYS[table]
    twice = scope.written(table).groupBy(*key).count().where("count > 1").limit(1).collect()
    if twice:
        raise DataError(f"expected one row per {', '.join(key)} in {table}, found {twice[0]}")


def _check_sample(scope: Scope, acls: DataFrame, settings: BrokerSettings) -> int:
    """Decide random cells of the view again by the pure rule; return how many."""
    sample = {
        "principal": scope.written("principal").orderBy(F.rand()).limit(_SIDE * 2),
        "host": scope.written("host").orderBy(F.rand()).limit(_SIDE),
        "resource": scope.written("resource").orderBy(F.rand()).limit(_SIDE * 2),
    }
    sample = {n: local_frame(scope.spark, f.collect(), f.schema) for n, f in sample.items()}
    written = {table: scope.written(table) for table in EXPLAIN_TABLES}
    cells = explain_view(scope, written | sample).orderBy(F.rand()).limit(SAMPLE).collect()
    near = _acls_reaching(scope, acls, {(c["resource_type"], c["resource_name"]) for c in cells})
    for cell in cells:
        request = Request(
            principal=cell["principal"],
            host=cell["host"],
            operation=cell["operation"],
            resource_type=cell["resource_type"],
            resource_name=cell["resource_name"],
        )
        ruling = decide(
            near[request.resource_type, request.resource_name], request, settings, scope.semantics
        )
        found = (cell["decision"], cell["rule"], cell["deciding_acl_id"])
        right = (ruling.decision, ruling.rule, ruling.acl.acl_id if ruling.acl else None)
        if found != right:
            raise DataError(f"{request}: the tables say {found}, the rule says {right}")
    return len(cells)


def _acls_reaching(
    scope: Scope, acls: DataFrame, resources: set[tuple[str, str]]
) -> dict[tuple[str, str], list[Acl]]:
    """Collect the ACLs that reach each resource, by the specification and not the index."""
    patterns = {
        resource: {
            (kind, name)
            for resource_type, kind, name in scope.texts.patterns
            if resource_type == resource[0]
            and pattern_matches(kind, name, resource[1], scope.semantics)
        }
        for resource in resources
    }
    wanted = {
        (resource[0], kind, name) for resource, found in patterns.items() for kind, name in found
    }
    if not wanted:
        return {resource: [] for resource in resources}
    keys = local_frame(
        scope.spark,
        sorted(wanted),
        "resource_type STRING, pattern_type STRING, resource_name STRING",
    )
    columns = Acl.__slots__
    rows = acls.join(
        F.broadcast(keys), on=["resource_type", "pattern_type", "resource_name"], how="left_semi"
    ).select(*columns)
    found_acls = [Acl(**row.asDict()) for row in rows.collect()]
    return {
        resource: [
            a
            for a in found_acls
            if a.resource_type == resource[0] and (a.pattern_type, a.resource_name) in found
        ]
        for resource, found in patterns.items()
    }
