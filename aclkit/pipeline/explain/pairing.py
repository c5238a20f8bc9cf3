"""ACLs and inventory → which ruleset applies to each pair."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import partial
from typing import Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from aclkit.model.semantics import BROKER
from aclkit.pipeline.explain import frames, reach, rulesets
from aclkit.pipeline.explain.best import BEST, Wildcards, answering, best_acls, with_any_host
from aclkit.pipeline.explain.reach import AMONG_ALL, AMONG_DENIES, NEVER, PLACE, Late, Seed
from aclkit.pipeline.explain.scope import Scope
from aclkit.pipeline.inventory.identity import PrincipalClasses, match_hosts
from aclkit.rules.decide.broker_rescan import BrokerRescan
from aclkit.rules.decide.order import WildcardLast
from aclkit.rules.patterns.columns import with_matched_patterns, with_patterns_of_parts
from aclkit.rules.patterns.match import names_exactly
from aclkit.rules.patterns.parts import Ranges
from aclkit.rules.patterns.trie import PatternIndex
from aclkit.runtime.frame import (
    Steps,
    broadcast_if_few,
    broadcast_if_few_texts,
    broadcast_if_small,
    count_if_many,
    is_few,
    local_frame,
    parts_by_hash,
    release,
    side_frame,
)

_PATTERNS_OF_A_WORKER: Final = 500_000
"""Above so many patterns a worker has those alone that its ranges of names need."""


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
        pairs: ``explain_pair`` rows, in files by principal.
        class_pairs: ``explain_class_pair`` rows.
        contents: the rulesets of principals that hold an ACL, see ``rulesets.contents``.
        class_contents: those of classes.
        own_parts: the groups of principals' rulesets, see ``rulesets.parts_of``.
        class_parts: the groups of classes' rulesets.
        spent: what nothing needs once the tables and ``best_of_hosts`` are made.
    """

    pairs: DataFrame
    class_pairs: DataFrame
    contents: DataFrame
    class_contents: DataFrame
    own_parts: DataFrame
    class_parts: DataFrame
    spent: tuple[DataFrame, ...]


@dataclass(frozen=True, slots=True)
class Acls:
    """The ACLs, ranked, with what each answers, and which hosts their texts name.

    Attributes:
        answering: result of ``best.answering``.
        hosts: result of ``frames.named_hosts``.
    """

    answering: DataFrame
    hosts: DataFrame


def acls_of(scope: Scope, ranked: DataFrame) -> Acls:
    """Return the ACLs of a scope; ``ranked`` is the result of ``rulings.rank_acls``, computed."""
    spark, semantics = ranked.sparkSession, scope.semantics
    numbers = {host: number for number, host in enumerate(scope.host_names)}
    matches = match_hosts(scope.texts.hosts, scope.host_names, semantics)
    return Acls(
        answering(ranked, frames.covers(spark, semantics)),
        frames.named_hosts(spark, scope.texts, matches, numbers),
    )


def group_up(scope: Scope, acls: Acls) -> DataFrame:
    """Return the groups with what is best in them for any other host; see ``reach.group_acls``."""
    of_any = with_any_host(acls.answering, acls.hosts)
    return reach.group_acls(of_any, best_acls(scope.semantics), BEST)


def pair_up(scope: Scope, groups: DataFrame, matching: Matching, steps: Steps) -> Pairing:
    """Find the ruleset of every pair.

    Args:
        scope: what is asked about.
        groups: result of ``group_up``, computed.
        matching: result of ``match_resources``.
        steps: what is computed on the way.
    """
    spark, few = groups.sparkSession, scope.class_pairs
    contents = partial(_contents, scope, groups, matching.late)
    reached = reach.reach(matching.resources, _granted(scope, groups, matching, steps))
    sets = steps.checkpoint(reach.sets_of_groups(reached), is_large=scope.is_large)
    of_classes = reach.class_pairs(sets)
    pairs = reach.own_pairs(sets, _classes_of(spark, scope), _by_number(of_classes, few))

    firsts_of_classes = broadcast_if_few(rulesets.first_pairs(of_classes), few)
    class_parts = steps.checkpoint(
        rulesets.parts_of(reached.where("subject < 0"), firsts_of_classes)
    )
    class_contents = steps.checkpoint(contents(class_parts, None))
    class_contents = broadcast_if_few(class_contents, few)
    firsts = steps.checkpoint(rulesets.first_pairs(pairs))
    count = count_if_many(firsts, scope.pairs)
    # Where pairs are very many, to shuffle them costs more than the memory of a few gigabytes.
    broadcast = broadcast_if_few_texts if scope.is_large else broadcast_if_small
    own_parts = steps.checkpoint(
        rulesets.parts_of(reached.where("subject >= 0"), broadcast(firsts, count))
    )
    release(firsts)
    own_contents = steps.checkpoint(contents(own_parts, class_contents))
    ids = broadcast(own_contents.select(*rulesets.SET, "ruleset_id"), count)
    return Pairing(
        pairs=_named_pairs(scope, pairs.join(ids, on=[*rulesets.SET], how="inner"), matching),
        class_pairs=_class_pairs(scope.classes, matching.resources, of_classes, class_contents),
        contents=own_contents,
        class_contents=class_contents,
        own_parts=own_parts,
        class_parts=class_parts,
        spent=(sets, own_parts),
    )


