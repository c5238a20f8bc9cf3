"""ACLs and inventory → which ruleset applies to each pair."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from aclkit.model.semantics import BROKER
from aclkit.pipeline.explain import frames, reach, rulesets
from aclkit.pipeline.explain.reach import AMONG_ALL, AMONG_DENIES, NEVER, Late, Seed
from aclkit.pipeline.explain.scope import Scope
from aclkit.pipeline.inventory.identity import PrincipalClasses
from aclkit.rules.decide.broker_rescan import BrokerRescan
from aclkit.rules.decide.order import WildcardLast
from aclkit.rules.patterns.columns import with_matched_patterns
from aclkit.rules.patterns.match import names_exactly
from aclkit.rules.patterns.trie import PatternIndex
from aclkit.runtime.frame import Steps, broadcast_if_small, local_frame


@dataclass(frozen=True, slots=True)
class Matching:
    """The resources asked about, numbered, with the patterns that match each.

    Attributes:
        resources: (part, resource_no, salt, resource_type, resource_name, pattern_ids).
        late: for which resources the broker meets LITERAL ``*`` last.
        seed: what the fingerprints of this run are made from.
    """

    resources: DataFrame
    late: Late
    seed: Seed


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairing:
    """Pairs and their rulesets, computed and not yet written.

    Attributes:
        groups: ``ruleset_group`` rows.
        pairs: ``explain_pair`` rows, in files by principal.
        class_pairs: ``explain_class_pair`` rows.
        contents: ``ruleset`` rows of rulesets that hold an ACL, with ``rulesets.SET``.
        own_parts: the groups of principals' rulesets, see ``rulesets.parts_of``.
        class_parts: the groups of classes' rulesets.
        late: for which resources the broker meets LITERAL ``*`` last.
    """

    groups: DataFrame
    pairs: DataFrame
    class_pairs: DataFrame
    contents: DataFrame
    own_parts: DataFrame
    class_parts: DataFrame
    late: Late


def number_acls(scope: Scope, acls: DataFrame) -> DataFrame:
    """Return the ACLs with their numbers and ranks."""
    return reach.number_acls(acls, *_texts(acls.sparkSession, scope))


def pair_up(scope: Scope, ranked: DataFrame, matching: Matching, steps: Steps) -> Pairing:
    """Find the ruleset of every pair.

    Args:
        scope: what is asked about.
        ranked: result of ``rulings.rank_acls``, computed.
        matching: result of ``match_resources``.
        steps: what is computed on the way.
    """
    spark, classes = ranked.sparkSession, scope.classes
    resources, late, parts = matching.resources, matching.late, scope.partitions
    groups = steps.checkpoint(reach.group_acls(ranked))
    granted = reach.grants(groups, _subjects(spark, scope, matching.seed))
    reached = reach.reach(resources, broadcast_if_small(granted, scope.acls))
    sets = steps.checkpoint(reach.sets_of_groups(reached))
    of_classes = reach.class_pairs(sets)
    pairs = reach.own_pairs(sets, _classes_of(spark, scope), of_classes)

    class_parts = steps.checkpoint(
        rulesets.parts_of(
            reached.where("subject < 0"), F.broadcast(rulesets.first_pairs(of_classes))
        )
    )
    class_contents = steps.checkpoint(rulesets.contents(class_parts, None, late, parts))
    firsts = steps.checkpoint(rulesets.first_pairs(pairs))
    count = firsts.count()
    own_parts = steps.checkpoint(
        rulesets.parts_of(reached.where("subject >= 0"), broadcast_if_small(firsts, count))
    )
    own_contents = steps.checkpoint(rulesets.contents(own_parts, class_contents, late, parts))
    names = resources.select("resource_no", "resource_type", "resource_name")
    principals = frames.numbered(spark, scope.principal_names, "subject", "principal")
    ids = own_contents.select(*rulesets.SET, "ruleset_id")
    return Pairing(
        groups=reach.name_groups(groups, *_texts(spark, scope)[:2]),
        pairs=pairs.join(broadcast_if_small(ids, count), on=[*rulesets.SET], how="inner")
        .join(F.broadcast(names), on="resource_no", how="inner")
        .join(F.broadcast(principals), on="subject", how="inner")
        .sortWithinPartitions("subject", "resource_no"),
        class_pairs=_class_pairs(classes, resources, of_classes, class_contents),
        contents=own_contents.unionByName(class_contents),
        own_parts=own_parts,
        class_parts=class_parts,
        late=late,
    )


def _texts(spark: SparkSession, scope: Scope) -> tuple[DataFrame, DataFrame, DataFrame]:
    """Return the patterns, principals and hosts of ACLs, numbered and ranked."""
    texts, semantics = scope.texts, scope.semantics
    return (
        frames.patterns(spark, texts, semantics),
        frames.principals(spark, texts, semantics),
        frames.hosts(spark, texts, semantics),
    )


def match_resources(spark: SparkSession, scope: Scope, steps: Steps) -> Matching:
    """Number the resources, and find the patterns that match each.

    Those that the broker looks at in another order go first; the rest follow by name, so that a
    part, a range of numbers, is a range of names.
    """
    seed = Seed()
    resources = _in_order(scope)
    parts, count = scope.partitions, len(resources)
    rows = [
        (number * parts // count, number, seed.salt_of(last), resource_type, name)
        for number, (last, resource_type, name) in enumerate(resources)
    ]
    index = PatternIndex.build(
        ((n, *pattern) for n, pattern in enumerate(scope.texts.patterns)), scope.semantics
    )
    names = local_frame(
        spark,
        rows,
        "part INT, resource_no INT, salt BIGINT, resource_type STRING, resource_name STRING",
    )
    # By its number and not by its hash, which would put three of six parts into one task.
    spread = names.repartitionById(parts, F.col("part"))
    matched = steps.checkpoint(with_matched_patterns(spread, index))
    late = Late(
        all_below=sum(last.allows for last, *_ in resources),
        deny_below=sum(last.denies for last, *_ in resources),
    )
    return Matching(matched, late, seed)


def _in_order(scope: Scope) -> list[tuple[WildcardLast, str, str]]:
    """Return where the broker meets the wildcard last, type and name of the resources, sorted.

    Last among DENYs and ALLOWs comes first, then last among DENYs alone.
    """
    is_broker = scope.semantics.deciding_acl == BROKER
    rescan = BrokerRescan.of(scope.texts.patterns)

    found = sorted(
        (rescan.wildcard_last(*entry.key) if is_broker else NEVER, *entry.key)
        for entry in scope.inventory.resources
    )
    return [one for last in (AMONG_ALL, AMONG_DENIES, NEVER) for one in found if one[0] == last]


def _subjects(spark: SparkSession, scope: Scope, seed: Seed) -> DataFrame:
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
    for class_no, texts in enumerate(scope.classes.texts_of.values()):
        rows += [(text_no[text], -1 - class_no) for text in texts]
    return local_frame(
        spark,
        [(*row, seed.first, seed.second) for row in rows],
        "text_no INT, subject INT, seed1 BIGINT, seed2 BIGINT",
    )


def _classes_of(spark: SparkSession, scope: Scope) -> DataFrame:
    numbers = {class_id: -1 - n for n, class_id in enumerate(scope.classes.texts_of)}
    rows = [
        (subject, numbers[scope.classes.class_of[name]])
        for subject, name in enumerate(scope.principal_names)
    ]
    return local_frame(spark, rows, "subject INT, class_no INT")


def _class_pairs(
    classes: PrincipalClasses,
    resources: DataFrame,
    of_classes: DataFrame,
    contents: DataFrame,
) -> DataFrame:
    """Return every (class, resource) with its ruleset: found, or one of the fixed ones."""
    numbered = local_frame(
        resources.sparkSession,
        [(-1 - number, name) for number, name in enumerate(classes.texts_of)],
        "subject INT, principal_class STRING",
    )
    found = of_classes.join(
        F.broadcast(contents.select(*rulesets.SET, "ruleset_id")), on=[*rulesets.SET], how="inner"
    ).select("resource_no", "subject", "ruleset_id")
    return (
        resources.select(
            "resource_no", "resource_type", "resource_name", F.size("pattern_ids").alias("reach")
        )
        .crossJoin(F.broadcast(numbered))
        .join(found, on=["resource_no", "subject"], how="left")
        .withColumn("ruleset_id", F.coalesce("ruleset_id", rulesets.fixed_id(F.col("reach") > 0)))
    )
