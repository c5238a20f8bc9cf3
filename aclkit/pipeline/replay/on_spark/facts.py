"""Source rows + the facts already known → the facts to add, and where they disagree."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from operator import or_
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from aclkit.model.acl import BINDING
from aclkit.model.facts import BROKER_RECORDS, FACT, FAILURE, RANGE, RECORD, REJECT, SNAPSHOT
from aclkit.pipeline.replay.brokers import BrokerFact
from aclkit.pipeline.replay.engine import (
    Condition,
    Conflict,
    Counted,
    Failure,
    OfASource,
    Offsets,
    OfSnapshots,
    Withdrawn,
)
from aclkit.pipeline.replay.on_spark.fold import beside, is_within
from aclkit.pipeline.replay.ranges import Range
from aclkit.pipeline.replay.transactions import MARKERS, Marker
from aclkit.warehouse.schemas import TABLES


def any_of(conditions: Iterable[Condition]) -> Column:
    """Whether some condition holds for a fact or a reject; unknown is no."""
    return F.coalesce(reduce(or_, map(_column_of, conditions), F.lit(False)), F.lit(False))


def _column_of(condition: Condition) -> Column:
    offset = F.col("log_offset")
    if isinstance(condition, Withdrawn):
        cuts = sorted(condition.cuts.items())
        parts = ((F.col("epoch") == epoch) & (offset >= cut) for epoch, cut in cuts)
        return (F.col("fact") == RECORD) & reduce(or_, parts, F.lit(False))
    if isinstance(condition, OfSnapshots):
        return (F.col("fact") == SNAPSHOT) & offset.isin(list(condition.end_offsets))
    if isinstance(condition, Offsets):
        return (offset >= condition.start) & (offset < condition.stop)
    if isinstance(condition, OfASource):
        is_of = F.lit(True) if condition.item is None else _column_of(condition.item)
        return (F.col("stage") == "source") & is_of
    folder = f"{condition.source.rstrip('/')}/"
    return (F.col("source") == condition.source) | F.col("source").startswith(folder)


def failure(rows: DataFrame) -> Failure | None:
    """See ``Engine``."""
    failures = rows.where(F.col("kind") == FAILURE).select("fact", "reason").limit(1).collect()
    return Failure(*failures[0]) if failures else None


def incoming_ranges(rows: DataFrame) -> list[Range]:
    """Collect the ranges among source rows, each once."""
    ranges = rows.where(F.col("kind") == RANGE)
    columns = ("from_offset", "to_offset", "epoch", "fact")
    # They are few, and made different here: of rows that the driver holds this takes no job.
    return list({Range(*row) for row in ranges.select(*columns).collect()})


def incoming_facts(rows: DataFrame, cluster_id: str) -> DataFrame:
    """Turn the facts among source rows into ``acl_log`` rows."""
    more = {"cluster_id": F.lit(cluster_id), "txn_offset": F.lit(None).cast("bigint")}
    return _incoming(rows, FACT, "acl_log", more)


def incoming_rejects(rows: DataFrame, cluster_id: str) -> DataFrame:
    """Turn the rejects among source rows into ``acl_reject`` rows."""
    more = {"cluster_id": F.lit(cluster_id), "stage": F.lit("source")}
    return _incoming(rows, REJECT, "acl_reject", more)


def _incoming(rows: DataFrame, kind: str, table: str, more: dict[str, Column]) -> DataFrame:
    """Return the rows of a kind as rows of a table, with the columns that a source lacks."""
    found = rows.where(F.col("kind") == kind).withColumns(more)
    return found.select(*TABLES[table].column_names)


def compare(known: DataFrame, incoming: DataFrame) -> DataFrame:
    """Lay known and incoming facts side by side, one row per fact key; see ``Engine``.

    Columns: ``fact``, ``log_offset``, ``entity``; ``contents`` (how many different contents the
    key has), ``is_known``, ``is_incoming``, ``row``: the incoming fact, one whatever files it
    came from, and ``known_source``: where the known one came from; ``is_shifted``: it is known
    with a time that an older aclkit had shifted.
    """
    columns = incoming.columns
    sides = _side(known, columns, is_known=True).unionByName(
        _side(incoming, columns, is_known=False)
    )
    return sides.groupBy("fact", "log_offset", "entity").agg(
        F.count_distinct("content").alias("contents"),
        F.bool_or("is_known").alias("is_known"),
        F.bool_or(~F.col("is_known")).alias("is_incoming"),
        F.min("row").alias("row"),
        F.min("known_source").alias("known_source"),
        _is_shifted(F.max("known_time"), F.min("row")["log_time"]).alias("is_shifted"),
    )


def _is_shifted(known: Column, incoming: Column) -> Column:
    """Whether two times of a fact differ by whole quarters of an hour, as zones do."""
    micros = F.unix_micros(known) - F.unix_micros(incoming)
    return F.coalesce((micros != 0) & (micros % _QUARTER == 0), F.lit(False))


def with_times(known: DataFrame, compared: DataFrame) -> DataFrame:
    """Return known facts, with the times of the source where they were shifted."""
    shifted = compared.where("is_known AND is_shifted")
    right = shifted.select(
        "fact", "log_offset", "entity", F.col("row.log_time").alias("right_time")
    )
    named = known.withColumn("entity", _entity())
    found = named.join(F.broadcast(right), on=["fact", "log_offset", "entity"], how="left")
    columns = {"log_time": F.coalesce("right_time", "log_time")}
    return found.withColumns(columns).select(*known.columns)


def new_facts(compared: DataFrame) -> DataFrame:
    """Return the incoming facts that are not known yet."""
    return compared.where(~F.col("is_known")).select("row.*")


def count_facts(compared: DataFrame) -> Counted:
    """Count facts that were laid side by side, and collect what is small of them, in one job."""
    kind, is_fresh = F.col("row.record_type"), ~F.col("is_known")
    is_marker = (F.col("row.fact") == RECORD) & kind.isin(*MARKERS) & is_fresh
    marker = F.when(is_marker, F.struct("row.log_offset", "row.record_type"))
    is_broker = kind.isin(*BROKER_RECORDS) & is_fresh
    ((fresh, shifted, markers, brokers),) = compared.agg(
        F.count_if(is_fresh),
        F.count_if(F.col("is_known") & F.col("is_shifted")),
        F.collect_list(marker),
        F.collect_list(F.when(is_broker, F.struct(*_of_broker("row.")))),
    ).collect()
    found = [Marker(*row) for row in markers], [BrokerFact(*row) for row in brokers]
    return Counted(fresh, shifted, *found)


def broker_facts(facts: DataFrame) -> list[BrokerFact]:
    """Collect the facts of brokers."""
    return [
        BrokerFact(*row) for row in facts.where(_is_of_broker()).select(*_of_broker()).collect()
    ]


def _is_of_broker() -> Column:
    return F.col("record_type").isin(*BROKER_RECORDS)


def _of_broker(of: str = "") -> list[Column]:
    """Return the fields of a ``BrokerFact``, of the columns of a struct where one is named."""
    *columns, _ = BrokerFact._fields
    fields = [F.col(f"{of}{name}").alias(name) for name in columns]
    return [*fields, F.unix_millis(f"{of}log_time").alias("milliseconds")]


def with_txn_offset(facts: DataFrame, spans: DataFrame) -> DataFrame:
    """Set ``txn_offset`` to the Begin of the transaction that each record is part of."""
    inside = (F.col("f.fact") == RECORD) & is_within()
    found = beside(facts, spans, inside, "left").select("f.*", "s.begin_offset")
    return found.withColumn("txn_offset", F.col("begin_offset")).drop("begin_offset")


def moved_records(facts: DataFrame, spans: DataFrame) -> DataFrame:
    """Return the records whose transaction has become known, or another, with its offset."""
    now = with_txn_offset(facts.withColumn("was", F.col("txn_offset")), spans)
    moved = (F.col("fact") == RECORD) & ~F.col("txn_offset").eqNullSafe(F.col("was"))
    return now.where(moved).select("cluster_id", "log_offset", "txn_offset")


def worst_conflict(
    compared: DataFrame, known: Sequence[Range], incoming: Sequence[Range]
) -> Conflict | None:
    """See ``Engine``."""
    differs = F.col("contents") > 1
    is_of_broker = F.coalesce(F.col("row.record_type").isin(*BROKER_RECORDS), F.lit(False))
    came = ~F.col("is_known") & ~is_of_broker & _within(known)
    went = ~F.col("is_incoming") & _within(incoming)
    worst = (
        compared.where(differs | came | went)
        .groupBy("fact")
        .agg(
            F.min("log_offset").alias("first"),
            F.max("log_offset").alias("last"),
            F.min_by("known_source", "log_offset").alias("source"),
        )
        .orderBy("first", "fact")
        .limit(1)
        .collect()
    )
    return Conflict(*worst[0]) if worst else None


_QUARTER: Final = 900_000_000
"""A quarter of an hour in microseconds: all zones are whole ones away from UTC."""

_CONTENT: Final = (
    *("record_type", "acl_id", *BINDING, "topic_id", "mechanism"),
    *("broker_id", "min_level", "max_level"),
)


def _side(facts: DataFrame, columns: Iterable[str], *, is_known: bool) -> DataFrame:
    """Give each fact its key and content; of a record the offset alone is the key."""
    row = F.struct(*columns)
    return facts.select(
        "fact",
        "log_offset",
        _entity().alias("entity"),
        F.xxhash64(*_CONTENT).alias("content"),
        F.lit(is_known).alias("is_known"),
        F.when(F.lit(not is_known), row).alias("row"),
        F.when(F.lit(is_known), F.col("source")).alias("known_source"),
        F.when(F.lit(is_known), F.col("log_time")).alias("known_time"),
    )


def _entity() -> Column:
    # A listed resource is known by its type and name, all else without an id by what is not null.
    named_by = (
        *("resource_type", "resource_name", "principal", "mechanism"),
        F.col("broker_id").cast("string"),
    )
    entity = F.coalesce("acl_id", "topic_id", F.concat_ws("/", *named_by))
    return F.when(F.col("fact") == RECORD, F.lit("")).otherwise(entity)


def _within(ranges: Sequence[Range]) -> Column:
    """Whether a fact lies within these ranges, in which everything was read."""
    offset = F.col("log_offset")
    ends = [item.to_offset for item in ranges if item.fact == SNAPSHOT]
    inside = (F.col("fact") == SNAPSHOT) & offset.isin(ends)
    for item in ranges:
        if item.fact == RECORD and item.epoch is not None:
            is_in = offset.between(item.from_offset, item.to_offset - 1)
            inside = inside | ((F.col("fact") == RECORD) & is_in)
    return inside
