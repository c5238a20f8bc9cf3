"""Source rows + the facts already known → the facts to add, and where they disagree."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any, Final

import pyarrow as pa

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
from aclkit.pipeline.replay.on_duckdb.asking import ask, rows_of
from aclkit.pipeline.replay.ranges import Range
from aclkit.pipeline.replay.transactions import MARKERS, Marker, Span
from aclkit.runtime.arrow import arrow_table
from aclkit.warehouse.column_types import arrow_schema
from aclkit.warehouse.schemas import TABLES


def only(rows: pa.Table, conditions: Iterable[Condition], *, is_not: bool = False) -> pa.Table:
    """Return the facts or rejects that some condition holds for, or those that none does."""
    texts: list[str] = []
    values: list[object] = []
    for text, own in chain.from_iterable(map(_parts, conditions)):
        texts.append(text)
        values.extend(own)
    if not texts:
        return rows if is_not else rows.slice(0, 0)
    holds = f"coalesce({' OR '.join(texts)}, false)"
    found = ask(f"FROM rows WHERE {'NOT ' * is_not}{holds}", values, rows=rows)
    return found.cast(rows.schema)


def _parts(condition: Condition) -> Iterable[tuple[str, Sequence[object]]]:
    """Yield what may make a condition hold, each as SQL and its values."""
    if isinstance(condition, Withdrawn):
        for epoch, cut in sorted(condition.cuts.items()):
            yield f"(fact = '{RECORD}' AND epoch = ? AND log_offset >= ?)", (epoch, cut)
    elif isinstance(condition, OfSnapshots):
        ends = sorted(condition.end_offsets)
        yield f"(fact = '{SNAPSHOT}' AND list_contains(?::BIGINT[], log_offset))", (ends,)
    elif isinstance(condition, Offsets):
        yield "(log_offset >= ? AND log_offset < ?)", (condition.start, condition.stop)
    elif isinstance(condition, OfASource):
        parts = [("true", ())] if condition.item is None else _parts(condition.item)
        for text, values in parts:
            yield f"(stage = 'source' AND {text})", values
    else:
        folder = f"{condition.source.rstrip('/')}/"
        yield "(source = ? OR starts_with(source, ?))", (condition.source, folder)


def failure(rows: pa.Table) -> Failure | None:
    """See ``Engine``."""
    found = rows_of("SELECT fact, reason FROM rows WHERE kind = ? LIMIT 1", [FAILURE], rows=rows)
    return Failure(*found[0]) if found else None


def incoming_ranges(rows: pa.Table) -> list[Range]:
    """See ``Engine``."""
    found = rows_of(_RANGES, [RANGE], rows=rows)
    return [Range(*row) for row in found]


def incoming_facts(rows: pa.Table, cluster_id: str) -> pa.Table:
    """See ``Engine``."""
    return _incoming(rows, FACT, "acl_log", ("NULL", "txn_offset"), cluster_id)


def incoming_rejects(rows: pa.Table, cluster_id: str) -> pa.Table:
    """See ``Engine``."""
    return _incoming(rows, REJECT, "acl_reject", ("'source'", "stage"), cluster_id)


def _incoming(
    rows: pa.Table, kind: str, table: str, more: tuple[str, str], cluster_id: str
) -> pa.Table:
    """Return the rows of a kind as rows of a table, with the columns that a source lacks."""
    lacking = {more[1]: f"{more[0]} AS {more[1]}", "cluster_id": "? AS cluster_id"}
    columns = ", ".join(lacking.get(name, name) for name in TABLES[table].column_names)
    sql = f"SELECT {columns} FROM rows WHERE kind = ?"
    return ask(sql, [cluster_id, kind], rows=rows).cast(arrow_schema(table))


def compare(known: pa.Table, incoming: pa.Table) -> pa.Table:
    """See ``Engine``.

    The columns are those of the incoming fact, and ``contents`` (how many different contents the
    key has), ``is_known``, ``is_incoming``, ``known_source`` and ``is_shifted``.
    """
    return ask(_COMPARED, known=known, incoming=incoming)


def worst_conflict(
    compared: pa.Table, known: Sequence[Range], incoming: Sequence[Range]
) -> Conflict | None:
    """See ``Engine``."""
    found = rows_of(
        _CONFLICTS,
        compared=compared,
        read_before=_whole(known),
        read_now=_whole(incoming),
    )
    return Conflict(*found[0]) if found else None


def _whole(ranges: Iterable[Range]) -> pa.Table:
    """Return where everything was read: ``fact``, and offsets from … to, the last one excluded."""
    rows = [
        (r.fact, r.to_offset if r.fact == SNAPSHOT else r.from_offset, r.to_offset)
        for r in ranges
        if r.fact == SNAPSHOT or (r.fact == RECORD and r.epoch is not None)
    ]
    found = [(fact, start, stop + (fact == SNAPSHOT)) for fact, start, stop in rows]
    return small(found, fact=pa.string(), start=pa.int64(), stop=pa.int64())


def count_facts(compared: pa.Table) -> Counted:
    """See ``Engine``."""
    ((fresh, shifted),) = rows_of(_COUNTS, compared=compared)
    markers = rows_of(_MARKERS, compared=compared)
    brokers = rows_of(f"{_BROKERS} AND NOT is_known", facts=compared)
    return Counted(fresh, shifted, [Marker(*row) for row in markers], _broker_facts(brokers))


def new_facts(compared: pa.Table) -> pa.Table:
    """See ``Engine``."""
    return ask(f"SELECT {_COLUMNS} FROM compared WHERE NOT is_known", compared=compared).cast(_LOG)


def with_times(known: pa.Table, compared: pa.Table) -> pa.Table:
    """See ``Engine``."""
    return ask(_TIMES, known=known, compared=compared).cast(_LOG)


def broker_facts(facts: pa.Table) -> list[BrokerFact]:
    """See ``Engine``."""
    return _broker_facts(rows_of(_BROKERS, facts=facts))


def _broker_facts(rows: Iterable[tuple[Any, ...]]) -> list[BrokerFact]:
    return [BrokerFact(*row) for row in rows]


def with_txn_offset(facts: pa.Table, spans: Sequence[Span]) -> pa.Table:
    """See ``Engine``."""
    return ask(_WITH_BEGIN, facts=facts, spans=spans_table(spans)).cast(_LOG)


def moved_records(facts: pa.Table, spans: Sequence[Span]) -> pa.Table:
    """See ``Engine``."""
    return ask(_MOVED, facts=facts, spans=spans_table(spans))


def spans_table(spans: Sequence[Span]) -> pa.Table:
    """Make the table of transactions."""
    return small(spans, begin_offset=pa.int64(), end_offset=pa.int64(), outcome=pa.string())


def small(rows: Sequence[Sequence[object]], **columns: pa.DataType) -> pa.Table:
    """Make a table of values."""
    return arrow_table(rows, pa.schema(list(columns.items())))


def _listed(names: Iterable[str]) -> str:
    """Write constants of this package as a list in SQL."""
    return ", ".join(f"'{name}'" for name in names)


_LOG: Final = arrow_schema("acl_log")
_COLUMNS: Final = ", ".join(_LOG.names)

_RANGES: Final = "SELECT DISTINCT from_offset, to_offset, epoch, fact FROM rows WHERE kind = ?"

_ENTITY: Final = f"""\
CASE WHEN fact = '{RECORD}' THEN '' ELSE coalesce(acl_id, topic_id, concat_ws(
  '/', resource_type, resource_name, principal, mechanism, CAST(broker_id AS VARCHAR))) END"""
"""What an entry is about: a listed resource by its type and name, all else without an id by what is
not null. Of a record the offset alone is the key."""

_CONTENT: Final = f"""row(
  record_type, acl_id, {", ".join(BINDING)}, topic_id, mechanism,
  broker_id, min_level, max_level)"""

_COMPARED: Final = f"""\
WITH came AS (SELECT *, {_ENTITY} AS entity FROM incoming),
sides AS (
  SELECT fact, log_offset, {_ENTITY} AS entity, {_CONTENT} AS content, true AS is_known,
    source AS known_source, log_time AS known_time FROM known
  UNION ALL
  SELECT fact, log_offset, entity, {_CONTENT}, false, NULL, NULL FROM came),
