"""Inventory and ACLs → the factored explain tables, written; the transforms are elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from aclkit.decide.second_search import SecondSearch
from aclkit.delta import Store, schema_of
from aclkit.explain import frames, reach, rulesets, rulings
from aclkit.explain.reach import Late, Seed
from aclkit.explain.views import EXPLAIN_TABLES, explain_sql
from aclkit.frame import local_frame, settle
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
    super_users: frozenset[str]
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

    @property
    def pairs(self) -> int:
        """How many (principal, resource) are asked about."""
        return len(self.inventory.principals) * len(self.inventory.resources)

    @property
    def partitions(self) -> int:
        """Over how many parts large work is spread: one where it is small."""
        by_pairs = self.pairs // _PAIRS_OF_A_PART
        by_patterns = len(self.texts.patterns) // _PATTERNS_OF_A_PART
        return max(1, min(_MOST_PARTS, max(by_pairs, by_patterns)))

    def small(self, rows: DataFrame, count: int) -> DataFrame:
        """Have a frame broadcast, if it has few enough rows for that."""
        return F.broadcast(rows) if count <= _BROADCAST_ROWS else rows

    def write(self, table: str, rows: DataFrame) -> None:
        """Put the rows in the place of the cluster's rows of a table."""
        frame = rows.withColumn("cluster_id", F.lit(self.cluster_id))
        frame = frame.select(*TABLES[table].column_names)
        if self.is_trial or self.pairs <= _PAIRS_TO_KEEP:
            frame = self.kept[table] = frame.persist()
        if not self.is_trial:
            self.store.replace_cluster(table, frame, self.cluster_id)

    def write_all(self, frames: Mapping[str, DataFrame]) -> None:
        """Write several tables at once: most of a small write is waiting for the driver."""
        with ThreadPoolExecutor(_WRITERS) as pool:
            for written in [pool.submit(self.write, *item) for item in frames.items()]:
                written.result()

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


_PAIRS_OF_A_PART = 800_000
_PATTERNS_OF_A_PART = 50_000
_MOST_PARTS = 64
_BROADCAST_ROWS = 1_000_000
_PAIRS_TO_KEEP = 1_000_000
_WRITERS = 4


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
    rows: dict[str, list[tuple[Any, ...]]] = {
        "principal": principals,
        "host": hosts,
        "resource": resources,
        "host_match": [(cluster, *match) for match in matches],
    }
    scope.write_all({table: _frame(scope, rows[table], table) for table in rows})


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairing:
    """What deciding needs of the pairing: frames that stay in memory until then.

    Attributes:
        numbered: the ACLs with their numbers and ranks.
        rulesets: (set1, set2, ruleset_id, resource_type) of all rulesets that hold an ACL.
        own_parts: the groups of principals' rulesets, see ``rulesets.parts_of``.
        class_parts: the groups of classes' rulesets.
        late: for which resources the broker meets LITERAL ``*`` last.
    """

    numbered: DataFrame
    rulesets: DataFrame
    own_parts: DataFrame
    class_parts: DataFrame
    late: Late
    persisted: tuple[DataFrame, ...]

    def forget(self) -> None:
        """Free what was kept."""
        for frame in self.persisted:
            frame.unpersist()


