"""The command export views: a warehouse → a script that makes its tables and views elsewhere."""

from __future__ import annotations

from datetime import UTC, datetime

import click

from aclkit.cli.context import Context, tell_state
from aclkit.cli.encoding import PROGRAMS
from aclkit.cli.export import file_or_stdout, output_option
from aclkit.cli.help import question
from aclkit.cli.output import write_lines
from aclkit.warehouse.published import open_warehouse
from aclkit.warehouse.view_script import DIALECTS, view_script


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
