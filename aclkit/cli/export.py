"""The group export: what a warehouse holds → files of other tools."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, TextIO, TypeVar

import click

from aclkit.answer.rows import csv_field
from aclkit.cli.acls import COLUMNS, read_newest
from aclkit.cli.context import Context, tell_state
from aclkit.cli.help import COMMANDS, LazyGroup, question
from aclkit.cli.options import flag
from aclkit.cli.output import PROGRAMS, tell, write_lines, write_rows
from aclkit.errors import UsageError
from aclkit.kafka.acls.exports import render_kafka_users, render_records, render_terraform
from aclkit.kafka.acls.script import render_bulk, render_script
from aclkit.model.acl import Acl
from aclkit.pipeline.sources.files import is_there
from aclkit.questions.query.export import explain_batches, render_csv, write_parquet
from aclkit.runtime.atomic_file import open_atomically
from aclkit.runtime.scratch import scratch
from aclkit.runtime.uri import is_uri, shown
from aclkit.warehouse.acls_in_force import times_added
from aclkit.warehouse.for_others import DIALECTS, holds_until, view_script, write_duck_file
from aclkit.warehouse.published import open_warehouse

_Command = TypeVar("_Command", bound=Callable[..., Any])
_Rendered = tuple[list[str], list[Acl]]
_RENDERERS: Final[dict[str, Callable[[Iterable[Acl]], _Rendered]]] = {
    "kafka-acls": render_script,
    "kafka-bulk": render_bulk,
    "strimzi": render_kafka_users,
    "terraform": render_terraform,
}
"""Forms that cannot express every ACL: their lines, and the ACLs that become comments there."""

_MOST_UNSAID: Final = 20


@click.group(
    cls=LazyGroup,
    sections={
        COMMANDS: {
            "acls": ("export", "export_acls"),
            "explain": ("export", "export_explain"),
            "duckdb": ("export", "export_duckdb"),
            "views": ("export", "export_views"),
        }
    },
)
def export() -> None:
    """Export ACLs, decisions and whole warehouses.

    \b
    Example:
      aclkit export acls --format strimzi
      aclkit export explain --format parquet --output explain.parquet
      aclkit export duckdb --output acls.duckdb
      aclkit export views --dialect spark
    """


def output_option(command: _Command) -> _Command:
    """Give an export its ``--output``."""
    return click.option(
        "--output",
        "-o",
        envvar="ACLKIT_OUTPUT",
        metavar="FILE",
        help="File to write. Default: stdout.",
    )(command)


def _form_option(*forms: str) -> Callable[[_Command], _Command]:
    """Make ``--format`` of an export; not from the environment, where it means that of rows."""
    return click.option(
        "--format", "form", type=click.Choice(forms), required=True, help="Format to write."
    )


@question("acls")
@_form_option("kafka-acls", "kafka-bulk", "records", "strimzi", "terraform", "csv")
@output_option
@flag("--skip-unsupported", "Exit with code 0 even if the format cannot express some ACLs.")
@click.pass_obj
def export_acls(context: Context, form: str, output: str | None, *, skip_unsupported: bool) -> None:
    """Export ACLs as a script, YAML, Terraform or CSV.

    \b
    Example:
      aclkit export acls --format kafka-acls --output acls.sh
      aclkit export acls --format records --output acls.jsonl
      aclkit export acls --format kafka-bulk | BOOTSTRAP_SERVER=broker:9092 sh

    kafka-acls is a shell script that adds the ACLs and starts a JVM for each; kafka-bulk adds
    thousands in one JVM, and needs a JDK. records is for replay --source records:. strimzi is
    KafkaUser resources; terraform is kafka_acl resources of the provider Mongey/kafka. ACLs that a
    format cannot express are comments in the output, are listed on stderr, and make the exit code
    1; with --skip-unsupported it is 0.
    """
    alive = read_newest(context)
    acls = tuple(alive.acls.values())
    unsaid: list[Acl] = []
    with file_or_stdout(output) as file:
        if form == "csv":
            rows = sorted((*acl.binding, acl.acl_id) for acl in acls)
            write_rows(COLUMNS, rows, "csv", file)
        else:
            if form == "records":
                with context.open() as opened:
                    times = times_added(opened.tables, alive.cluster_id)
                lines: Iterable[str] = render_records(acls, times)
            else:
                lines, unsaid = _RENDERERS[form](acls)
            write_lines((f"{line}\n" for line in lines), file, PROGRAMS)
    if unsaid:
        _tell_unsaid(unsaid, len(acls))
        click.get_current_context().exit(0 if skip_unsupported else 1)


def _tell_unsaid(unsaid: Sequence[Acl], number: int) -> None:
    for acl in unsaid[:_MOST_UNSAID]:
        tell(f"Left out: {acl}")
    tell(
        f"This format cannot express {len(unsaid):,} of {number:,} ACLs. They are left out, and "
        "listed as comments."
    )


@question("explain")
@_form_option("parquet", "csv")
@output_option
@click.pass_obj
def export_explain(context: Context, form: str, output: str | None) -> None:
    """Export every decision with its ACL.

    \b
    Example:
      aclkit export explain --format parquet --output explain.parquet
      aclkit export explain --format csv | gzip > explain.csv.gz

    There is one row per principal, host, operation and resource, in no particular order. CSV is
    RFC 4180: values are unchanged, null is empty and the empty text is "".
    """
    if form == "parquet" and output is None and sys.stdout.isatty():
        raise UsageError(
            "Parquet cannot be shown on a terminal. Pass --output FILE, or use a pipe."
        )
    with context.open() as opened:
        tell_state(opened.published, opened.run)
        with file_or_stdout(output) as file:
            batches = explain_batches(opened.tables, opened.cluster_id)
            if form == "csv":
                write_lines(render_csv(batches, csv_field), file, PROGRAMS)
            else:
                write_parquet(batches, file.buffer)


def file_or_stdout(output: str | None) -> AbstractContextManager[TextIO]:
    """Open what is written to."""
    return nullcontext(sys.stdout) if output is None else open_atomically(output)


@question("duckdb")
@click.option(
    "--output",
    "-o",
    envvar="ACLKIT_OUTPUT",
    metavar="FILE",
    required=True,
    help="File to write, such as acls.duckdb.",
)
@click.option("--views", is_flag=True, help="Write views of the warehouse's files instead of rows.")
@click.option("--copy", is_flag=True, help="Write rows (the default).")
@click.option("--force", is_flag=True, help="Replace an existing file.")
@click.pass_obj
def export_duckdb(context: Context, output: str, *, views: bool, copy: bool, force: bool) -> None:
    """Export all tables and views as a DuckDB file.

    \b
    Example:
      aclkit export duckdb --output acls.duckdb
      aclkit export duckdb --views --output acls.duckdb --force

    The file is for BI tools and SQL editors. It is self-contained; aclkit first checks that the
    disk has room. With --views it is small and reads the Parquet files of the published run: on
    this machine only, and until maintain removes them. Its table about names that run and the date.
    The file has the rows of all clusters, and comments on each table and column.
    """
    if views and copy:
        raise UsageError("Pass --views or --copy, not both.")
    _require_place(output, force=force)
    now = datetime.now(UTC)
    published = open_warehouse(context.asked_warehouse())
    if published.place.is_remote and views:
        raise UsageError(
            f"Views read files of this machine, and {published.place} is an object store. Next: "
            "the same without --views."
        )
    for cluster_id in published.clusters:
        if run := published.last_materialize(cluster_id):
            tell_state(published, run)
    with tempfile.TemporaryDirectory(dir=scratch()) as folder:
        made = Path(folder) / _NAME
        write_duck_file(published, made, now, with_rows=not views)
        with made.open("rb") as source, open_atomically(output) as target:
            shutil.copyfileobj(source, target.buffer)
    if views:
        tell(
            f"Wrote {output}: views of {published.place}, valid while that folder stays (at least "
            f"until {holds_until(now):%Y-%m-%d}). Without --views the file holds the rows itself."
        )


_NAME: Final = "warehouse.duckdb"


def _require_place(output: str, *, force: bool) -> None:
    """Refuse a path that is no file, and an existing file without ``--force``.

    Raises:
        UsageError: the path exists and must stay.
    """
    path = Path(output)
    if is_uri(output):
        exists = not force and is_there(output)
    elif (exists := path.exists()) and not path.is_file():
        raise UsageError(f"Cannot write {path}: it is not a file.")
    if exists and not force:
        raise UsageError(f"{shown(output)} exists. Pass another file, or --force to replace it.")


@question("views")
@click.option("--dialect", type=click.Choice([*DIALECTS]), required=True, help="Engine's SQL.")
@output_option
@click.pass_obj
def export_views(context: Context, dialect: str, output: str | None) -> None:
    """Export CREATE VIEW statements for another engine.

    \b
    Example:
      aclkit export views --dialect spark > views.sql
      aclkit export views --dialect duckdb --output views.sql
      aclkit export views --dialect trino | grep acl_current

    There is a statement for each table and view of the warehouse, pinned to the Delta versions of
    the newest published run: what a run at work writes is in none of them. The first lines name
    the run, and until when aclkit maintain keeps its files. Run them again after each night, or
    use aclkit.spark.tables in PySpark.

    Spark needs Delta. Trino's text was parsed, not run; it names the tables of a schema
    aclkit_tables, and how to register them. DuckDB's views read the files of a local folder.
    """
    published = open_warehouse(context.asked_warehouse())
    for cluster_id in published.clusters:
        if run := published.last_materialize(cluster_id):
            tell_state(published, run)
    lines = view_script(published, dialect, datetime.now(UTC))
    with file_or_stdout(output) as file:
        write_lines((f"{line}\n" for line in lines), file, PROGRAMS)
