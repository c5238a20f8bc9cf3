"""The tables of a cluster that ``usage`` reads and writes: no rule, no transform."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from datetime import UTC
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from aclkit.errors import UsageError
from aclkit.model.semantics import Semantics
from aclkit.pipeline.replay.known_tables import KnownTables
from aclkit.questions.usage.frames import collect_rows
from aclkit.questions.usage.grants import Grant
from aclkit.questions.usage.known_past import past_of
from aclkit.questions.usage.past import ClusterPast
from aclkit.runtime.frame import local_frame
from aclkit.warehouse.merge import Merge
from aclkit.warehouse.schemas import TABLES
from aclkit.warehouse.store import Store, schema_of

ACCESS_LOG: Final = "access_log"
ACL_USAGE: Final = "acl_usage"


@dataclass(frozen=True, slots=True)
class UsageTables:
    """The tables of one cluster."""

    store: Store
    cluster_id: str

    def rows(self, table: str) -> DataFrame:
        """Return the cluster's rows of a table."""
        return self.store.cluster_rows(table, self.cluster_id)

    def read_past(self, head: int, semantics: Semantics) -> ClusterPast:
        """Read the past up to a head, as ACLs are read.

        Raises:
            UsageError: no table has the values of super.users and allow.everyone.
        """
        ranges = KnownTables(self.store, self.cluster_id).ranges()
        rows = map(self.rows, ("acl_log", "acl_history", "setting"))
        runs = [(run.run_number, run.started_at) for run in self.store.runs]
        newest = runs[-1] if runs else (0, None)
        past = past_of(ranges, *rows, head=head, newest=newest, semantics=semantics)
        if past is None:
            raise UsageError(
                f"The super.users and allow.everyone of cluster {self.cluster_id!r} are not "
                f"known yet. Next: aclkit --warehouse {self.store.place} materialize "
                "--super-users … (or --server-properties FILE)"
            )
        return past

    def merge_lines(self, lines: DataFrame) -> None:
        """Put lines into ``access_log``: each once, under its newest verdict."""
        lines = lines.dropDuplicates(["line_id"])
        if not self.store.has(ACCESS_LOG):
            self.store.append(ACCESS_LOG, lines)
            return
        merge = Merge(
            rows=lines,
            keys=("cluster_id", "line_id"),
            where=_about(lines),
            updated=[name for name in TABLES[ACCESS_LOG].column_names if name not in _KEPT],
            inserts=True,
        )
        self.store.merge(ACCESS_LOG, merge, self.cluster_id)

    def write_usage(self, grants: Iterable[Grant]) -> None:
        """Replace the verdicts on the grants."""
        own = [field.name for field in fields(Grant) if field.name != "acl"]
        rows = [
            (self.cluster_id, g.acl.acl_id, *g.acl.binding, *(getattr(g, name) for name in own))
            for g in grants
        ]
        frame = local_frame(self.store.spark, rows, schema_of(ACL_USAGE))
        self.store.replace_cluster(ACL_USAGE, frame, self.cluster_id)


def _about(lines: DataFrame) -> Column:
    """Return what lets Delta pass over files of other times.

    A line that was read before may have been given another time then, in another zone.
    """
    ((first, last),) = collect_rows(lines.agg(F.min("log_time").alias("a"), F.max("log_time")))
    if first is None:
        return F.col("t.log_time").isNull()
    first, last = (F.lit(end.replace(tzinfo=UTC)) for end in (first, last))
    ends = first - F.expr(_ZONES), last + F.expr(_ZONES)
    return F.col("t.log_time").isNull() | F.col("t.log_time").between(*ends)


_KEPT: Final = ("cluster_id", "line_id", "source", "position")
"""Columns of a line that stay as they were when it was read first."""

_ZONES: Final = "INTERVAL 26 HOURS"
"""Between the zones farthest apart."""