def write_rulesets(scope: Scope, acls: DataFrame) -> Pairing:
    """Write ``ruleset_group``, ``ruleset``, ``explain_pair`` and ``explain_class_pair``."""
    spark, texts, semantics = scope.spark, scope.texts, scope.semantics
    seed, classes = Seed(), _classes(scope)
    numbered = settle(
        reach.number_acls(
            acls,
            frames.patterns(spark, texts, semantics),
            frames.principals(spark, texts, semantics),
        )
    )
    groups = settle(reach.group_acls(numbered))
    resources, late = _matched_resources(scope, seed)
    granted = reach.grants(groups, _subjects(scope, classes, seed))
    reached = reach.reach(resources, scope.small(granted, len(texts.patterns)))
    touched = settle(reach.touch(reached))
    of_classes = reach.class_pairs(touched)
    pairs = reach.own_pairs(touched, _classes_of(scope, classes), of_classes)

    class_parts = settle(
        rulesets.parts_of(
            reached.where("subject < 0"), F.broadcast(rulesets.first_pairs(of_classes))
        )
    )
    class_contents = settle(rulesets.contents(class_parts, groups, None, late))
    firsts = settle(rulesets.first_pairs(pairs))
    count = firsts.count()
    own_parts = settle(rulesets.parts_of(reached.where("subject >= 0"), scope.small(firsts, count)))
    own_contents = settle(rulesets.contents(own_parts, groups, class_contents, late))

    names = resources.select("resource_no", "resource_type", "resource_name")
    ids = own_contents.select(*rulesets.SET, "ruleset_id")
    scope.write_all(
        {
            "explain_pair": pairs.join(scope.small(ids, count), on=[*rulesets.SET], how="inner")
            .join(F.broadcast(names), on="resource_no", how="inner")
            .join(F.broadcast(_principal_names(scope)), on="subject", how="inner")
            .sortWithinPartitions("subject", "resource_no"),
            "explain_class_pair": _class_pairs(scope, resources, of_classes, class_contents),
            "ruleset": own_contents.unionByName(class_contents)
            .select("ruleset_id", "resource_type", "group_ids", "wildcard_last")
            .unionByName(_fixed_rulesets(spark)),
            "ruleset_group": groups,
        }
    )
    columns = (*rulesets.SET, "ruleset_id", "resource_type")
    return Pairing(
        numbered=numbered,
        rulesets=own_contents.select(*columns).unionByName(class_contents.select(*columns)),
        own_parts=own_parts,
        class_parts=class_parts,
        late=late,
        persisted=(
            numbered, groups, resources, touched, class_parts, class_contents,
            firsts, own_parts, own_contents,
        ),
    )  # fmt: skip


def write_rulings(scope: Scope, pairing: Pairing, *, allow_everyone: bool) -> None:
    """Write ``explain_ruling``: each ruleset decided once."""
    spark, semantics = scope.spark, scope.semantics
    operations = frames.operations(spark)
    host_names = [entry.name for entry in scope.inventory.hosts]
    numbers = {host: number for number, host in enumerate(host_names)}
    matches = match_hosts(scope.texts.hosts, host_names, semantics)
    placed = settle(
        rulings.place_acls(
            pairing.numbered,
            frames.hosts(spark, scope.texts, matches, numbers, semantics),
            frames.covers(spark),
            semantics,
        )
    )
    best = settle(rulings.best_of_groups(placed, semantics))
    literal = ("LITERAL", "*")
    found = [(n, p[1:] == literal, not p[2]) for n, p in enumerate(scope.texts.patterns)]
    wildcards = rulings.Wildcards(
        of_denies=tuple(n for n, is_literal, _ in found if is_literal),
        of_allows=tuple(n for n, is_literal, is_empty in found if is_literal or is_empty),
    )
    decide = partial(
        rulings.best_of_rulesets,
        wildcards=wildcards,
        late=pairing.late,
        semantics=semantics,
        partitions=scope.partitions,
    )
    of_classes = settle(decide(pairing.class_parts, best, None))
    own = settle(
        decide(pairing.own_parts, scope.small(best, len(scope.texts.patterns)), of_classes)
    )
    decided = rulings.decide_rulesets(
        pairing.rulesets, own.unionByName(of_classes), operations, semantics
    )
    named = rulings.name_rulings(
        decided,
        scope.small(placed, len(scope.texts.patterns)),
        frames.numbered(spark, host_names, "host_no", "host"),
    )
    fixed = rulings.fixed_rulings(operations, allow_everyone=allow_everyone)
    scope.write("explain_ruling", named.unionByName(fixed))
    for frame in (placed, best, of_classes, own):
        frame.unpersist()


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


def _names(entries: Iterable[Entry]) -> list[str]:
    return [entry.name for entry in entries]


def _common(entry: Entry) -> tuple[bool, str, str | None, dict[str, str]]:
    return entry.is_any_other, entry.origin, entry.witness, dict(entry.attributes)


