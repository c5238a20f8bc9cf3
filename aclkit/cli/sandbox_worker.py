"""A process of its own: a question on stdin → its answer on stdout, with nothing to write to.

``sandbox`` starts it and defines its input and output. This module imports late: a thread that
exists before the confinement is not confined.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Final, NoReturn

from aclkit.cli.sandbox import EXPLAINED, SqlQuestion
from aclkit.errors import AclkitError, SurroundingsError, UsageError
from aclkit.runtime.confinement import confine, limit_memory

if TYPE_CHECKING:
    import duckdb

    from aclkit.warehouse.duck import Holding


def main() -> NoReturn:
    """Answer one question, and end: nothing is left to tidy up, and other threads are at work."""
    confine()
    sys.excepthook = _end_with_a_defect
    question = SqlQuestion(**json.loads(sys.stdin.buffer.readline()))
    threading.Thread(target=_end_with_the_asker, daemon=True).start()
    try:
        _answer(question)
    except AclkitError as error:
        _end_with(error)
    except OSError as error:
        where = f": {error.filename}" if error.filename else ""
        _end_with(SurroundingsError(f"{error.strerror or error}{where}"))
    os._exit(0)


def _end_with_the_asker() -> None:
    """End as soon as the asking process no longer waits, whatever else goes on."""
    while os.read(0, 1):
        pass
    os._exit(1)


def _answer(question: SqlQuestion) -> None:
    from aclkit.warehouse.sql import TOO_LARGE

    try:
        with _connected(question) as connection:
            _write(question, connection)
    except MemoryError:
        raise UsageError(f"{TOO_LARGE} than it may take") from None


def _write(question: SqlQuestion, connection: duckdb.DuckDBPyConnection) -> None:
    from aclkit.answer.render import render_rows
    from aclkit.answer.rows import Counted, choose_columns
    from aclkit.answer.text import Layout
    from aclkit.cli.output import write_lines
    from aclkit.warehouse.sql import run_sql

    # newline: CSV brings its own.
    stdout = os.fdopen(1, "w", 65_536, "utf-8", "surrogatepass", newline="")
    answer = run_sql(connection, question.statement)
    rows = Counted(answer.rows)
    chosen = choose_columns(question.columns, answer.columns, rows)
    layout = Layout(**question.layout)
    write_lines(render_rows(*chosen, question.output_format, layout), stdout)
    if question.has_count:
        write_lines([rows.words], stdout)


@contextmanager
def _connected(question: SqlQuestion) -> Iterator[duckdb.DuckDBPyConnection]:
    from aclkit.warehouse.duck import connect_to, open_tables
    from aclkit.warehouse.location import Location
    from aclkit.warehouse.sql import tables_of

    def asked(connection: duckdb.DuckDBPyConnection) -> Holding:
        _limit(connection)  # before it parses what a stranger wrote
        return tables_of(connection, question.statement)

    if question.tables is None:
        with open_tables(question.warehouse, asked, sealed=True) as (_, connection):
            yield connection
        return
    from aclkit.warehouse.byte_range_proxy import received

    found = received(question.tables, question.sockets)
    with connect_to(Location(str(question.warehouse)), found, sealed=True) as connection:
        _limit(connection)
        yield connection


def _limit(connection: duckdb.DuckDBPyConnection) -> None:
    ((own,),) = connection.execute(_MEMORY_LIMIT).fetchall()
    limit_memory(own + own // 2)


_MEMORY_LIMIT: Final = "SELECT parse_formatted_bytes(current_setting('memory_limit'))"


def _end_with(error: AclkitError) -> NoReturn:
    sys.stderr.write(json.dumps([type(error).__name__, str(error)]) + "\n")
    sys.stderr.flush()
    os._exit(EXPLAINED)


def _end_with_a_defect(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    sys.__excepthook__(kind, error, trace)
    os._exit(1)


if __name__ == "__main__":
    main()
