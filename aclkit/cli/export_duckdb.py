"""The command export duckdb: a warehouse → one file that programs of others open."""

from __future__ import annotations

import shutil
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import click

from aclkit.cli.context import Context, tell_state
from aclkit.cli.help import question
from aclkit.cli.output import tell
from aclkit.errors import UsageError
from aclkit.pipeline.sources.files import is_there
from aclkit.runtime.atomic_file import open_atomically
from aclkit.runtime.scratch import scratch
from aclkit.runtime.uri import is_uri, shown
from aclkit.warehouse.duck_file import holds_until, write_duck_file
from aclkit.warehouse.published import open_warehouse


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