keys AS (
  SELECT fact, log_offset, entity, count(DISTINCT content) AS contents,
    bool_or(is_known) AS is_known, bool_or(NOT is_known) AS is_incoming,
    min(known_source) AS known_source, max(known_time) AS known_time
  FROM sides GROUP BY fact, log_offset, entity),
kept AS (
  SELECT * FROM came QUALIFY row_number() OVER (
    PARTITION BY fact, log_offset, entity
    ORDER BY {", ".join(f"{name} NULLS FIRST" for name in _LOG.names)}) = 1)
SELECT kept.* EXCLUDE (fact, log_offset, entity), k.* EXCLUDE (known_time),
  coalesce(
    epoch_us(k.known_time) <> epoch_us(kept.log_time)
    AND (epoch_us(k.known_time) - epoch_us(kept.log_time)) % 900000000 = 0, false) AS is_shifted
FROM keys AS k LEFT JOIN kept ON k.fact IS NOT DISTINCT FROM kept.fact
  AND k.log_offset IS NOT DISTINCT FROM kept.log_offset AND k.entity = kept.entity"""
"""All zones are whole quarters of an hour away from UTC, 900,000,000 µs."""

_IS_OF_BROKER: Final = f"record_type IN ({_listed(BROKER_RECORDS)})"

_CONFLICTS: Final = f"""\
WITH differing AS (
  SELECT fact, log_offset, known_source FROM compared AS c
  WHERE contents > 1
  OR (NOT is_known AND NOT coalesce({_IS_OF_BROKER}, false) AND EXISTS (
    SELECT 1 FROM read_before AS r
    WHERE r.fact = c.fact AND c.log_offset >= r.start AND c.log_offset < r.stop))
  OR (NOT is_incoming AND EXISTS (
    SELECT 1 FROM read_now AS r
    WHERE r.fact = c.fact AND c.log_offset >= r.start AND c.log_offset < r.stop)))
