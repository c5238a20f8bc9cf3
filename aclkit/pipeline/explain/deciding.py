"""The ACLs in force → every pair and every ruleset of a cluster, decided and written.

A small run spends half its time waiting for Spark's planner, which uses one thread per caller. So
independent queries run at the same time.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Final

from pyspark.sql import DataFrame

from aclkit.errors import DataError
from aclkit.pipeline.explain import frames, reach, tables
from aclkit.pipeline.explain.best import MOST_ACLS, Wildcards, of_named_hosts
from aclkit.pipeline.explain.fixed import fixed_rulings
from aclkit.pipeline.explain.output import Output
from aclkit.pipeline.explain.pairing import (
    Acls,
    Pairing,
    acls_of,
    group_up,
    match_resources,
    pair_up,
)
from aclkit.pipeline.explain.reach import Late
from aclkit.pipeline.explain.rulings import (
    best_of_hosts,
    decide_rulesets,
    inherited,
    name_rulings,
    rank_acls,
)
from aclkit.pipeline.explain.scope import Scope
from aclkit.runtime.fail_points import fail_point
from aclkit.runtime.frame import Steps, broadcast_if_few, count_if_many, release, shuffles_over
from aclkit.runtime.progress import step

_AT_ONCE: Final = 4


def decide_all(
    scope: Scope, open_acls: Callable[[], DataFrame], output: Output, *, allow_everyone: bool
) -> None:
    """Pair and decide everything anew; write the explain tables except those of the inventory.

    Args:
        scope: what is asked about.
        open_acls: returns the ACLs in force; from a table that takes seconds, during the matching.
        output: where the tables go.
        allow_everyone: the decision for resources to which no ACL applies.

    Raises:
        DataError: there are more ACLs than can be distinguished.
    """
    if scope.acls > MOST_ACLS:
        raise DataError(f"Expected at most {MOST_ACLS:,} ACLs in force, found {scope.acls:,}")
    spark, steps = output.store.spark, Steps()
    shuffles = shuffles_over(spark, scope.shuffled_over if scope.is_large else 1)
    with steps, shuffles, ThreadPoolExecutor(_AT_ONCE) as pool:
        with step("Matching patterns and pairing"):
            matching = pool.submit(match_resources, spark, scope, steps)
            acls = open_acls()
            texts = frames.texts_of_acls(spark, scope.texts, scope.semantics)
            ranked = rank_acls(reach.number_acls(acls, *texts), scope.semantics)
            ranked = steps.checkpoint(ranked)
            ranked_acls = acls_of(scope, ranked)
            groups = steps.checkpoint(group_up(scope, ranked_acls))
            named_groups = reach.name_groups(groups, *texts[:2])
            writing = [pool.submit(output.write, "ruleset_group", named_groups)]
            pairing = pair_up(scope, groups, matching.result(), steps)
        with step("Deciding"):
            of_pairing = tables.of_pairing(spark, pairing)
            writing += [pool.submit(output.write, *item) for item in of_pairing.items()]
            late = matching.result().late
            named = _best_of_hosts(scope, pairing, ranked_acls, late, steps)
            ruled = _rule_on(scope, pairing, ranked, named)
            for written in writing:
                written.result()
            for frame in (groups, *pairing.spent):
                release(frame)
            fail_point("between-pairs-and-rulings")
            fixed = fixed_rulings(allow_everyone=allow_everyone)
            ruled = ruled.unionByName(tables.of_driver(spark, "explain_ruling", fixed))
            output.write("explain_ruling", ruled)


def _best_of_hosts(
    scope: Scope, pairing: Pairing, acls: Acls, late: Late, steps: Steps
) -> DataFrame:
    """Return what is best in each ruleset for the hosts that its ACLs name."""
    semantics, wildcards = scope.semantics, Wildcards.of(scope.texts.patterns)
    best = steps.checkpoint(of_named_hosts(acls.answering, acls.hosts, semantics))
    decide = partial(
        best_of_hosts,
        best=best,
        count=count_if_many(best, scope.acls * len(scope.inventory.hosts)),
        wildcards=wildcards,
        late=late,
        semantics=semantics,
        partitions=scope.shuffled_over,
    )
    of_classes = steps.checkpoint(decide(pairing.class_parts))
    few = scope.class_pairs * len(scope.inventory.hosts)
    heirs = inherited(pairing.contents, broadcast_if_few(of_classes, few))
    own = steps.checkpoint(decide(pairing.own_parts, heirs=heirs))
    return own.unionByName(of_classes)


def _rule_on(scope: Scope, pairing: Pairing, ranked: DataFrame, named: DataFrame) -> DataFrame:
    """Return the rulings of the rulesets that hold an ACL."""
    spark = ranked.sparkSession
    contents = pairing.contents.unionByName(pairing.class_contents)
    decided = decide_rulesets(contents, named, frames.operations(spark), scope.semantics)
    return name_rulings(
        decided,
        ranked.select("acl_no", "acl_id"),
        scope.acls,
        frames.numbered(spark, scope.host_names, "host_no", "host"),
    )
