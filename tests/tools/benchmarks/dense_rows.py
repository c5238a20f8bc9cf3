"""The dense table ``explain`` of a warehouse → files that a topic reads, and rows by the pure rule.

``python -m tests.tools.benchmarks.dense_rows WAREHOUSE --rows 1000000`` asks Delta's bounds how
many of the table's files a question on one topic opens, for topics that are drawn, and draws rows
of all files, each of which ``AclIndex.decide`` decides anew. It ends with 1 if a row differs.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path
from statistics import median

import click
import duckdb
from deltalake import DeltaTable

from aclkit.model.acl import Request
from aclkit.questions.read_state import Warehouse, read_state
from aclkit.rules.decide.index import AclIndex
from aclkit.rules.decide.rules import Ruling

_REQUEST = ("principal", "host", "operation", "resource_type", "resource_name")
_RULING = ("decision", "rule", "deciding_acl_id")
_SHOWN = 5


def _read_by_one_topic(table: DeltaTable, topics: list[str]) -> tuple[int, list[int]]:
    """Return how many files there are, and how many may hold each topic, by their bounds."""
    actions = table.get_add_actions(flatten=True)
    bounds = [actions[f"{edge}.resource_name"].to_pylist() for edge in ("min", "max")]
    opened = [
        sum(low <= name <= high for low, high in zip(*bounds, strict=True)) for name in topics
    ]
    return actions.num_rows, opened


@click.command()
@click.argument("warehouse", type=click.Path(exists=True, path_type=Path))
@click.option("--rows", default=1_000_000, show_default=True)
@click.option("--topics", default=100, show_default=True)
@click.option("--seed", default=1, show_default=True)
def main(warehouse: Path, rows: int, topics: int, seed: int) -> None:
    """Say how many files one topic reads, and whether drawn rows are as the pure rule says."""
    base = read_state(Warehouse(str(warehouse)))
    names = [name for kind, name in sorted(base.inventory.resources) if kind == "TOPIC"]
    table = DeltaTable(warehouse / "explain")
    files, opened = _read_by_one_topic(table, random.Random(seed).sample(names, topics))
    click.echo(
        f"{files} files; a question on one of {topics} topics reads {median(opened)} of them, "
        f"{max(opened)} at most: {max(opened) / files:.2%}"
    )
    connection = duckdb.connect()
    size = sum(table.get_add_actions(flatten=True)["num_records"].to_pylist())
    drawn = connection.execute(
        f"SELECT {', '.join((*_REQUEST, *_RULING))} FROM read_parquet(?) "
        f"USING SAMPLE {min(100.0, 100 * rows / size)} PERCENT (bernoulli, {seed})",
        [table.file_uris()],
    )
    index = AclIndex.of(base.acls.values(), base.semantics)
    seen = differing = 0
    while some := drawn.fetchmany(10_000):
        for row in some:
            seen += 1
            ruled = index.decide(
                Request(**dict(zip(_REQUEST, row[:5], strict=True))), base.settings
            )
            if _told(ruled) != row[5:]:
                differing += 1
                if differing <= _SHOWN:
                    click.echo(f"{row}: the pure rule says {_told(ruled)}")
    click.echo(f"{size:,} rows; {seen:,} of them drawn, {differing} differ from the pure rule")
    sys.exit(bool(differing))


def _told(ruled: Ruling) -> tuple[str, str, str | None]:
    return ruled.decision, ruled.rule, ruled.acl_id


if __name__ == "__main__":
    main()
