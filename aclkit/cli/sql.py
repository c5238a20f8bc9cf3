"""The command sql: one SELECT that a person wrote → its rows on stdout."""

from __future__ import annotations

import contextlib
from typing import Final

import click

from aclkit.answer.document import Answer
from aclkit.cli.apart import SqlQuestion, answer
from aclkit.cli.context import Context, engine_option, format_option
from aclkit.cli.options import FiniteRange, option

_SECONDS: Final = 60.0
_SECONDS_WITH_SPARK: Final = 3_600.0
"""It is asked of what is too large for one machine, and takes some time to begin."""


@click.command("sql")
@click.argument("statement")
@engine_option
@format_option
@option(
    "--timeout",
    type=FiniteRange(min=0, min_open=True),
    show_default=f"{_SECONDS:g}, with Spark {_SECONDS_WITH_SPARK:g}",
    metavar="SECONDS",
    help="How long the question may take, until its last row.",
)
@click.pass_obj
def sql(context: Context, statement: str, timeout: float | None) -> None:
    """Run one SELECT over the published tables and views.

    \b
    Example:
      aclkit sql "SELECT principal, count(*) FROM acl_current GROUP BY ALL"
      aclkit sql "SHOW TABLES"
      aclkit sql "DESCRIBE explain"
      aclkit --warehouse s3a://bucket/acls sql --engine spark "SELECT count(*) FROM explain"

    The SQL is DuckDB's, or Spark's with --engine spark, which takes queries only: no SHOW, no
    DESCRIBE. Nothing can be written, and nothing outside the warehouse read. A question that
    takes longer than --timeout, or more than half of the machine's memory, ends with exit code 2.
    Times are UTC.
    """
    if context.engine == "duckdb":
        layout = context.layout
        question = SqlQuestion(
            warehouse=context.asked_warehouse(),
            statement=statement,
            output_format=context.output_format,
            columns=context.columns,
            width=None if layout.is_wide else layout.width,
            has_colour=layout.has_colour,
        )
        with contextlib.closing(answer(question, timeout or _SECONDS)) as rows:
            context.deliver(rows)
    else:
        _ask_spark(context, statement, timeout or _SECONDS_WITH_SPARK)


def _ask_spark(context: Context, statement: str, timeout: float) -> None:
    # Here, so that a question to DuckDB does not wait for them.
    from aclkit.cli.session import command_session
    from aclkit.cli.time_limit import time_limit
    from aclkit.warehouse.reader import open_tables
    from aclkit.warehouse.sql import run_sql

    warehouse = context.asked_warehouse()
    with (
        command_session(context, "sql") as spark,
        open_tables(warehouse, spark=spark) as (_, connection),
        time_limit(spark, timeout),
    ):
        found = run_sql(connection, statement)
        context.write(Answer(columns=found.columns, rows=found.rows))