SELECT fact, min(log_offset) AS first, max(log_offset), arg_min_null(known_source, log_offset)
FROM differing GROUP BY fact ORDER BY first, fact LIMIT 1"""

_COUNTS: Final = """\
SELECT count(*) FILTER (NOT is_known), count(*) FILTER (is_known AND is_shifted) FROM compared"""

_MARKERS: Final = f"""\
SELECT log_offset, record_type FROM compared
WHERE NOT is_known AND fact = '{RECORD}' AND record_type IN ({_listed(MARKERS)})"""

_BROKERS: Final = f"""\
SELECT fact, log_offset, record_type, broker_id, min_level, max_level, epoch,
  epoch_us(log_time) // 1000
FROM facts WHERE {_IS_OF_BROKER}"""
"""Not ``epoch_ms``, which rounds: a listing's time has microseconds, and Spark cuts them off."""

_TIMES: Final = f"""\
WITH named AS (SELECT *, {_ENTITY} AS entity FROM known),
shifted AS (SELECT fact, log_offset, entity, log_time AS right_time FROM compared
  WHERE is_known AND is_shifted)
SELECT named.* EXCLUDE (entity) REPLACE (coalesce(s.right_time, named.log_time) AS log_time)
FROM named LEFT JOIN shifted AS s
  ON named.fact = s.fact AND named.log_offset = s.log_offset AND named.entity = s.entity"""

_WITHIN: Final = f"""\
FROM facts AS f LEFT JOIN spans AS s
ON CASE WHEN f.fact = '{RECORD}' THEN f.log_offset END > s.begin_offset
  AND CASE WHEN f.fact = '{RECORD}' THEN f.log_offset END < s.end_offset"""

_WITH_BEGIN: Final = f"SELECT f.* REPLACE (s.begin_offset AS txn_offset) {_WITHIN}"

_MOVED: Final = f"""\
SELECT f.cluster_id, f.log_offset, s.begin_offset AS txn_offset {_WITHIN}
WHERE f.fact = '{RECORD}' AND f.txn_offset IS DISTINCT FROM s.begin_offset"""
