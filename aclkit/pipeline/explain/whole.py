"""A small cluster × nothing known of it → all rows of its explain tables, decided on the driver.

To Spark a small cluster is a matter of waiting: some sixty jobs of a fifth of a second each. Here
it is what a change is in ``incremental``, one that affects every pair, against tables without rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from aclkit.pipeline.explain.affected import Affected
from aclkit.pipeline.explain.fixed import fixed_rulesets, fixed_rulings
from aclkit.pipeline.explain.incremental import AMENDED, decide_affected
from aclkit.pipeline.explain.scope import Scope
from aclkit.warehouse.codecs import ACLS_ALIVE_SQL, acl_of
from aclkit.warehouse.reader import Reader, Versions

MOST_PAIRS: Final = 50_000
"""Up to so many (principal, resource) the driver decides; known before anything is read."""

MOST_ACLS: Final = 50_000
"""And up to so many ACLs alive."""


RowsOfTables = dict[str, list[Sequence[Any]]]
"""Table → the rows of a cluster."""


def tables_of_whole(versions: dict[str, int]) -> Versions:
    """Return what ``decide_whole`` asks about: the history, and explain tables without rows."""
    none: Versions = {table: (table, None) for table in AMENDED}
    return {**none, "acl_history": ("acl_history", versions.get("acl_history"))}


def decide_whole(scope: Scope, read: Reader, *, allow_everyone: bool) -> RowsOfTables | None:
    """Decide every pair of a small cluster; return the rows of each explain table.

    None where that is Spark's work: a larger cluster, one whose rulesets hold too many ACLs, or
    one where a name below ``*`` makes the broker's order depend on the resource.
    """
    if scope.pairs > MOST_PAIRS or scope.may_meet_wildcard_last:
        return None
    ((count,),) = read.rows("SELECT count(*) FROM acl_history WHERE removed_offset IS NULL")
    if count > MOST_ACLS:
        return None
    everything = Affected(
        changed=list(map(acl_of, read.rows(ACLS_ALIVE_SQL))),
        resources={entry.key: True for entry in scope.inventory.resources},
        principals=frozenset(),
        gone_resources=frozenset(),
        gone_principals=frozenset(),
    )
    decided = decide_affected(scope, everything, read)
    if decided is None:
        return None
    cluster = scope.cluster_id
    rows = {change.table: sorted(change.fresh, key=tuple) for change in decided}
    rows["ruleset"] += [(cluster, *row) for row in fixed_rulesets()]
    rulings = fixed_rulings(allow_everyone=allow_everyone)
    rows["explain_ruling"] += [(cluster, *row) for row in rulings]
    return rows
