"""Inventory and ACLs → the factored explain tables, written; the transforms are elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from aclkit.delta import Store, schema_of
from aclkit.explain import frames, rulesets, rulings
from aclkit.explain.views import explain_sql
from aclkit.frame import local_frame
from aclkit.inventory.entry import Entry
from aclkit.inventory.identity import PrincipalClasses, classify, match_hosts
from aclkit.inventory.survey import Inventory, Texts
from aclkit.model.acl import ANY_OTHER
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.model.principal import parse_principal
from aclkit.model.semantics import BROKER, BrokerSettings, Semantics
from aclkit.patterns.columns import with_matched_patterns
from aclkit.patterns.match import names_exactly
from aclkit.patterns.trie import PatternIndex
from aclkit.publish import Run
from aclkit.schemas import TABLES


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What one materialize is about: the run, the ACLs' texts, what is asked, how ACLs are read.

    What is written is kept too: a later step joins with the rows in memory instead of asking
    Delta for them again. With ``is_trial`` nothing is written: to try another reading.
    """

    run: Run
    texts: Texts
    inventory: Inventory
    semantics: Semantics
    is_trial: bool = False
    kept: dict[str, DataFrame] = field(default_factory=dict)

    @property
    def store(self) -> Store:
        """The warehouse's tables."""
        return self.run.store

    @property
    def spark(self) -> SparkSession:
        """The session."""
        return self.run.store.spark

    @property
    def cluster_id(self) -> str:
        """The cluster."""
        return self.run.cluster_id

    def write(self, table: str, rows: DataFrame) -> None:
        """Put the rows in the place of the cluster's rows of a table."""
        frame = rows.withColumn("cluster_id", F.lit(self.cluster_id))
        self.kept[table] = frame.select(*TABLES[table].column_names).persist()
        if not self.is_trial:
            self.store.replace_cluster(table, self.kept[table], self.cluster_id)

    def read(self, table: str) -> DataFrame:
        """Return the cluster's rows of a table: those kept, or those written before."""
        return self.kept[table] if table in self.kept else self.written(table)

    def written(self, table: str) -> DataFrame:
        """Read the cluster's rows of a table back from Delta."""
        return self.store.cluster_rows(table, self.cluster_id)

    def forget(self) -> None:
        """Free what was kept."""
        for frame in self.kept.values():
            frame.unpersist()
        self.kept.clear()


def write_inventory(scope: Scope, settings: BrokerSettings) -> None:
    """Write ``principal``, ``host``, ``resource`` and ``host_match``."""
    inventory, cluster = scope.inventory, scope.cluster_id
    classes = _classes(scope)
    matches = match_hosts(scope.texts.hosts, _names(inventory.hosts), scope.semantics)
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
    scope.write("principal", _frame(scope, principals, "principal"))
    scope.write("host", _frame(scope, hosts, "host"))
    scope.write("resource", _frame(scope, resources, "resource"))
    scope.write("host_match", _frame(scope, [(cluster, *m) for m in matches], "host_match"))


def write_setting(scope: Scope, settings: BrokerSettings) -> None:
    """Note the broker settings with the time since which they hold, when they are new."""
    newest = scope.read("setting").orderBy(F.col("since_time").desc()).limit(1).collect()
    users = sorted(settings.super_users)
    if newest and (newest[0]["super_users"], newest[0]["allow_everyone"]) == (
        users,
        settings.allow_everyone,
    ):
        return
    row = (scope.cluster_id, scope.run.started_at, users, settings.allow_everyone)
    scope.store.append("setting", _frame(scope, [row], "setting"))


def write_rulesets(scope: Scope, acls: DataFrame) -> None:
    """Write ``ruleset_group``, ``ruleset``, ``explain_pair`` and ``explain_class_pair``."""
    patterns = _patterns(scope)
    groups = rulesets.group_acls(acls, patterns).persist()
    resources = _matched_resources(scope).persist()
    reached = rulesets.reach(resources, groups).persist()
    classes = _classes(scope)
    texts = [(c, t) for c, of_class in classes.texts_of.items() for t in of_class]
    late = _wildcard_last(scope.semantics)
    shared = rulesets.with_class_ruleset_id(
        rulesets.class_rulesets(
            resources,
            reached,
            local_frame(scope.spark, texts, "principal_class STRING, principal STRING"),
            local_frame(scope.spark, [(c,) for c in classes.texts_of], "principal_class STRING"),
        ),
        late,
    ).persist()
    own = rulesets.with_ruleset_id(
        rulesets.pair_rulesets(reached, _nameable(scope, classes), shared), late
    ).persist()
    scope.write("ruleset_group", groups)
    scope.write("explain_pair", own)
    scope.write("explain_class_pair", shared)
    scope.write("ruleset", _all_rulesets(scope.spark, own, shared))
    for frame in (groups, resources, reached, shared, own):
        frame.unpersist()


