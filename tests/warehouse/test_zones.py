"""What a machine's time zone does to tables: nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from aclkit.warehouse.schemas import TABLES
from tests.cli.running import Warehouse

ROOT = Path(__file__).parents[2]
ZONES = ("UTC", "America/New_York", "Asia/Kathmandu")
OF_THE_MOMENT = {"job_run", "finding", "setting"}
"""Their times are those of runs; so for these a relation is asked."""

FIRST_SEEN = """\
SELECT f.cluster_id, f.fingerprint, f.first_seen = s.started_at AS is_right FROM finding f JOIN (
  SELECT o.cluster_id, o.fingerprint, min(r.started_at) AS started_at
  FROM finding o JOIN job_run r ON r.run_id = o.run_id AND r.cluster_id = o.cluster_id GROUP BY ALL
) s ON s.cluster_id = f.cluster_id AND s.fingerprint = f.fingerprint
WHERE f.first_seen IS NOT NULL GROUP BY ALL ORDER BY ALL"""
SETTINGS = """\
SELECT s.cluster_id, s.super_users, s.run_number, s.log_offset, r.started_at = s.since_time AS same
FROM setting s JOIN job_run r ON r.run_number = s.run_number ORDER BY ALL"""

WITHOUT_SPARK = """\
from datetime import UTC, datetime
from aclkit.warehouse.reader import read_written
from aclkit.warehouse.store import Store
import sys
store = Store(None, sys.argv[1])
at = datetime(2026, 11, 1, 5, 30, tzinfo=UTC)
row = ("c", "id", *"TOPIC t LITERAL User:a * READ ALLOW".split(), 0, 0, at, "record", None, None)
store.append("acl_history", [row])
for _ in range(2):
    with read_written(store, "c", "acl_history") as read:
        read.rewrite("acl_history", "FROM acl_history")
with read_written(store, "c", "acl_history") as read:
    print(*read.rows("SELECT added_at, epoch_ms(added_at) = ? FROM acl_history",
          int(at.timestamp() * 1000)))
"""


def in_zone(zone: str, *words: str) -> str:
    done = subprocess.run(
        [sys.executable, *words],
        cwd=ROOT,
        env=os.environ | {"TZ": zone, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("zone", ZONES)
def test_what_a_run_reads_and_writes_again_keeps_its_times(zone, tmp_path):
    said = in_zone(zone, "-c", WITHOUT_SPARK, str(tmp_path))
    assert said == "(datetime.datetime(2026, 11, 1, 5, 30), True)\n"


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.timeout(900)
def test_nights_maintenance_and_forgetting_leave_equal_tables_in_every_zone(tmp_path):
    left = {}
    for zone in ZONES:
        # One folder for all: sources are named in the tables.
        in_zone(zone, "-m", "tests.warehouse.zones", str(tmp_path))
        warehouse = Warehouse(tmp_path / "warehouse")
        left[zone] = warehouse.tables(tuple(TABLES.keys() - OF_THE_MOMENT)) | {
            "finding": warehouse.sql(FIRST_SEEN),
            "setting": warehouse.sql(SETTINGS),
        }
        warehouse.path.rename(tmp_path / zone.replace("/", "-"))
    for zone in ZONES[1:]:
        for table, rows in left["UTC"].items():
            assert left[zone][table] == rows, (zone, table)
    assert {row["is_right"] for row in left["UTC"]["finding"]} == {"true"}
    assert [row["same"] for row in left["UTC"]["setting"]] == ["true", "true"]
