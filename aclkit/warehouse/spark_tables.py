"""A published run → its tables and views in Spark, and nothing else for who asks them.

They stand in a session of their own, each opened when a statement first names it, so that a
question about three tables does not read the logs of thirty.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import reduce
from typing import Any, Final

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.errors.exceptions.captured import convert_exception
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import TimestampType

from aclkit.errors import SurroundingsError, UsageError
from aclkit.warehouse.before import versions_before
from aclkit.warehouse.job_run import JOB_RUN
from aclkit.warehouse.published import Published, nothing_published, open_warehouse
from aclkit.warehouse.schemas import TABLES
from aclkit.warehouse.spark_guard import check_reads_only
from aclkit.warehouse.store import Store
from aclkit.warehouse.table_files import TableFiles
from aclkit.warehouse.tables import Rows
from aclkit.warehouse.views import PAST, PAST_TABLES, view_sql

_VIEW_IF_UNWRITTEN: Final = "explain"

_PAST_NAMES: Final = {f"{PAST}.{name}": f"{PAST}_{name}" for name in PAST_TABLES}
"""A temporary view can be in no schema."""

_IN_SPARK: Final = {
    "unnest(CAST(? AS VARCHAR[]))": "explode(from_json(CAST(? AS STRING), 'ARRAY<STRING>'))",
    "unnest(CAST(? AS BIGINT[]))": "explode(from_json(CAST(? AS STRING), 'ARRAY<BIGINT>'))",
    "AS TIMESTAMP)": "AS TIMESTAMP_NTZ)",
    "epoch_ms(": "unix_millis(",
    "starts_with(": "startswith(",
}
"""What this package's own statements say in DuckDB's words, and Spark's for it."""


@dataclass(frozen=True, slots=True)
class _Found:
    """The rows of a statement that Spark has yet to run."""

    frame: DataFrame

    def fetchall(self) -> list[tuple[Any, ...]]:
        """Return all rows.

        Raises:
            SurroundingsError: the tables are damaged, or Spark fails.
        """
        try:
            return [tuple(row) for row in self.frame.collect()]
        except (PySparkException, Py4JError) as error:
            raise _spark_failed(error) from error


class SparkTables:
    """The published tables and views as Spark reads them; see ``tables.Tables``."""

    def __init__(self, store: Store, published: Published) -> None:
        """Take tables from a store whose session nobody else uses."""
        self._spark, self._store, self._published = store.spark, store, published
        known = {*TABLES, *published.run.table_versions} - {_VIEW_IF_UNWRITTEN}
        if _VIEW_IF_UNWRITTEN in published.run.table_versions:
            known.add(_VIEW_IF_UNWRITTEN)
        self._views = view_sql(known, "spark", _PAST_NAMES)
        self._known = known | set(self._views)
        self._open: set[str] = set()

    def execute(self, query: str, parameters: object = None, /) -> _Found:
        """Run one of this package's own statements; see ``tables.Tables.execute``.

        Raises:
            SurroundingsError: a published table cannot be read.
        """
        values = parameters if isinstance(parameters, Sequence) else ()
        args = {f"p{place}": _value(value) for place, value in enumerate(values)}
        try:
            self._open_all(_words(query))
            return _Found(self._spark.sql(_in_spark(query), args=args))
        except (PySparkException, Py4JError) as error:
            raise _spark_failed(error) from error

    def ask(self, text: str) -> Rows:
        """Run one SELECT that a person wrote in Spark's SQL.

        Raises:
            UsageError: the text is anything else, or Spark refuses it.
        """
        try:
            self._open_all(check_reads_only(self._spark, text, self._known))
            found = self._spark.sql(text)
            return Rows(tuple(found.columns), _rows(_without_zones(found)))
        except (PySparkException, Py4JError) as error:
            raise _as_aclkit_error(error) from error

    def _open_all(self, names: Iterable[str]) -> None:
        """Make those of the names that are tables or views readable, and what is below them."""
        for name in sorted((set(names) & (self._known | set(_PAST_NAMES.values()))) - self._open):
            self._open.add(name)
            if name in self._views:
                self._open_all(_words(self._views[name]))
                frame = self._spark.sql(self._views[name])
            else:
                frame = self._table(name)
            frame.createOrReplaceTempView(name)

    def _table(self, name: str) -> DataFrame:
        """Return a table at its published version, or as it was before."""
        if name not in self._known:
            return self._past(name.removeprefix(f"{PAST}_"))
        if name != JOB_RUN:
            return self._store.read_version(name, self._published.run.table_versions.get(name))
        rows = self._store.read_version(JOB_RUN, self._store.newest_version(JOB_RUN))
        # Somebody may have published since.
        return rows.where(F.col("run_number") <= self._published.run.run_number)

    def _past(self, name: str) -> DataFrame:
        """Return a table as it was before the run that decided last, each cluster's own rows."""
        frames = [self._store.read_version(name, None)]
        for cluster_id in self._published.clusters:
            version = versions_before(self._published, cluster_id).get(name)
            if version is not None:
                rows = self._store.read_version(name, version)
                frames.append(rows.where(F.col("cluster_id") == F.lit(cluster_id)))
        return reduce(DataFrame.unionByName, frames)


