"""The option --engine of the questions: who reads the tables."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

import click

from aclkit.cli.options import option
from aclkit.cli.settings import Settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Engine = Literal["duckdb", "spark"]

engine_option = option(
    "--engine",
    type=click.Choice(["duckdb", "spark"]),
    default="duckdb",
    show_default=True,
    help="Who reads the tables: DuckDB at once, from a local disk; Spark from object storage too.",
)


@contextmanager
def session_for(engine: Engine, settings: Settings, command: str) -> Iterator[SparkSession | None]:
    """Start Spark where it is asked for; None stands for DuckDB."""
    if engine == "duckdb":
        yield None
        return
    # Here, so that a question to DuckDB does not wait for pyspark.
    from aclkit.cli.session import command_session

    with command_session(settings, command) as spark:
        yield spark
