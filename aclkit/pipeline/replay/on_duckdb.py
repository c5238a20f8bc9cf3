"""The engine that this process is: tables of Arrow, and SQL of DuckDB."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from string import Template
from typing import Any, ClassVar, Final

import duckdb
import pyarrow as pa
from duckdb import CoalesceOperator, ColumnExpression, ConstantExpression, FunctionExpression

from aclkit.model.acl import Acl
from aclkit.pipeline.plan import ROWS_REPLAYED_HERE
from aclkit.pipeline.replay.asking import TooManyRowsError
from aclkit.pipeline.replay.conditions import Columns, Expression
from aclkit.pipeline.replay.engine import Engine
from aclkit.pipeline.sources.arrow import ARROW_SCHEMA, batches_of, schema_of
from aclkit.pipeline.sources.items import WorkItem
from aclkit.runtime.arrow import arrow_table
from aclkit.runtime.read_progress import ReadProgress
from aclkit.runtime.scratch import scratch
from aclkit.warehouse.column_types import arrow_schema
from aclkit.warehouse.duck_beside import connect_beside
from aclkit.warehouse.schemas import TABLES

_LOG: Final = TABLES["acl_log"].column_names
_IN_ORDER: Final = ", ".join(f"row.{name}, 'ASC NULLS FIRST'" for name in _LOG)
_AS_JSON: Final = ", ".join(f"""'"{name}":' || to_json({name})""" for name in Acl.__slots__)


class OnDuckdb(Engine[pa.Table]):
    """This process, whose tables are in its memory."""

    WORDS: ClassVar = {
        "digest": "row",
        "fact": f"struct_pack({', '.join(f'{name} := {name}' for name in _LOG)})",
        "least_row": f"arg_min(row, create_sort_key({_IN_ORDER})) FILTER (WHERE NOT is_known)",
        "first_by": "arg_min_null",
        "micros": "epoch_us",
        # Not epoch_ms, which rounds: a listing's time has microseconds, and Spark cuts them off.
        "millis": "epoch_us(log_time) // 1000",
        "json": f"'{{' || concat_ws(',', {_AS_JSON}) || '}}'",
        "sha256": "sha256(raw)",
    }
    COLUMNS = Columns(
        column=ColumnExpression,
        text=ConstantExpression,
        nothing=lambda: ConstantExpression(value=False),
        settled=lambda condition: CoalesceOperator(condition, ConstantExpression(value=False)),
        is_in=lambda column, numbers: column.isin(*map(ConstantExpression, numbers)),
        starts_with=partial(FunctionExpression, "starts_with"),
    )

    def __init__(self, cluster_id: str) -> None:
        """Take the cluster that rows are of."""
        self.cluster_id = cluster_id

    def read(self, items: Sequence[WorkItem], board: str | None) -> pa.Table:
        """Read one after the other."""
        # Imported here, so that a run with nothing new does not load the decoders.
        from aclkit.pipeline.sources.readers import read_or_tell

        batches, left = [], ROWS_REPLAYED_HERE
        for number, item in enumerate(items):
            with closing(ReadProgress(board, number)) as told:
                for batch in batches_of(read_or_tell(item, told)):
                    batches.append(batch)
                    left -= batch.num_rows
                    if left < 0:
                        raise TooManyRowsError
        return pa.Table.from_batches(batches, ARROW_SCHEMA)

    def frame(self, ddl: str, rows: Sequence[Sequence[object]]) -> pa.Table:
        """Make columns of them."""
        return arrow_table(rows, schema_of(ddl))

    def union(self, *frames: pa.Table) -> pa.Table:
        """Lay them one after the other."""
        return pa.concat_tables(frames)

    def ask(
        self, sql: str, values: Sequence[object] = (), *, table: str = "", **frames: pa.Table
    ) -> pa.Table:
        """Make columns of what DuckDB finds."""
        with self._asked(sql, values, frames) as found:
            rows = found.to_arrow_table()
            return rows.cast(arrow_schema(table)) if table else rows

    def collect(self, sql: str, **frames: pa.Table) -> list[tuple[Any, ...]]:
        """Fetch what DuckDB finds."""
        with self._asked(sql, (), frames) as found:
            return found.fetchall()

    def where(self, rows: pa.Table, condition: Expression) -> pa.Table:
        """Filter by an expression of DuckDB."""
        with _connected() as connection:
            found = connection.from_arrow(rows).filter(condition).to_arrow_table()
            return found.cast(rows.schema)

    @contextmanager
    def _asked(
        self, sql: str, values: Sequence[object], frames: dict[str, pa.Table]
    ) -> Iterator[duckdb.DuckDBPyRelation]:
        with _connected() as connection:
            for name, table in frames.items():
                connection.register(name, table)
            words = {**self.WORDS, **dict(zip(frames, frames, strict=True))}
            yield connection.sql(Template(sql).substitute(words), params=list(values))


@contextmanager
def _connected() -> Iterator[duckdb.DuckDBPyConnection]:
    # What does not fit into DuckDB's share of the memory goes to this process's own folder.
    with connect_beside({}, str(scratch() / "duckdb")) as (connection, _):
        yield connection
