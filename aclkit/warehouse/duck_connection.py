"""Settings → a DuckDB of this package's own: made here and nowhere else, so each counts in UTC.

DuckDB takes the machine's zone otherwise, and writes a time as UTC that was read in that zone.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import duckdb

Settings = dict[str, str | bool | int | float | list[str]]

AS_WRITTEN: Final[Settings] = {"disabled_optimizers": "build_side_probe_side"}
"""A join keeps its right side in memory, as our SQL has it.

DuckDB would take the side that it thinks the smaller one, and since 2.0.1 takes principals ×
resources for no more rows than there are resources: the view ``explain`` of B1 took 20 GB.
"""


def new_duckdb(settings: Settings, path: Path | str = ":memory:") -> duckdb.DuckDBPyConnection:
    """Make a DuckDB, in memory or in a file, whose cursors read and write times as UTC."""
    connection = duckdb.connect(path, config=settings)
    connection.execute("SET GLOBAL TimeZone = 'UTC'")
    return connection
