"""Tables at given versions → what Spark reads of them, and nothing else; see ``reader``.

Each is opened when a statement first names it, so that a question about three tables does not read
the logs of thirty. Those of a published run stand in a session of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial, reduce
from typing import Any, Final

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.errors.exceptions.captured import convert_exception
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import TimestampType
from sqlglot import ErrorLevel, exp, parse_one

from aclkit.errors import SurroundingsError, UsageError, first_line
from aclkit.runtime.spark import session_beside
from aclkit.warehouse.job_run import JOB_RUN
from aclkit.warehouse.published import Published, open_warehouse, versions_before
from aclkit.warehouse.result_rows import Rows
from aclkit.warehouse.schemas import TABLES
from aclkit.warehouse.spark_guard import check_reads_only
from aclkit.warehouse.store import Store
from aclkit.warehouse.views import PAST, PAST_TABLES, view_sql

_VIEW_IF_UNWRITTEN: Final = "explain"


class SparkTables:
    """The published tables and views as Spark reads them, for the SQL of a person."""

    def __init__(self, store: Store, published: Published) -> None:
        """Take tables from a store whose session no other code uses."""
        written = published.run.table_versions
        tables: dict[str, Callable[[], DataFrame]] = {
            name: partial(store.read_version, name, written.get(name))
            for name in {*TABLES, *written}
            if name != _VIEW_IF_UNWRITTEN or name in written
        }
        tables[JOB_RUN] = partial(_job_run, store, published)
        self._spark, self._views = store.spark, view_sql(tables)
        self._known = {*tables, *self._views}
        past = {f"{PAST}_{name}": partial(_past, store, published, name) for name in PAST_TABLES}
        self._tables = tables | past
        self._open: set[str] = set()

    def ask(self, text: str) -> Rows:
        """Run one SELECT that a person wrote in Spark's SQL.

        Raises:
            UsageError: the text is anything else, or Spark refuses it.
        """
        try:
            self._make_readable(check_reads_only(self._spark, text, self._known))
            found = self._spark.sql(text)
            plain = _without_zones(found)
            return Rows(tuple(found.columns), _rows(plain), plain.toArrow)
        except (PySparkException, Py4JError) as error:
            raise _as_aclkit_error(error) from error

    def _make_readable(self, names: Iterable[str]) -> None:
        """Open those of the names that are tables or views, and what is below them."""
        for name in sorted({*names} - self._open):
            if name in self._views:
                text, below = spark_sql(self._views[name])
                self._make_readable(below)
                frame = self._spark.sql(text)
            elif name in self._tables:
                frame = self._tables[name]()
            else:
                continue
            self._open.add(name)
            frame.createOrReplaceTempView(name)


def spark_sql(query: str) -> tuple[str, frozenset[str]]:
    """Return the SELECT of a view for Spark, and what stands in it where a table or view does.

    It is parsed as DuckDB's and written anew from its tree. ``before.host`` becomes
    ``before_host``, because a temporary view is in no schema. Names of WITH are names too.

    Raises:
        sqlglot.errors.SqlglotError: it is no SQL of DuckDB's, or Spark cannot express it.
    """
    tree = parse_one(query, dialect="duckdb").transform(_without_schema)
    names = frozenset(table.name for table in tree.find_all(exp.Table))
    return tree.sql("spark", unsupported_level=ErrorLevel.RAISE), names


def _without_schema(node: exp.Expr) -> exp.Expr:
    if isinstance(node, exp.Table) and node.db:
        return exp.to_table(f"{node.db}_{node.name}", alias=node.alias or None)
    return node


def _job_run(store: Store, published: Published) -> DataFrame:
    """Return the published runs; somebody may have published since."""
    rows = store.read_version(JOB_RUN, store.newest_version(JOB_RUN))
    return rows.where(F.col("run_number") <= published.run.run_number)


def _past(store: Store, published: Published, table: str) -> DataFrame:
    """Return a table as it was before the run that decided last, each cluster's own rows."""
    frames = [store.read_version(table, None)]
    for cluster_id in published.clusters:
        version = versions_before(published, cluster_id).get(table)
        if version is not None:
            rows = store.read_version(table, version)
            frames.append(rows.where(F.col("cluster_id") == F.lit(cluster_id)))
    return reduce(DataFrame.unionByName, frames)


def open_with_spark(spark: SparkSession, warehouse: str | None) -> SparkTables:
    """Open what a warehouse has published, on a local disk or on object storage.

    The caller's session keeps its views and settings: a separate new session runs the queries.

    Raises:
        UsageError: no warehouse was named, or nothing is published.
        SurroundingsError: it cannot be read.
    """
    published = open_warehouse(warehouse)
    try:
        store = Store(session_beside(spark), published.place.text)
    except (OSError, ValueError) as error:
        raise SurroundingsError(f"Cannot read {warehouse}: {error}") from error
    return SparkTables(store, published)


def _without_zones(frame: DataFrame) -> DataFrame:
    """Return zoned times as plain UTC: PySpark would give them in this machine's zone."""
    columns = [f"c{place}" for place in range(len(frame.columns))]
    return frame.toDF(*columns).select(
        *(
            F.col(name).cast("timestamp_ntz") if field.dataType == TimestampType() else F.col(name)
            for name, field in zip(columns, frame.schema, strict=True)
        )
    )


def _rows(frame: DataFrame) -> Iterator[tuple[object, ...]]:
    """Yield the rows without holding them all."""
    try:
        for row in frame.toLocalIterator():
            yield tuple(row)
    except (PySparkException, Py4JError) as error:
        raise _as_aclkit_error(error) from error


_FAULTS_OF_THE_TEXT: Final = ("0A", "21", "22", "42", "38", "07", "54", "56")
"""Classes of SQLSTATE that speak of the statement and its values, not of the engine."""


def _as_aclkit_error(error: PySparkException | Py4JError) -> UsageError | SurroundingsError:
    """Return the error of ours: the question's fault or the machine's."""
    for cause in _causes(error):
        if (cause.getSqlState() or "")[:2] in _FAULTS_OF_THE_TEXT:
            return UsageError(f"Invalid SQL: {first_line(cause)[:500]}")
    return SurroundingsError(f"Spark cannot answer: {first_line(error)[:500]}")


def _causes(error: PySparkException | Py4JError) -> Iterator[PySparkException]:
    """Yield an error and what it was caused by; while rows are fetched it comes wrapped."""
    if isinstance(error, PySparkException):
        yield error
    cause: Any = getattr(error, "java_exception", None)
    while cause is not None:
        yield convert_exception(cause)
        cause = cause.getCause()