def write_rulings(scope: Scope, acls: DataFrame, *, allow_everyone: bool) -> None:
    """Write ``explain_ruling``: each ruleset decided once."""
    spark, semantics = scope.spark, scope.semantics
    operations = frames.operations(spark)
    patterns = _patterns(scope)
    entries = rulings.rank_entries(
        acls,
        (
            patterns,
            frames.principal_ranks(spark, scope.texts, semantics),
            frames.host_ranks(spark, scope.texts, semantics),
        ),
        frames.covers(spark),
        scope.read("host_match"),
        semantics,
    )
    groups = scope.read("ruleset_group").join(
        F.broadcast(patterns.drop("pattern_rank", "name_order")),
        on=["resource_type", "pattern_type", "resource_name"],
        how="inner",
    )
    best = rulings.best_of_groups(entries, groups, semantics)
    with_acls = scope.read("ruleset").where(F.size("group_ids") > 0)
    decided = rulings.decide_rulesets(with_acls, best, operations, semantics)
    fixed = rulings.fixed_rulings(operations, allow_everyone=allow_everyone)
    scope.write("explain_ruling", decided.unionByName(fixed))


def write_dense(scope: Scope) -> None:
    """Write the table ``explain``: the view of that name, multiplied out."""
    scope.store.replace_cluster("explain", explain_view(scope, {}), scope.cluster_id)


def explain_view(scope: Scope, instead: Mapping[str, DataFrame]) -> DataFrame:
    """Return the view ``explain`` of the cluster over its tables, some of them replaced."""
    names = {}
    for table in EXPLAIN_TABLES:
        frame = instead.get(table)
        names[table] = f"aclkit_{table}"
        (scope.read(table) if frame is None else frame).createOrReplaceTempView(names[table])
    return scope.spark.sql(explain_sql(names))


EXPLAIN_TABLES = (
    "principal",
    "host",
    "resource",
    "explain_pair",
    "explain_class_pair",
    "explain_ruling",
)


def _names(entries: Iterable[Entry]) -> list[str]:
    return [entry.name for entry in entries]


def _common(entry: Entry) -> tuple[bool, str, str | None, dict[str, str]]:
    return entry.is_any_other, entry.origin, entry.witness, dict(entry.attributes)


def _frame(scope: Scope, rows: Sequence[tuple[Any, ...]], table: str) -> DataFrame:
    return local_frame(scope.spark, rows, schema_of(table))


def _classes(scope: Scope) -> PrincipalClasses:
    return classify(_names(scope.inventory.principals), scope.texts.principals, scope.semantics)


def _patterns(scope: Scope) -> DataFrame:
    rows = frames.pattern_rows(scope.texts, scope.semantics)
    return local_frame(scope.spark, rows, frames.PATTERN_DDL)


def _matched_resources(scope: Scope) -> DataFrame:
    index = PatternIndex.build(
        ((n, *pattern) for n, pattern in enumerate(scope.texts.patterns)), scope.semantics
    )
    return with_matched_patterns(scope.read("resource"), index)


def _nameable(scope: Scope, classes: PrincipalClasses) -> DataFrame:
    """Return the principals that an ACL can name exactly; super users never need one."""
    return (
        scope.read("principal")
        .where(~F.col("is_super_user") & ~F.col("is_any_other"))
        .join(
            local_frame(
                scope.spark,
                [(p,) for p in classes.class_of if names_exactly(p, scope.semantics)],
                "principal STRING",
            ),
            on="principal",
            how="inner",
        )
        .select("principal", "principal_class")
    )


def _wildcard_last(semantics: Semantics) -> Column:
    if semantics.deciding_acl != BROKER:
        return F.lit(False)
    return F.col("resource_name") < "*"


def _all_rulesets(spark: SparkSession, own: DataFrame, shared: DataFrame) -> DataFrame:
    columns = ("ruleset_id", "resource_type", "group_ids", "wildcard_last")
    fixed: list[tuple[str, str | None]] = [(rulesets.SUPER, None)]
    fixed += [
        (f"{kind}:{resource_type}", resource_type)
        for kind in (rulesets.NONE, rulesets.OTHER)
        for resource_type in OPERATIONS_OF_TYPE
    ]
    rows = local_frame(
        spark,
        [(name, resource_type, [], False) for name, resource_type in fixed],
        "ruleset_id STRING, resource_type STRING, group_ids ARRAY<STRING>, wildcard_last BOOLEAN",
    )
    found = own.select(*columns).unionByName(shared.where(F.size("group_ids") > 0).select(*columns))
    return found.dropDuplicates(["ruleset_id"]).unionByName(rows)
