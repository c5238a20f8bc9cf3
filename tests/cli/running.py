"""A warehouse as its users meet it: commands in, rows and exit codes out."""

from __future__ import annotations

import csv
import io
import re
import shutil
import struct
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result
from duckdb import DuckDBPyConnection
from kafka.record.util import calc_crc32c

from aclkit.answer.render import render_rows
from aclkit.answer.text import Layout
from aclkit.cli import cli
from aclkit.warehouse.duck import connect
from aclkit.warehouse.published import Published, open_warehouse
from aclkit.warehouse.schemas import TABLES
from aclkit.warehouse.sql import run_sql
from aclkit.warehouse.views import PAST, view_sql

DATA = Path(__file__).parents[1] / "data"
KRAFT = DATA / "kraft-4.1" / "__cluster_metadata-0"
KRAFT_TEXT = DATA / "kraft-4.1-text"
UPGRADE = DATA / "upgrade-4.4"
SYNTHETIC = DATA / "synthetic-4.2"
SEGMENT = "00000000000000000000.log"
NEWEST = "00000000000000000915-0000000001.checkpoint"

BINDING = "resource_type, resource_name, pattern_type, principal, host, operation, permission_type"
REPLAYED = (
    "acl_log", "log_range", "acl_reject", "acl_history", "resource_lifetime", "principal_lifetime",
    "broker",
)  # fmt: skip
"""The tables that a replay writes, ``job_run`` and ``finding`` aside."""

MATERIALIZED = (
    "principal", "host", "host_match", "resource", "ruleset_group", "ruleset", "explain_pair",
    "explain_class_pair", "explain_ruling", "explain",
)  # fmt: skip
"""The tables that a materialize writes."""

_OF_A_RUN = {"source", "run_id"}
"""Columns that say who wrote a row and not what it says."""


@dataclass(frozen=True, slots=True)
class Warehouse:
    """A folder and the commands that are run on it."""

    path: Path

    def run(self, *arguments: object, code: int = 0, cluster: str | None = None) -> Result:
        """Run a command; it must end as a command ends, with this exit code."""
        place = ["--warehouse", str(self.path), *(["--cluster", cluster] if cluster else [])]
        return run(*place, *arguments, code=code)

    def replay(
        self, *sources: str, code: int = 0, cluster: str | None = None, more: tuple[str, ...] = ()
    ) -> Result:
        """Replay sources written as KIND:PATH."""
        given = [word for source in sources for word in ("--source", source)]
        return self.run("replay", *given, *more, code=code, cluster=cluster)

    def sql(self, statement: str) -> list[dict[str, str]]:
        """Read the CSV that the command ``sql`` prints."""
        out = asked(self.path, statement, "csv")
        return list(csv.DictReader(io.StringIO(out, newline="")))

    def acls(self, cluster: str | None = None) -> Counter[tuple[str, ...]]:
        """Return the ACLs alive, ids aside."""
        where = f" WHERE cluster_id = '{cluster}'" if cluster else ""
        rows = self.sql(f"SELECT {BINDING} FROM acl_current{where}")
        return Counter(tuple(row.values()) for row in rows)

    def table(self, name: str, cluster: str | None = None) -> list[tuple[Any, ...]]:
        """Return all rows of a published table in a fixed order, nulls and types kept."""
        return self.tables((name,), cluster)[name]

    def digest(self, name: str) -> tuple[int, int]:
        """Return how many rows a published table has, and a number that stands for all of them."""
        with connect(open_warehouse(str(self.path)), holding(name)) as connection:
            kept = _kept(connection, name)
            (found,) = connection.execute(
                f"SELECT count(*), coalesce(sum(hash({kept})), 0) FROM {name}"
            ).fetchall()
        return found

    def tables(
        self, names: tuple[str, ...] = REPLAYED, cluster: str | None = None
    ) -> dict[str, list[tuple[Any, ...]]]:
        """Return all rows of several tables."""
        with connect(open_warehouse(str(self.path)), holding(*names)) as connection:
            return {name: _rows(connection, name, cluster) for name in names}

    def published(self) -> Published:
        """Return what readers see: all runs, the newest with its table versions."""
        return open_warehouse(str(self.path))

    def copy(self, path: Path) -> Warehouse:
        """Copy the warehouse, for a test that changes it."""
        shutil.copytree(self.path, path)
        return Warehouse(path)


def asked(warehouse: Path, statement: str, output_format: str) -> str:
    """Return what the command ``sql`` prints, asked in this process: starting another takes long.

    That the command's own process answers alike is for ``test_sql`` to say.
    """
    opened = holding(*re.findall(r"\w+", statement))
    with connect(open_warehouse(str(warehouse)), opened, sealed=True) as connection:
        found = run_sql(connection, statement)
        return "".join(render_rows(found.columns, found.rows, output_format, Layout(width=None)))


def holding(*words: str) -> dict[str, dict[str, str]]:
    """Return what is to be opened for words of SQL: to open all tables takes a quarter second.

    Nothing, which is all, where they name a view of several tables, or no table.
    """
    views = {PAST, "explain", *view_sql(TABLES.keys() - {"explain"})} - {"acl_current"}
    named = {"acl_history" if word == "acl_current" else word for word in words}
    return {} if named & views else {name: {} for name in named & TABLES.keys()}


def _rows(connection: DuckDBPyConnection, table: str, cluster: str | None) -> list[tuple[Any, ...]]:
    where = f" WHERE cluster_id = '{cluster}'" if cluster else ""
    kept = _kept(connection, table)
    return sorted(connection.execute(f"SELECT {kept} FROM {table}{where}").fetchall(), key=repr)


def _kept(connection: DuckDBPyConnection, name: str) -> str:
    """Return the columns of a table that say what its rows say, and not who wrote them."""
    columns = [row[0] for row in connection.execute(f"DESCRIBE {name}").fetchall()]
    return ", ".join(column for column in columns if column not in _OF_A_RUN)


def run(*arguments: object, code: int = 0, env: Mapping[str, str | None] | None = None) -> Result:
    """Run aclkit in this process."""
    result = CliRunner().invoke(cli, [str(argument) for argument in arguments], env=env)
    ended = isinstance(result.exception, SystemExit | None)
    assert ended, f"{result.exception!r}\n{result.output}"
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    return result


def without_run(row: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out what a row of JSON says of the run that it stands on."""
    return {key: value for key, value in row.items() if key not in ("as_of", "as_of_offset")}


def split_batches(log: bytes) -> Iterator[tuple[int, bytes]]:
    """Cut a segment at its batch borders: (base offset, bytes) of each batch."""
    at = 0
    while at < len(log):
        base, length = struct.unpack_from(">qi", log, at)
        yield base, log[at : at + 12 + length]
        at += 12 + length


def write_segment(folder: Path, batches: list[tuple[int, bytes]]) -> Path:
    """Write batches as a segment named for its base offset."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{batches[0][0]:020}.log"
    path.write_bytes(b"".join(content for _, content in batches))
    return path


def half_read(log: Path, folder: Path) -> Warehouse:
    """Make a warehouse that has read the first half of a segment."""
    batches = list(split_batches(log.read_bytes()))
    half = write_segment(folder / "half", batches[: len(batches) // 2])
    warehouse = Warehouse(folder / "started")
    warehouse.replay(f"metadata-log:{half}")
    return warehouse


def with_crc(batch: bytes) -> bytes:
    """Make the CRC of a changed batch right again."""
    return batch[:17] + struct.pack(">I", calc_crc32c(memoryview(batch)[21:])) + batch[21:]
