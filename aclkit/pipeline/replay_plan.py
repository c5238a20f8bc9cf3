"""How large a replay is → whether this process does it, or Spark. Pure."""

from __future__ import annotations

from typing import Final

MOST_BYTES: Final = 24 << 20
"""Of the files to read: even where all of them are ACLs, 400,000, one core reads them in half a
minute and this process takes 1.5 GiB. Of a usual log it is ten times as many records."""

MOST_FACTS: Final = 300_000
"""Of a cluster, known before: compared with as many they take 1.5 GiB."""

AUTO, DUCKDB, SPARK = "auto", "duckdb", "spark"


def fits_here(
    source_bytes: int | None, known_facts: int, *, is_spark_submit: bool, asked: str = AUTO
) -> bool:
    """Whether this process replays a source by DuckDB; otherwise Spark does.

    Args:
        source_bytes: of the files to read; None where that is unknown.
        known_facts: rows of ``acl_log`` of the cluster.
        is_spark_submit: Spark is there already, and this process has little memory.
        asked: ``auto``, or the engine that the user wants.

    >>> fits_here(5_000_000, 20_000, is_spark_submit=False)
    True
    >>> fits_here(None, 0, is_spark_submit=False)
    False
    """
    if asked != AUTO:
        return asked == DUCKDB
    is_small = source_bytes is not None and source_bytes <= MOST_BYTES
    return is_small and known_facts <= MOST_FACTS and not is_spark_submit
