"""A small cluster × nothing known of it → all rows of its explain tables, decided on the driver.

To Spark a small cluster is a matter of waiting: some sixty jobs of a fifth of a second each. Here
it is what a change is in ``incremental``, one that affects every pair, against tables without rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

import pyarrow as pa

from aclkit.pipeline.explain.affected import Affected
from aclkit.pipeline.explain.default_rulesets import default_rulesets, default_rulings
from aclkit.pipeline.explain.incremental import AMENDED, decide_affected
from aclkit.pipeline.explain.scope import Scope
from aclkit.runtime import memory
from aclkit.runtime.arrow import arrow_table
from aclkit.warehouse.codecs import ACLS_ALIVE_SQL, ALIVE_SQL, acl_of
from aclkit.warehouse.column_types import arrow_schema
from aclkit.warehouse.reader import Reader, Versions

MOST_PAIRS: Final = 2_500_000 if memory.IS_OURS else 50_000
"""Up to so many (principal, resource) the driver decides; known before anything is read."""

MOST_ACLS: Final = 50_000
"""And up to so many ACLs alive."""


ColumnsOfTables = dict[str, pa.Table]
"""Table → the rows of a cluster."""

_ROWS_OF_A_PART: Final = 100_000


def tables_of_whole(versions: dict[str, int]) -> Versions:
    """Return what ``decide_whole`` asks about: the history, and explain tables without rows."""
    none: Versions = {table: (table, None) for table in AMENDED}
    return {**none, "acl_history": ("acl_history", versions.get("acl_history"))}


def decide_whole(scope: Scope, read: Reader, *, allow_everyone: bool) -> ColumnsOfTables | None:
    """Decide every pair of a small cluster; return the rows of each explain table.

    None where that is Spark's work: a larger cluster, one where too many ACLs reach the same, or
    where a name below ``*`` makes the broker's order depend on the resource.
    """
    if scope.pairs > MOST_PAIRS or scope.may_meet_wildcard_last:
        return None
    ((count,),) = read.rows(f"SELECT count(*) {ALIVE_SQL}")
    if count > MOST_ACLS:
        return None
    everything = Affected(
        changed=list(map(acl_of, read.rows(ACLS_ALIVE_SQL))),
        resources=dict.fromkeys(sorted(entry.key for entry in scope.inventory.resources), True),
        principals=frozenset(),
        gone_resources=frozenset(),
        gone_principals=frozenset(),
    )
    decided = decide_affected(scope, everything, read)
    if decided is None:
        return None
    cluster = scope.cluster_id
    fixed: dict[str, Iterable[Sequence[Any]]] = {
        "ruleset": default_rulesets(),
        "explain_ruling": default_rulings(allow_everyone=allow_everyone),
    }
    found = {}
    for table, _, _, fresh in decided:
        rows = [*fresh, *((cluster, *row) for row in fixed.get(table, ()))]
        found[table] = arrow_table(rows, arrow_schema(table))
    return found | {"explain_pair": _as_grid(found["explain_pair"])}


def _as_grid(pairs: pa.Table) -> pa.Table:
    """Sort parts of the pairs, each a range of resources, by principal.

    So questions about one resource or one principal read a few row groups, as where Spark writes.
    """
    starts = range(0, max(len(pairs), 1), _ROWS_OF_A_PART)
    parts = [pairs.slice(start, _ROWS_OF_A_PART).sort_by("principal") for start in starts]
    return pa.concat_tables(parts)
