"""The written tables → proof that every decision is there and right, or a failed run."""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from aclkit.decide.rules import decide
from aclkit.errors import DataError
from aclkit.explain import frames
from aclkit.explain.rulesets import SUPER
from aclkit.explain.tables import Scope, explain_view
from aclkit.model.acl import ANY_OTHER, Acl, Request
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
        DataError: a pair twice, a ruleset without its rulings, a pair without its ruleset, or a
            cell that the pure rule decides otherwise.
    """
    _refuse_duplicates(scope)
    decided = rows_decided(scope)
    scope.run.counts |= {
        "rows_expected": expected,
        "rows_decided": decided,
        "pairs": scope.read("explain_pair").count(),
        "class_pairs": scope.read("explain_class_pair").count(),
        "rulesets": scope.read("ruleset").count(),
        "rulings": scope.read("explain_ruling").count(),
    }
    if decided != expected:
        raise DataError(f"expected {expected:,} decisions, the written tables hold {decided:,}")
    if scope.store.has("explain"):
        dense = scope.read("explain").where(F.col("decision").isNotNull()).count()
        if dense != expected:
            raise DataError(f"expected {expected:,} rows in explain, it holds {dense:,}")
    scope.run.counts["cells_checked"] = _check_sample(scope, acls, settings)


def rows_decided(scope: Scope) -> int:
    """Count the decisions that the factored tables hold, without multiplying them out.

    A (class, resource) counts for each principal of the class and each host, and for every
    operation for which its ruleset has a ruling of any other host.
    """
    answered = (
        scope.read("explain_ruling")
        .where(F.col("host") == ANY_OTHER)
        .groupBy("ruleset_id")
        .agg(F.count_distinct("operation").alias("answers"))
    )
    complete = (
        scope.read("ruleset")
        .join(answered, on="ruleset_id", how="inner")
        .join(
            frames.operations(scope.spark).groupBy("resource_type").agg(F.count("*").alias("ops")),
            on="resource_type",
            how="left",
        )
        .where((F.col("answers") == F.col("ops")) | (F.col("ruleset_id") == SUPER))
        .select("ruleset_id", F.col("ops"))
    )
    principals = scope.read("principal")
    ordinary = principals.where(~F.col("is_super_user"))
    hosts = scope.read("host").count()
    by_class = ordinary.groupBy("principal_class").agg(F.count("*").alias("members"))
    shared = (
        scope.read("explain_class_pair")
        .join(complete, on="ruleset_id", how="inner")
        .join(by_class, on="principal_class", how="inner")
        .agg(F.sum(F.col("members") * F.col("ops")))
        .first()
    )
    broken = scope.read("explain_pair").join(complete, on="ruleset_id", how="left_anti").count()
    supers = principals.where("is_super_user").count()
    all_operations = (
        scope.read("resource")
        .join(frames.operations(scope.spark), on="resource_type", how="inner")
        .count()
    )
    total = int(shared[0] or 0) if shared is not None else 0
    return hosts * (total + supers * all_operations) - broken


def _refuse_duplicates(scope: Scope) -> None:
    keys = {
        "principal": ["principal"],
        "host": ["host"],
        "resource": ["resource_type", "resource_name"],
        "explain_pair": ["principal", "resource_type", "resource_name"],
        "explain_class_pair": ["principal_class", "resource_type", "resource_name"],
        "ruleset": ["ruleset_id"],
        "explain_ruling": ["ruleset_id", "host", "operation"],
    }
    for table, key in keys.items():
        twice = scope.read(table).groupBy(*key).count().where("count > 1").limit(1).collect()
        if twice:
            raise DataError(f"expected one row per {', '.join(key)} in {table}, found {twice[0]}")


def _check_sample(scope: Scope, acls: DataFrame, settings: BrokerSettings) -> int:
    """Decide random cells of the view again by the pure rule; return how many."""
    sample = {
        "principal": scope.read("principal").orderBy(F.rand()).limit(_SIDE * 2),
        "host": scope.read("host").orderBy(F.rand()).limit(_SIDE),
        "resource": scope.read("resource").orderBy(F.rand()).limit(_SIDE * 2),
    }
    sample = {
        name: scope.spark.createDataFrame(f.collect(), f.schema) for name, f in sample.items()
    }
    cells = explain_view(scope.run, sample).orderBy(F.rand()).limit(SAMPLE).collect()
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
    keys = scope.spark.createDataFrame(
        sorted(wanted), "resource_type STRING, pattern_type STRING, resource_name STRING"
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