def open_with_spark(spark: SparkSession, warehouse: str | None) -> tuple[Published, SparkTables]:
    """Open what a warehouse has published, on a local disk or on object storage.

    The caller's session keeps its views and settings: a new one beside it is asked.

    Raises:
        UsageError: no warehouse was named, or nothing is published.
        SurroundingsError: it cannot be read.
    """
    if warehouse is None or "://" not in warehouse:
        published = open_warehouse(warehouse)
        return published, SparkTables(Store(_beside(spark), str(published.path)), published)
    try:
        store = Store(_beside(spark), warehouse.rstrip("/"))
    except (OSError, ValueError) as error:
        raise SurroundingsError(f"cannot read {warehouse}: {error}") from error
    except (PySparkException, Py4JError) as error:
        raise _spark_failed(error) from error
    if not store.runs:
        raise nothing_published(warehouse)
    published = Published(
        standing=store.runs,
        uri=store.warehouse,
        job_run=TableFiles((), ()),
        read_runs=store.all_runs,
    )
    return published, SparkTables(store, published)


def _beside(spark: SparkSession) -> SparkSession:
    """Return a session with the same settings and no views, functions or variables."""
    beside = spark.newSession()
    for key, value in spark.conf.getAll.items():
        if beside.conf.isModifiable(key):
            beside.conf.set(key, value)
    # TIMESTAMP without a zone is the UTC one, and what does not fit is an error, not a null.
    beside.conf.set("spark.sql.session.timeZone", "UTC")
    beside.conf.set("spark.sql.ansi.enabled", "true")
    # Delta's parser drops the values of parameters that Spark 4.1 on hands it: delta-io/delta#7640.
    beside.conf.set("spark.sql.legacy.parameterSubstitution.constantsOnly", "true")
    return beside


def _in_spark(query: str) -> str:
    """Return one of this package's own statements in Spark's words.

    Its parameters get names: Spark mixes those of a subquery up when they are counted.
    """
    for duckdb, spark in _IN_SPARK.items():
        query = query.replace(duckdb, spark)
    first, *rest = query.split("?")
    return first + "".join(f":p{place}{part}" for place, part in enumerate(rest))


def _words(text: str) -> list[str]:
    """Return the words of one of this package's own texts: table names are among them."""
    return re.findall(r"\w+", text)


def _value(value: object) -> object:
    """Return a value as ``_IN_SPARK`` wants it: lists as JSON, times as text in UTC."""
    if isinstance(value, datetime):
        utc = value if value.tzinfo is None else value.astimezone(UTC).replace(tzinfo=None)
        return utc.isoformat(sep=" ")
    return json.dumps(value) if isinstance(value, (list, tuple)) else value


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
    """Say whose fault an error is: the question's or the machine's."""
    for cause in _causes(error):
        if (cause.getSqlState() or "")[:2] in _FAULTS_OF_THE_TEXT:
            return UsageError(f"bad SQL: {_first_line(cause)}")
    return _spark_failed(error)


def _causes(error: PySparkException | Py4JError) -> Iterator[PySparkException]:
    """Yield an error and what it was caused by; while rows are fetched it comes wrapped."""
    if isinstance(error, PySparkException):
        yield error
    cause: Any = getattr(error, "java_exception", None)
    while cause is not None:
        yield convert_exception(cause)
        cause = cause.getCause()


def _spark_failed(error: Exception) -> SurroundingsError:
    return SurroundingsError(f"Spark could not answer: {_first_line(error)}")


def _first_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return (lines or [type(error).__name__])[0][:500]
