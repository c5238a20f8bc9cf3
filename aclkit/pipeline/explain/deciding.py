"""The ACLs alive → every pair and every ruleset of a cluster, decided and written.

Half of a small run is waiting for Spark's planner, which works on one thread for whoever asks:
so what does not build on each other is asked at the same time.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Final

from pyspark.sql import DataFrame

from aclkit.errors import DataError
from aclkit.pipeline.explain import frames, rulings, tables
from aclkit.pipeline.explain.fixed import fixed_rulings
from aclkit.pipeline.explain.output import Output
from aclkit.pipeline.explain.pairing import Pairing, match_resources, number_acls, pair_up
from aclkit.pipeline.explain.rulings import MOST_ACLS, RULING, rank_acls
from aclkit.pipeline.explain.scope import Scope
from aclkit.pipeline.inventory.identity import match_hosts
from aclkit.runtime.fail_points import fail_point
from aclkit.runtime.frame import (
    Steps,
    broadcast_if_few_texts,
    broadcast_if_small,
    local_frame,
)
from aclkit.runtime.progress import step

_AT_ONCE: Final = 4


def decide_all(scope: Scope, acls: DataFrame, output: Output, *, allow_everyone: bool) -> None:
    """Pair and decide everything anew; write the explain tables, the inventory's aside.

    Raises:
        DataError: there are more ACLs than can be told apart.
    """
    if scope.acls > MOST_ACLS:
        raise DataError(f"expected at most {MOST_ACLS:,} ACLs alive, found {scope.acls:,}")
    spark, steps = acls.sparkSession, output.steps
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        with step("matching patterns and pairing"):
            matching = pool.submit(match_resources, spark, scope, steps)
            ranked = steps.checkpoint(rank_acls(number_acls(scope, acls), scope.semantics))
            best = pool.submit(_best_of_groups, scope, ranked, steps)
            pairing = pair_up(scope, ranked, matching.result(), steps)
        with step("deciding"):
            of_pairing = tables.of_pairing(spark, pairing)
            writing = [pool.submit(output.write, *item) for item in of_pairing.items()]
            ruled = _rule_on(scope, pairing, ranked, best.result(), steps)
            for written in writing:
                written.result()
            fail_point("between-pairs-and-rulings")
            fixed = list(fixed_rulings(allow_everyone=allow_everyone))
            fixed_rows = local_frame(spark, fixed, ", ".join(f"{name} STRING" for name in RULING))
            output.write("explain_ruling", ruled.unionByName(fixed_rows))
    output.forget_steps()


def _best_of_groups(scope: Scope, ranked: DataFrame, steps: Steps) -> DataFrame:
    """Return the best ACLs of each group."""
    spark, semantics = ranked.sparkSession, scope.semantics
    numbers = {host: number for number, host in enumerate(scope.host_names)}
    matches = match_hosts(scope.texts.hosts, scope.host_names, semantics)
    hosts = frames.named_hosts(spark, scope.texts, matches, numbers)
    preceding = rulings.with_precedence(ranked, hosts, frames.covers(spark, semantics))
    return steps.checkpoint(rulings.best_of_groups(preceding, semantics))


def _rule_on(
    scope: Scope, pairing: Pairing, ranked: DataFrame, best: DataFrame, steps: Steps
) -> DataFrame:
    """Return the rulings of the rulesets that hold an ACL."""
    spark, semantics = ranked.sparkSession, scope.semantics
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
    of_classes = steps.checkpoint(decide(pairing.class_parts, best, None))
    of_all = broadcast_if_small(best, scope.acls)
    own = steps.checkpoint(decide(pairing.own_parts, of_all, of_classes))
    decided = rulings.decide_rulesets(
        pairing.contents, own.unionByName(of_classes), frames.operations(spark), semantics
    )
    return rulings.name_rulings(
        decided,
        broadcast_if_few_texts(ranked.select("acl_no", "acl_id"), scope.acls),
        frames.numbered(spark, scope.host_names, "host_no", "host"),
    )
