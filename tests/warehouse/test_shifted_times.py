"""A warehouse whose times an aclkit in New York had shifted: what is put right, and what is said.

How it was made says ``tests/data/warehouse-in-new-york/README.md``.
"""

from __future__ import annotations

import gzip
import os
import re
import shutil
import subprocess
import sys
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from aclkit.warehouse.run import begin_run, publish
from tests.cli.running import DATA, UPGRADE, Warehouse

ROOT = Path(__file__).parents[2]
OLD = DATA / "warehouse-in-new-york" / "warehouse.tar.xz"
LOG = "metadata-log:upgrade-4.4/__cluster_metadata-0"
ASKED = (
    "--principals", "warehouse-of-0.1/principals.csv", "--hosts", "warehouse-of-0.1/hosts.csv",
    "--resources", "warehouse-of-0.1/resources.csv", "--super-users", "User:admin",
    "--fail-on", "never",
)  # fmt: skip
HOURS = timedelta(hours=5)


def unpack(folder: Path) -> Warehouse:
    shutil.unpack_archive(OLD, folder)
    return Warehouse(folder / "warehouse")


def live(warehouse: Warehouse, *words: str, zone: str = "America/New_York") -> str:
    """Run a command in a zone, where the sources have the names that they had then."""
    path = os.pathsep.join([str(ROOT), *sys.path])
    place = ("--warehouse", str(warehouse.path), "--cluster", "log")
    ended = subprocess.run(
        [sys.executable, "-c", "from aclkit.cli import cli; cli()", *place, *words],
        cwd=DATA,
        env=os.environ | {"PYTHONPATH": path, "TZ": zone},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout + ended.stderr


def take_the_steps(warehouse: Warehouse) -> tuple[list[str], list[str]]:
    """Let a run begin; return what the run says that took the steps, and what the run itself."""
    with begin_run(None, str(warehouse.path), "usage", lock_timeout=1) as run:
        return list(run.store.runs[-1].notes), list(run.notes)


def times(warehouse: Warehouse, column: str, table: str, where: str = "true") -> list[datetime]:
    rows = warehouse.sql(f"SELECT {column} AS t FROM {table} WHERE {where} ORDER BY ALL")
    return [datetime.fromisoformat(row["t"].removesuffix("Z")) for row in rows if row["t"]]


WRONG = (
    "SELECT count(*) AS wrong FROM acl_history h JOIN acl_log f ON f.cluster_id = h.cluster_id "
    "AND f.acl_id = h.acl_id AND f.log_offset = h.added_offset WHERE h.added_at <> f.log_time"
)


@pytest.fixture(scope="module")
def before(tmp_path_factory):
    return unpack(tmp_path_factory.mktemp("before"))


@pytest.fixture(scope="module")
def after(tmp_path_factory):
    """The warehouse behind the first run of this aclkit, whichever, and what it says."""
    warehouse = unpack(tmp_path_factory.mktemp("after"))
    return warehouse, *take_the_steps(warehouse)


def test_lifetimes_and_brokers_have_the_times_of_their_facts_behind_the_first_run(before, after):
    warehouse, said, _ = after
    assert before.sql(WRONG) == [{"wrong": "85"}]
    assert warehouse.sql(WRONG) == [{"wrong": "0"}]
    (then,), (now,) = (times(each, "since_time", "broker") for each in (before, warehouse))
    assert now == then + HOURS
    told = "an older aclkit had shifted them by the time zone of its machine."
    assert f"Corrected the times in 85 rows of acl_history: {told}" in said
    assert f"Corrected the times in 1 row of broker: {told}" in said


def test_of_lifetimes_nothing_but_their_times_is_another(before, after):
    columns = "* EXCLUDE (added_at, removed_at)"
    both = [each.sql(f"SELECT {columns} FROM acl_history ORDER BY ALL") for each in
            (before, after[0])]  # fmt: skip
    assert both[0] == both[1]
    ended = [times(each, "removed_at", "acl_history") for each in (before, after[0])]
    assert len(ended[0]) == len(ended[1]) > 0


def test_what_no_table_says_stays_and_is_named(before, after):
    warehouse, said, _ = after
    for column, table in (("first_seen", "finding"), ("log_time", "acl_log")):
        assert times(warehouse, column, table) == times(before, column, table)
    assert any(note.startswith("first_seen of 74 findings may be wrong by hours") for note in said)
    (on_facts,) = [note for note in said if "facts of cluster" in note]
    assert on_facts.startswith(
        "Times of up to 98 facts of cluster log may be wrong by hours: run 2"
    )


def test_the_run_that_put_them_right_says_so_too(after):
    _, said, told = after
    assert len(told) == 4
    assert set(told) < set(said)


def test_it_is_done_once_and_said_until_a_run_is_published(after, tmp_path):
    warehouse = after[0].copy(tmp_path / "again")
    runs = warehouse.published().run.run_number
    with begin_run(None, str(warehouse.path), "usage", lock_timeout=1) as run:
        assert run.notes == after[2]
        publish(run)
    assert warehouse.published().run.run_number == runs + 1
    assert take_the_steps(warehouse)[1] == []
    assert warehouse.published().run.run_number == runs + 1


@pytest.fixture(scope="module")
def gone_on(tmp_path_factory):
    """The warehouse behind a night on the whole log, and what it says."""
    warehouse = unpack(tmp_path_factory.mktemp("gone-on"))
    return warehouse, live(warehouse, "run", "--source", LOG, *ASKED)


@pytest.mark.slow
@pytest.mark.spark
def test_a_night_on_the_whole_log_corrects_the_facts_too(gone_on):
    warehouse, said = gone_on
    assert r"Corrected the times in 85 rows of acl\_history" in said
    assert "Corrected the time of 68 facts from the source" in said
    printed = gzip.decompress((UPGRADE / "kafka-dump-log.txt.gz").read_bytes()).decode()
    right = dict(re.findall(r"\| offset: (\d+) CreateTime: (\d+)", printed))
    said = "SELECT log_offset, epoch_ms(log_time) AS ms FROM acl_log WHERE cluster_id = 'log'"
    known = {row["log_offset"]: row["ms"] for row in warehouse.sql(said)}
    assert known == {offset: right[offset] for offset in known}
    assert len(known) > 138
    assert warehouse.sql(WRONG) == [{"wrong": "0"}]


@pytest.mark.slow
@pytest.mark.spark
def test_the_next_night_in_another_zone_is_quiet_and_leaves_every_time(gone_on, tmp_path):
    warehouse = gone_on[0].copy(tmp_path / "next")
    there = warehouse.tables(("acl_log", "acl_history", "broker", "finding"))
    said = live(warehouse, "run", "--source", LOG, *ASKED, zone="Asia/Kathmandu")
    assert "Nothing new since the previous run" in said
    assert "corrected" not in said
    assert warehouse.tables(("acl_log", "acl_history", "broker", "finding")) == there
