"""A process of its own: a question on stdin → its answer on stdout, with nothing to write to.

``sandbox`` starts it and defines its input and output. This module imports late: a thread that
exists before the confinement is not confined.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from types import TracebackType
from typing import TYPE_CHECKING, Final, NoReturn

from aclkit.cli.sandbox import EXPLAINED, SqlQuestion
from aclkit.errors import AclkitError, SurroundingsError, UsageError
from aclkit.runtime.confinement import confine, limit_memory

if TYPE_CHECKING:
    import duckdb


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
    from aclkit.answer.render import render_rows
    from aclkit.answer.rows import Counted, choose_columns
    from aclkit.answer.text import Layout
    from aclkit.cli.output import write_lines
    from aclkit.warehouse.sql import TOO_LARGE, run_sql

    connection = _connect(question)
    ((own,),) = connection.execute(_MEMORY_LIMIT).fetchall()
    limit_memory(own + own // 2)
    # newline: CSV brings its own.
    stdout = os.fdopen(1, "w", 65_536, "utf-8", "surrogatepass", newline="")
    try:
        answer = run_sql(connection, question.statement)
        rows = Counted(answer.rows)
        chosen = choose_columns(question.columns, answer.columns, rows)
        layout = Layout(**question.layout)
        write_lines(render_rows(*chosen, question.output_format, layout), stdout)
        if question.has_count:
            write_lines([rows.words], stdout)
    except MemoryError:
        raise UsageError(f"{TOO_LARGE} than it may take") from None


def _connect(question: SqlQuestion) -> duckdb.DuckDBPyConnection:
    from aclkit.warehouse.duck import connect, connect_to
    from aclkit.warehouse.location import Location
    from aclkit.warehouse.published import open_warehouse

    if question.tables is None:
        return connect(open_warehouse(question.warehouse), sealed=True)
    from aclkit.warehouse.byte_range_proxy import received

    found = received(question.tables, question.sockets)
    return connect_to(Location(str(question.warehouse)), found, sealed=True)


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
