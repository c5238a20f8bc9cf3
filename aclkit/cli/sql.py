"""The command sql: a SELECT that a person wrote, or several at a prompt → rows on stdout."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import closing, nullcontext, suppress
from dataclasses import asdict, replace
from importlib import import_module
from typing import Final

import click

from aclkit.cli.context import Context, format_option, retired_engine_option
from aclkit.cli.help import question
from aclkit.cli.options import FiniteRange, option
from aclkit.cli.output import tell, tell_all, tell_error
from aclkit.cli.sandbox import SqlQuestion, answer
from aclkit.errors import AclkitError, UsageError
from aclkit.runtime.signals import interruptible

_SECONDS: Final = 60.0

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
@retired_engine_option
@format_option
@option(
    "--timeout",
    type=FiniteRange(min=0, min_open=True),
    default=_SECONDS,
    show_default=f"{_SECONDS:g}",
    metavar="SECONDS",
    help="Time limit per statement.",
)
@click.pass_obj
def sql(context: Context, statement: str | None, timeout: float) -> None:
    """Run SQL over the tables, or open a prompt.

    \b
    Example:
      aclkit sql
      aclkit sql "SELECT principal, count(*) FROM acl_current GROUP BY ALL"
      aclkit sql "SHOW TABLES"
      aclkit sql "DESCRIBE explain"

    Without a statement, a terminal gets a prompt with .tables, .schema TABLE and .quit; otherwise
    one statement is read from stdin.

    The dialect is DuckDB's; for Spark's see aclkit.spark and aclkit export views. A statement can
    write nothing, and read nothing outside the warehouse. If it takes longer than --timeout, or
    more than half of the machine's memory, the exit code is 2. Times are UTC.
    """
    is_prompt = statement is None and sys.stdin.isatty() and sys.stdout.isatty()
    text = "" if is_prompt else _statement(statement)
    ask = _asking(context, timeout, is_prompt=is_prompt)
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


def _asking(context: Context, timeout: float, *, is_prompt: bool) -> _Ask:
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