def _granted(scope: Scope, groups: DataFrame, matching: Matching, steps: Steps) -> DataFrame:
    """Return what the groups grant, broadcast; too much for that, where the resources lie."""
    rows, seed = _subjects(scope), matching.seed
    subjects = side_frame(
        groups.sparkSession,
        [(*row, seed.first, seed.second) for row in rows],
        "text_no INT, subject INT, seed1 BIGINT, seed2 BIGINT",
    )
    granted = reach.grants(groups, subjects)
    widest = max(Counter(text for text, _ in rows).values(), default=0)
    if is_few(granted, scope.acls * widest):
        return F.broadcast(granted)
    patterns = reach.patterns_in_parts(matching.resources)
    known = broadcast_if_small(patterns, len(scope.texts.patterns))
    return steps.checkpoint(reach.in_parts(granted, known, scope.partitions))


def _contents(
    scope: Scope, groups: DataFrame, late: Late, parts: DataFrame, of_classes: DataFrame | None
) -> DataFrame:
    """Return the contents of rulesets of which ``parts`` are known; see ``rulesets.contents``."""
    wildcards = Wildcards.of(scope.texts.patterns)
    whole = rulesets.with_groups(parts, groups, scope.acls, wildcards, late)
    return rulesets.contents(whole, of_classes, late, scope.semantics, scope.shuffled_over)


def _named_pairs(scope: Scope, pairs: DataFrame, matching: Matching) -> DataFrame:
    """Return ``explain_pair`` rows, each part in the order of principals and resources."""
    names = matching.resources.select(*PLACE, "resource_type", "resource_name")
    names = _by_number(names, len(scope.inventory.resources))
    principals = frames.numbered(pairs.sparkSession, scope.principal_names, "subject", "principal")
    # One number that is not negative: of two columns Spark compares whole rows.
    place = F.shiftleft(F.col("subject").cast("bigint"), 32) + F.col("resource_no")
    return (
        pairs.join(names, on=reach.known(names, *PLACE), how="inner")
        .join(principals, on="subject", how="inner")
        .sortWithinPartitions(place)
    )


def _by_number(rows: DataFrame, most: int) -> DataFrame:
    """Return rows of resources broadcast, or where there are too many, in the parts they lie in."""
    return F.broadcast(rows.drop("part")) if is_few(rows, most) else rows


def match_resources(spark: SparkSession, scope: Scope, steps: Steps) -> Matching:
    """Number the resources, and find the patterns that match each.

    Those that the broker looks at in another order go first; the rest follow by name, so that a
    part, a range of numbers, is a range of names.
    """
    seed = Seed()
    resources = _in_order(scope)
    count, numbers = len(resources), parts_by_hash(scope.partitions)
    rows = [
        (numbers[number * len(numbers) // count], number, seed.salt_of(last), resource_type, name)
        for number, (last, resource_type, name) in enumerate(resources)
    ]
    names = local_frame(
        spark,
        rows,
        "part INT, resource_no INT, salt BIGINT, resource_type STRING, resource_name STRING",
    )
    if len(scope.texts.patterns) <= _PATTERNS_OF_A_WORKER:
        patterns = enumerate(scope.texts.patterns)
        index = PatternIndex.build(((n, *pattern) for n, pattern in patterns), scope.semantics)
        matched = with_matched_patterns(names, index)
    else:
        ranges = Ranges.of((part, kind, name) for part, _, _, kind, name in rows)
        matched = with_patterns_of_parts(names, _of_ranges(spark, scope, ranges), scope.semantics)
    # Spread last: of what goes through Python Spark does not know where it lies.
    matched = steps.checkpoint(matched.repartition(len(numbers), "part"))
    late = Late(
        all_below=sum(last.allows for last, *_ in resources),
        deny_below=sum(last.denies for last, *_ in resources),
    )
    return Matching(matched, late, seed)


def _of_ranges(spark: SparkSession, scope: Scope, ranges: Ranges) -> DataFrame:
    """Return the patterns with the parts where names may lie that they match."""
    rows = local_frame(
        spark,
        [
            (number, *pattern, [*ranges.parts_of(*pattern, scope.semantics)])
            for number, pattern in enumerate(scope.texts.patterns)
        ],
        "pattern_id INT, resource_type STRING, pattern_type STRING, text STRING, parts ARRAY<INT>",
    )
    return rows.withColumn("part", F.explode("parts")).drop("parts")


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


def _subjects(scope: Scope) -> list[tuple[int, int]]:
    """Return (text_no, subject): whom a text of ACLs names exactly, or a class it stands for."""
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
    return rows


def _classes_of(spark: SparkSession, scope: Scope) -> DataFrame:
    numbers = {class_id: -1 - n for n, class_id in enumerate(scope.classes.texts_of)}
    rows = [
        (subject, numbers[scope.classes.class_of[name]])
        for subject, name in enumerate(scope.principal_names)
    ]
    return side_frame(spark, rows, "subject INT, class_no INT")


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
        contents.select(*rulesets.SET, "ruleset_id"), on=[*rulesets.SET], how="inner"
    ).select(*PLACE, "subject", "ruleset_id")
    return (
        resources.select(
            *PLACE, "resource_type", "resource_name", F.size("pattern_ids").alias("reach")
        )
        .crossJoin(broadcast_if_small(numbered, len(classes.texts_of)))
        .join(found, on=[*PLACE, "subject"], how="left")
        .withColumn("ruleset_id", F.coalesce("ruleset_id", rulesets.fixed_id(F.col("reach") > 0)))
    )
