"""The command sql: a SELECT that a person wrote, or several at a prompt → rows on stdout."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext, suppress
from dataclasses import asdict, replace
from importlib import import_module
from typing import TYPE_CHECKING, Final

import click

from aclkit.answer.document import Answer
from aclkit.answer.rows import Counted
from aclkit.cli.context import Context, engine_option, format_option
from aclkit.cli.help import question
from aclkit.cli.options import FiniteRange, option
from aclkit.cli.output import tell, tell_all, tell_error
from aclkit.cli.sandbox import SqlQuestion, answer, too_long
from aclkit.errors import AclkitError, UsageError
from aclkit.runtime.deadline import LONGEST, TimeUpError, alarm
from aclkit.runtime.signals import interruptible

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SECONDS: Final = 60.0
_SECONDS_WITH_SPARK: Final = 3_600.0
"""It is asked of what is too large for one machine, and takes some time to begin."""


READY: Final = "aclkit> "
MORE: Final = "   ...> "
HELP: Final = (
    "End a statement with ; or an empty line. Ctrl-C stops it, Ctrl-D leaves.",
    ".tables        List the tables and views.",
    ".schema TABLE  Show the columns of a table.",
    ".quit          Leave.",
)


@question("sql")
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
    question = SqlQuestion(
        warehouse=context.asked_warehouse(),
        statement="",
        output_format=context.output_format,
        columns=context.columns,
        layout=asdict(context.layout),
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
    from aclkit.cli.session import late_session
    from aclkit.warehouse.spark_tables import open_with_spark

    warehouse = context.asked_warehouse()
    with late_session(context, "sql") as start:
        spark = start()
        tables = open_with_spark(spark, warehouse)

        def ask(statement: str) -> None:
            with time_limit(spark, timeout):
                found = tables.ask(statement)
                rows = Counted(found.rows)
                context.write(Answer(columns=found.columns, rows=rows))
            if is_prompt:
                click.echo(rows.words, nl=False)

        yield ask


@contextmanager
def time_limit(spark: SparkSession, seconds: float) -> Iterator[None]:
    """Cancel Spark's jobs once the time is over, and soon after stop waiting for it.

    What is no job, such as planning, cannot be cancelled.

    Raises:
        UsageError: it took too long.
    """
    # Here, so that a question to DuckDB does not wait for it.
    from aclkit.warehouse.damage import is_of_spark

    is_over = threading.Event()

    def cancel() -> None:
        is_over.set()
        spark.sparkContext.cancelAllJobs()

    # A thread of its own, because it talks to the JVM while this one waits for an answer.
    timer = threading.Timer(min(seconds, LONGEST), cancel)
    timer.daemon = True
    with alarm(seconds + _FOR_CANCELLING):
        timer.start()
        try:
            yield
        except TimeUpError:
            raise too_long(seconds) from None
        except Exception as error:
            if is_over.is_set() and (isinstance(error, AclkitError) or is_of_spark(error)):
                raise too_long(seconds) from error
            raise
        finally:
            timer.cancel()


_FOR_CANCELLING: Final = 5.0
"""Seconds in which a cancelled job has to end."""


def answer_all(ask: Callable[[str], None], read: Callable[[str], str] = input) -> None:
    """Read statements and answer them; after an error, print it and read the next statement.

    Args:
        ask: prints the answer of a statement.
        read: returns a line; its argument is the prompt.
    """
    with suppress(ImportError):
        import_module("readline")  # it gives ``input`` history and editing
    tell("Type SQL, or .help.")
    for text in _statements(read):
        try:
            statement = _of_command(text) if text.startswith(".") else text
            if statement is None:
                return
            if statement:
                ask(statement)
        except AclkitError as error:
            tell_error(error)
        except KeyboardInterrupt:
            tell("Stopped.")


def _of_command(text: str) -> str | None:
    """Return the statement that a command stands for, empty for none; None where it leaves."""
    command, *names = text.split(maxsplit=1)
    if command in (".quit", ".exit"):
        return None
    if command == ".tables":
        return "SHOW TABLES"
    if command == ".schema" and names:
        name = names[0].strip().rstrip(";").replace('"', '""')
        return f'DESCRIBE "{name}"'
    tell_all(HELP)
    return ""


def _statements(read: Callable[[str], str]) -> Iterator[str]:
    """Yield each statement, or command with a dot, until the input ends."""
    lines: list[str] = []
    while True:
        try:
            with interruptible():
                line = read(MORE if lines else READY)
        except KeyboardInterrupt:
            lines.clear()
            tell("")
            continue
        except EOFError:
            tell("")
            return
        lines.append(line)
        text = "\n".join(lines).strip()
        if not line.strip() or text.endswith(";") or (text.startswith(".") and len(lines) == 1):
            lines.clear()
            if text:
                yield text