def _frame(scope: Scope, rows: Sequence[tuple[Any, ...]], table: str) -> DataFrame:
    return local_frame(scope.spark, rows, schema_of(table))


def _classes(scope: Scope) -> PrincipalClasses:
    return classify(_names(scope.inventory.principals), scope.texts.principals, scope.semantics)


def _matched_resources(scope: Scope, seed: Seed) -> tuple[DataFrame, Late]:
    """Number the resources and find the patterns that match each.

    Those that the broker looks at in another order go first; the rest follow by name, so that a
    part, a range of numbers, is a range of names.
    """
    search = SecondSearch.of(scope.texts.patterns)
    is_broker = scope.semantics.deciding_acl == BROKER

    def lateness(entry: Entry) -> int:
        if not is_broker or entry.name >= "*":
            return 0
        return 2 if search.wildcard_is_last(entry.resource_type, entry.name) else 1

    entries = sorted(
        ((-lateness(e), e.resource_type, e.name) for e in scope.inventory.resources),
    )
    parts, count = scope.partitions, len(entries)
    rows = [
        (number * parts // count, number, late and seed.late - late, *resource)
        for number, (late, *resource) in enumerate(entries)
    ]
    index = PatternIndex.build(
        ((n, *pattern) for n, pattern in enumerate(scope.texts.patterns)), scope.semantics
    )
    names = local_frame(
        scope.spark,
        rows,
        "part INT, resource_no INT, late BIGINT, resource_type STRING, resource_name STRING",
    )
    matched = settle(with_matched_patterns(names.repartition(parts, "part"), index))
    all_below = sum(late == -2 for late, *_ in entries)
    return matched, Late(all_below, all_below + sum(late == -1 for late, *_ in entries))


def _subjects(scope: Scope, classes: PrincipalClasses, seed: Seed) -> DataFrame:
    """Return whom each principal text of ACLs names exactly, or the classes it stands for."""
    named = {
        entry.name: number
        for number, entry in enumerate(scope.inventory.principals)
        if not entry.is_any_other and entry.name not in scope.super_users
    }
    rows = [
        (number, named[text])
        for number, text in enumerate(scope.texts.principals)
        if text in named and names_exactly(text, scope.semantics)
    ]
    text_no = {text: number for number, text in enumerate(scope.texts.principals)}
    for class_no, texts in enumerate(classes.texts_of.values()):
        rows += [(text_no[text], -1 - class_no) for text in texts]
    return local_frame(
        scope.spark,
        [(*row, seed.first, seed.second) for row in rows],
        "text_no INT, subject INT, seed1 BIGINT, seed2 BIGINT",
    )


def _classes_of(scope: Scope, classes: PrincipalClasses) -> DataFrame:
    numbers = {class_id: -1 - n for n, class_id in enumerate(classes.texts_of)}
    rows = [
        (subject, numbers[classes.class_of[name]])
        for subject, name in enumerate(_names(scope.inventory.principals))
    ]
    return local_frame(scope.spark, rows, "subject INT, class_no INT")


def _principal_names(scope: Scope) -> DataFrame:
    return frames.numbered(scope.spark, _names(scope.inventory.principals), "subject", "principal")


def _class_pairs(
    scope: Scope, resources: DataFrame, of_classes: DataFrame, contents: DataFrame
) -> DataFrame:
    """Return every (class, resource) with its ruleset: found, or one of the fixed ones."""
    classes = local_frame(
        scope.spark,
        [(-1 - number, name) for number, name in enumerate(_classes(scope).texts_of)],
        "subject INT, principal_class STRING",
    )
    found = of_classes.join(
        F.broadcast(contents.select(*rulesets.SET, "ruleset_id")), on=[*rulesets.SET], how="inner"
    ).select("resource_no", "subject", "ruleset_id")
    return (
        resources.select(
            "resource_no", "resource_type", "resource_name", F.size("pattern_ids").alias("reach")
        )
        .crossJoin(F.broadcast(classes))
        .join(found, on=["resource_no", "subject"], how="left")
        .withColumn("ruleset_id", F.coalesce("ruleset_id", rulesets.fixed_id(F.col("reach") > 0)))
    )


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
