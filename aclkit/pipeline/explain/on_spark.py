"""The ACLs in force → every pair and every ruling of a cluster, as DataFrames that Spark writes.

.. code-block:: text

    names → broadcast trie UDF → exchange into slices ─┬→ mapInArrow → files of explain_pair
                                                       ├→ mapInArrow → explain_class_pair
                                                       └→ mapInArrow → sets of groups
    sets → exchange by ruleset id, one of each ────────┬→ mapInArrow → ruleset
                                                       └→ mapInArrow → explain_ruling

ACLs and names pass the driver once, as columns; of what grows with pairs, sets and rulings it sees
counts and names of files alone. Tasks do what this process would (``tasks``). The resources are
paired once for each table: that costs less than keeping all pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

from aclkit.errors import DataError
from aclkit.pipeline.explain import dense, rows, tasks
from aclkit.pipeline.explain.prepared import Resources, prepare
from aclkit.pipeline.explain.rows import default_rulesets, default_rulings
from aclkit.pipeline.plan import cut_evenly, cut_for_tasks, entries_of_task
from aclkit.rules.patterns.columns import with_matched_patterns
from aclkit.rules.patterns.trie import PatternIndex
from aclkit.runtime.executors import Begin, at_once, executors_of
from aclkit.runtime.fail_points import fail_point
from aclkit.runtime.frame import local_frame
from aclkit.runtime.progress import step
from aclkit.runtime.shared_work import share
from aclkit.warehouse.column_types import arrow_schema
from aclkit.warehouse.frames import TableFrames
from aclkit.warehouse.new_files import NewFile
from aclkit.warehouse.schemas import TABLES
from aclkit.warehouse.shared_folder import Mark, marked, require_here

if TYPE_CHECKING:
    from concurrent.futures import Future

    from pyspark import Accumulator
    from pyspark.sql import DataFrame, SparkSession

    from aclkit.pipeline.explain.prepared import Prepared
    from aclkit.pipeline.explain.scope import Scope
    from aclkit.warehouse.store import Store

_NAMES: Final = "place INT, resource_type STRING, resource_name STRING, met_last INT"
_IS_SLICE: Final = "type_no IS NULL"
"""Of the rows of ``tasks.SETS``: the counts of a slice."""
_BLOCKS: Final = 1_024
"""Ranges of names whose entries are counted before slices are cut: what the driver sees of them."""


def decide_on_spark(
    spark: SparkSession,
    scope: Scope,
    acls: pa.Table,
    store: Store,
    *,
    allow_everyone: bool,
    dense: int | None = None,
) -> dict[str, int]:
    """Pair and decide everything again, in Spark's tasks; see ``deciding.decide``.

    Args:
        spark: the session.
        scope: what is asked about.
        acls: those in force.
        store: where the tables go.
        allow_everyone: the decision for resources to which no ACL applies.
        dense: how many rows the dense table has, where it is written too, resource by resource.

    Returns:
        how many rows of each table Spark has written.

    Raises:
        DataError: there are more ACLs than can be distinguished; or Spark committed another number
            of rows than was decided.
        SurroundingsError: the workers do not write into the driver's folder.
    """
    with marked(store.place) as mark, ExitStack() as until_written:
        with step("Deciding"):
            prepared = prepare(scope, acls)
            groups = rows.group_rows(prepared).select(TABLES["ruleset_group"].column_names)
            store.replace("ruleset_group", groups, scope.cluster_id)
            frames = Frames.of(spark, scope, prepared, mark, allow_everyone=allow_everyone)
            until_written.enter_context(frames)
            rulesets = [*default_rulesets()]
            rulings = [*default_rulings(allow_everyone=allow_everyone)]
            tables = {
                "explain_class_pair": frames.class_pairs,
                "ruleset": frames.rulesets(rulesets),
                "explain_ruling": frames.rulings(rulings),
            }
            of_defaults = {"ruleset": len(rulesets), "explain_ruling": len(rulings)}
            begin = until_written.enter_context(at_once(spark, len(tables) + 3))
            write = partial(_begin_writing, begin, store, scope.cluster_id)
            counted = begin(frames.counted)
            written = {"explain_pair": _begin_pairs(begin, write, store, frames)}
            written |= {table: write(table, frame) for table, frame in tables.items()}
            if dense is not None:
                written["explain"] = write("explain", frames.explain(dense))
            counts = {table: written[table].result() for table in ("explain_pair", *tables)}
            fail_point("between-pairs-and-rulings")
            of_kernel = {**counted.result(), "explain_ruling": frames.ruled}
            for table, rows_counted in of_kernel.items():
                _require(table, counts[table], rows_counted + of_defaults.get(table, 0))
        if dense is not None:
            with step(f"Writing {dense:,} decisions"):
                counts["explain"] = written["explain"].result()
                _require("explain", counts["explain"], dense)
    return {"ruleset_group": len(groups), **counts}


def _begin_writing(
    begin: Begin, store: Store, cluster_id: str, table: str, frame: DataFrame
) -> Future[int]:
    return begin(partial(TableFrames(store).replace, table, frame, cluster_id))


def _begin_pairs(
    begin: Begin, write: Callable[[str, DataFrame], Future[int]], store: Store, frames: Frames
) -> Future[int]:
    """Begin to write ``explain_pair``; on a disk tasks write its files, and this commits them.

    Nearly all rows are its, and Spark's writer takes some times as long for them (decision 6).
    """
    if store.place.is_remote:
        return write("explain_pair", frames.pairs)

    def take_over() -> int:
        found = frames.pair_files(str(store.place.folder.absolute())).toArrow().to_pylist()
        files = [NewFile(**file) for file in found]
        require_here(store.place, "explain_pair", ((file.path, file.size) for file in files))
        store.take_over("explain_pair", files, frames.prepared.cluster_id)
        return sum(file.rows for file in files)

    return begin(take_over)


def _require(table: str, written: int, expected: int) -> None:
    """Insist that Spark has written what was decided.

    Raises:
        DataError: it wrote another number of rows.
    """
    if written != expected:
        raise DataError(
            f"Spark wrote {written:,} rows of {table}, but {expected:,} were decided. Nothing is "
            "published."
        )


@dataclass(slots=True)
class Frames:
    """The explain tables of a cluster as DataFrames, in the columns of the contract.

    Attributes:
        spark: the session.
        prepared: what the slices share.
        mark: of the folder into which the tasks must write.
        shared: the name of what every task needs.
        names: how many are asked about.
        matched: these with the patterns that match them.
        slices: the same, a partition a slice.
        sets: the distinct sets of groups, and the counts of slices; see ``tasks.SETS``.
    """

    spark: SparkSession
    prepared: Prepared
    mark: Mark | None
    shared: str
    names: int
    matched: DataFrame = field(init=False)
    slices: DataFrame = field(init=False)
    sets: DataFrame = field(init=False)
    _ruled: Accumulator[int] = field(init=False)
    _kept: list[DataFrame] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        """Have rulings counted."""
        self._ruled = self.spark.sparkContext.accumulator(0)

    @classmethod
    def of(
        cls,
        spark: SparkSession,
        scope: Scope,
        prepared: Prepared,
        mark: Mark | None,
        *,
        allow_everyone: bool,
    ) -> Frames:
        """Match the names of a scope, and cut them into slices.

        Args:
            spark: the session.
            scope: what is asked about.
            prepared: what the slices share.
            mark: of the folder into which the tasks must write.
            allow_everyone: the decision for resources to which no ACL applies.
        """
        executors = executors_of(spark)
        light = replace(prepared, index=PatternIndex.build([], scope.semantics))
        is_super = np.array([name in scope.super_users for name in scope.principal_names], bool)
        entries = entries_of_task(executors.bytes_of_task)
        of_tasks = tasks.Shared(light, entries, is_super, allow_everyone)
        resources = Resources.of(scope)
        frames = cls(spark, prepared, mark, share(spark, of_tasks), len(resources))
        matched = with_matched_patterns(_names(spark, resources), prepared.index)
        frames.matched = frames._keep(matched)
        starts = frames._weighed(executors.tasks)
        frames.slices = frames._keep(frames._sliced(starts))
        met = frames._mapped(frames.slices, tasks.sets, tasks.SETS)
        # A slice has as much as a task is to hold, and its sets are no more than that.
        by_id = met.repartition(len(starts), "ruleset_id")
        frames.sets = frames._keep(by_id.dropDuplicates(["ruleset_id"]))
        return frames

    @property
    def _size(self) -> int:
        """How many names a block has."""
        return -(-self.names // _BLOCKS) or 1

    def __enter__(self) -> Frames:
        """Take the frames."""
        return self

    def __exit__(self, *_: object) -> None:
        """Free what was kept of them."""
        for frame in reversed(self._kept):
            frame.unpersist()

    def counted(self) -> dict[str, int]:
        """Return how many pairs and rulesets the kernel has found, those of defaults aside."""
        whole = {
            "explain_pair": F.sum("pairs"),
            "explain_class_pair": F.sum("class_pairs"),
            "ruleset": F.count("type_no"),
        }
        (found,) = self.sets.agg(*(of.alias(table) for table, of in whole.items())).collect()
        return {table: count or 0 for table, count in found.asDict().items()}

    @property
    def ruled(self) -> int:
        """How many rulings the kernel has handed to the writer, those of defaults aside.

        To decide them again only to count them would take as long as to write them.
        """
        return self._ruled.value

    @property
    def pairs(self) -> DataFrame:
        """The rows of ``explain_pair``."""
        return self._mapped(self.slices, tasks.pairs, arrow_schema("explain_pair"))

    def pair_files(self, folder: str) -> DataFrame:
        """The files of ``explain_pair`` that tasks write into the folder of a warehouse."""
        return self._mapped(self.slices, partial(tasks.pair_files, folder), tasks.FILES)

    def explain(self, rows: int) -> DataFrame:
        """Return the rows of ``explain``: each principal and each cell of a ruleset multiplied out.

        Args:
            rows: how many they are. Slices have equally many names, others about as many entries.
        """
        starts = cut_evenly(-(-self.names // self._size), rows, executors_of(self.spark).tasks)
        found = self._mapped(self._sliced(starts), dense.cells, dense.CELLS)
        of_principals = found.select(
            "resource_type", "resource_name", F.explode("principals").alias("p"), "cells"
        )
        of_cells = of_principals.select(
            "resource_type", "resource_name", "p.*", F.explode("cells").alias("cell")
        )
        cluster = F.lit(self.prepared.cluster_id).alias("cluster_id")
        return of_cells.select(cluster, "*", "cell.*").select(*TABLES["explain"].column_names)

    @property
    def class_pairs(self) -> DataFrame:
        """The rows of ``explain_class_pair``."""
        return self._mapped(self.slices, tasks.class_pairs, arrow_schema("explain_class_pair"))

    def rulesets(self, defaults: Iterable[tuple[object, ...]]) -> DataFrame:
        """Return the rows of ``ruleset``, those of the defaults too."""
        return self._of_sets("ruleset", tasks.rulesets, defaults)

    def rulings(self, defaults: Iterable[tuple[object, ...]]) -> DataFrame:
        """Return the rows of ``explain_ruling``, those of the defaults too."""
        return self._of_sets("explain_ruling", partial(tasks.rulings, self._ruled), defaults)

    def _of_sets(
        self, table: str, task: tasks.Task, defaults: Iterable[tuple[object, ...]]
    ) -> DataFrame:
        found = self._mapped(self.sets.where(f"NOT {_IS_SLICE}"), task, arrow_schema(table))
        whole = [(self.prepared.cluster_id, *row) for row in defaults]
        return found.unionByName(local_frame(self.spark, whole, TABLES[table].ddl))

    def _weighed(self, at_once: int) -> list[int]:
        """Return the blocks at which slices begin that have about equally many entries."""
        weigh = partial(tasks.weigh, self._size)
        found = self._mapped(self.matched, weigh, tasks.ENTRIES).toArrow()
        return cut_for_tasks(_by_block(found), at_once)

    def _sliced(self, starts: Sequence[int]) -> DataFrame:
        """Put names into slices, each beginning with a block."""
        bounds = F.array(*(F.lit(start * self._size) for start in starts))
        at = F.size(F.filter(bounds, lambda start: start <= F.col("place"))) - 1
        return self.matched.repartitionById(len(starts), at).sortWithinPartitions("place")

    def _mapped(self, frame: DataFrame, task: tasks.Task, schema: pa.Schema) -> DataFrame:
        do = partial(tasks.do, task, self.shared, self.mark, schema)
        return frame.mapInArrow(do, from_arrow_schema(schema))

    def _keep(self, frame: DataFrame) -> DataFrame:
        self._kept.append(frame.persist())
        return frame


def _names(spark: SparkSession, resources: Resources) -> DataFrame:
    met_last, places = resources.met_last.tolist(), range(len(resources))
    kinds, texts = zip(*resources.keys, strict=True) if len(resources) else ((), ())
    return local_frame(spark, [*zip(places, kinds, texts, met_last, strict=True)], _NAMES)


def _by_block(weighed: pa.Table) -> list[int]:
    found = np.bincount(weighed["block"].to_numpy(), weights=weighed["entries"].to_numpy())
    return [int(entries) for entries in found]
