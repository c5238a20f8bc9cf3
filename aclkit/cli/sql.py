"""The command sql: a SELECT that a person wrote, or several at a prompt → rows on stdout."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from dataclasses import replace
from typing import Final

import click

from aclkit.answer.document import Answer
from aclkit.answer.rows import Counted
from aclkit.cli.context import Context, engine_option, format_option
from aclkit.cli.help import command
from aclkit.cli.options import FiniteRange, option
from aclkit.cli.sandbox import SqlQuestion, answer
from aclkit.cli.sql_prompt import answer_all
from aclkit.errors import UsageError
from aclkit.runtime.signals import interruptible

_SECONDS: Final = 60.0
_SECONDS_WITH_SPARK: Final = 3_600.0
"""It is asked of what is too large for one machine, and takes some time to begin."""


@command("sql")
@click.argument("statement", required=False)
@engine_option
@format_option
@option(
    "--timeout",
    type=FiniteRange(min=0, min_open=True),
    show_default=f"{_SECONDS:g}, with Spark {_SECONDS_WITH_SPARK:g}",
    metavar="SECONDS",
    help="Time limit per statement.",
)
@click.pass_obj
def sql(context: Context, statement: str | None, timeout: float | None) -> None:
    """Run SQL over the tables, or open a prompt.

    \b
    Example:
      aclkit sql
      aclkit sql "SELECT principal, count(*) FROM acl_current GROUP BY ALL"
      aclkit sql "SHOW TABLES"
      aclkit sql "DESCRIBE explain"
      aclkit --warehouse s3a://bucket/acls sql --engine spark "SELECT count(*) FROM explain"

    Without a statement, a terminal gets a prompt with .tables, .schema TABLE and .quit; otherwise
    one statement is read from stdin.

    The dialect is DuckDB's, or Spark's with --engine spark, which takes queries only: no SHOW, no
    DESCRIBE. A statement can write nothing, and read nothing outside the warehouse. If it takes
    longer than --timeout, or more than half of the machine's memory, the exit code is 2. Times are
    UTC.
    """
    is_prompt = statement is None and sys.stdin.isatty() and sys.stdout.isatty()
    text = "" if is_prompt else _statement(statement)
    with _asking(context, timeout, is_prompt=is_prompt) as ask:
        if is_prompt:
            answer_all(ask)
        else:
            ask(text)


def _statement(given: str | None) -> str:
    """Return the statement that is given, or stdin's.

    Raises:
        UsageError: there is none.
    """
    if given is not None:
        return given
    text = "" if sys.stdin.isatty() else sys.stdin.read().strip()
    if not text:
        raise UsageError('No statement given. Next: aclkit sql "SHOW TABLES"')
    return text


_Ask = Callable[[str], None]
"""Prints the answer of a statement."""


def _asking(
    context: Context, timeout: float | None, *, is_prompt: bool
) -> AbstractContextManager[_Ask]:
    if context.engine == "duckdb":
        return nullcontext(_ask_duckdb(context, timeout or _SECONDS, is_prompt=is_prompt))
    return _asking_spark(context, timeout or _SECONDS_WITH_SPARK, is_prompt=is_prompt)


def _ask_duckdb(context: Context, timeout: float, *, is_prompt: bool) -> _Ask:
    layout = context.layout
    question = SqlQuestion(
        warehouse=context.asked_warehouse(),
        statement="",
        output_format=context.output_format,
        columns=context.columns,
        width=None if layout.is_wide else layout.width,
        has_colour=layout.has_colour,
        limit=layout.limit,
        has_count=is_prompt,
    )

    def ask(statement: str) -> None:
        with (
            interruptible() if is_prompt else nullcontext(),
            closing(answer(replace(question, statement=statement), timeout)) as rows,
        ):
            context.deliver(rows)

    return ask


@contextmanager
def _asking_spark(context: Context, timeout: float, *, is_prompt: bool) -> Iterator[_Ask]:
    # Here, so that a question to DuckDB does not wait for them.
    from aclkit.cli.session import command_session
    from aclkit.cli.time_limit import time_limit
    from aclkit.warehouse.spark_tables import open_with_spark

    warehouse = context.asked_warehouse()
    with command_session(context, "sql") as spark:
        tables = open_with_spark(spark, warehouse)

        def ask(statement: str) -> None:
            with time_limit(spark, timeout):
                found = tables.ask(statement)
                rows = Counted(found.rows)
                context.write(Answer(columns=found.columns, rows=rows))
            if is_prompt:
                click.echo(rows.words, nl=False)

        yield ask
