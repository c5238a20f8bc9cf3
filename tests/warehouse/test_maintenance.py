"""aclkit maintain: the same rows, and every version that a kept run names still readable."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest
from deltalake import DeltaTable
from pyspark.sql import SparkSession

from aclkit.warehouse.job_run import PublishedRun
from aclkit.warehouse.maintenance import COMPACTED
from aclkit.warehouse.published import open_warehouse
from aclkit.warehouse.run import versions_now
from aclkit.warehouse.store import SCRATCH
from tests.nightly.test_nightly import FIRST_NIGHT, SECOND_NIGHT, Nights, add

pytestmark = [pytest.mark.usefixtures("spark"), pytest.mark.slow, pytest.mark.timeout(1_200)]
TEN_DAYS = 10 * 24 * 3_600
ROWS = {
    "explain": "SELECT * FROM explain",
    "acl_log": "SELECT * FROM acl_log",
    "acl_history": "SELECT * FROM acl_history",
    "explain_pair": "SELECT * FROM explain_pair",
    "finding_current": "SELECT fingerprint, subject FROM finding_current",
    "access_change": "SELECT * FROM access_change",
}


@pytest.fixture(scope="module")
def maintained(_session: SparkSession, tmp_path_factory: pytest.TempPathFactory):
    """Three nights, then maintenance that keeps two runs, and what was there before it."""
    nights = Nights(tmp_path_factory.mktemp("maintained"))
    for lines in (FIRST_NIGHT, SECOND_NIGHT, [add(10, "User:dee", "pay.out")]):
        result = nights.run(*lines, options=("--fail-on", "never"))
        assert result.exit_code == 0, result.output
    nights.first = age_what_the_second_night_replaced(nights)
    _session._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()
    nights.rows = {name: sorted(map(str, nights.sql(query))) for name, query in ROWS.items()}
    nights.runs = open_warehouse(str(nights.folder / "warehouse")).runs
    (nights.folder / "warehouse" / SCRATCH).mkdir()
    options = ("--keep-days", "0", "--keep-runs", "2", "--format", "json")
    nights.tried = nights.call("maintain", *options, "--dry-run")
    nights.after_dry_run = open_warehouse(str(nights.folder / "warehouse")).runs
    nights.done = nights.call("maintain", *options)
    assert nights.done.exit_code == 0, nights.done.output
    return nights


def age_what_the_second_night_replaced(nights):
    """Let all files be ten days old, and the rulings of the first night be replaced then.

    Delta removes old files only, so that what stays does so because it is needed.
    """
    for file in (nights.folder / "warehouse").glob("*/*.parquet"):
        os.utime(file, (time.time() - TEN_DAYS, time.time() - TEN_DAYS))
    log = nights.folder / "warehouse" / "explain_ruling" / "_delta_log" / f"{1:020}.json"
    actions = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    for action in actions:
        if "remove" in action:
            action["remove"]["deletionTimestamp"] -= TEN_DAYS * 1_000
    log.write_text("".join(json.dumps(action) + "\n" for action in actions), encoding="utf-8")
    files = {Path(file) for file in files_of(nights, "explain_ruling", 0)}
    return files - {Path(file) for file in files_of(nights, "explain_ruling", 1)}


def files_of(nights, table, version):
    root = nights.folder / "warehouse" / table
    actions = DeltaTable(str(root), version=version).get_add_actions(flatten=True)
    return [root / path for path in actions.column("path").to_pylist()]


def test_a_dry_run_tells_and_changes_nothing(maintained):
    assert maintained.tried.exit_code == 0, maintained.tried.output
    assert {row["table"] for row in json.loads(maintained.tried.stdout)} >= {"acl_log", "job_run"}
    assert maintained.after_dry_run == maintained.runs


def test_readers_see_the_same_rows_after_maintenance(maintained):
    for name, query in ROWS.items():
        assert sorted(map(str, maintained.sql(query))) == maintained.rows[name], name


def test_what_grows_by_small_files_is_one_file_again(maintained):
    done = {row["table"]: row for row in json.loads(maintained.done.stdout)}
    grown = [name for name in COMPACTED if done.get(name, {}).get("files_before", 0) > 1]
    assert "acl_log" in grown
    assert {done[name]["files_after"] for name in grown} == {1}


def test_files_that_no_kept_run_needs_are_removed(maintained):
    assert maintained.first
    assert not [file for file in maintained.first if file.exists()]


def test_what_a_killed_trial_left_is_removed(maintained):
    assert not (maintained.folder / "warehouse" / SCRATCH).exists()


def test_every_file_that_a_kept_run_needs_is_still_there(maintained):
    published = open_warehouse(str(maintained.folder / "warehouse"))
    for run in published.runs[-3:]:
        for table, version in run.table_versions.items():
            missing = [f for f in files_of(maintained, table, version) if not Path(f).exists()]
            assert not missing, (run.run_number, table, version)


def test_maintenance_is_a_run_and_leaves_no_table_ahead_of_it(maintained):
    published = open_warehouse(str(maintained.folder / "warehouse"))
    newest = published.run
    assert (newest.job, newest.run_number) == ("maintain", len(maintained.runs))
    assert newest.head_offset == maintained.runs[-1].head_offset
    for table, version in newest.table_versions.items():
        assert DeltaTable(published.place.of_table(table)).version() == version, table


def test_the_night_after_maintenance_has_nothing_to_decide(maintained):
    before = open_warehouse(str(maintained.folder / "warehouse")).run.table_versions
    result = maintained.run(options=("--fail-on", "never"))
    assert result.exit_code == 0, result.output
    newest = open_warehouse(str(maintained.folder / "warehouse")).run
    assert newest.table_versions == before
    assert any("nothing new" in note for note in newest.notes)


def test_an_empty_warehouse_has_nothing_to_maintain(maintained, tmp_path):
    nights = Nights(tmp_path)
    result = nights.call("maintain")
    assert result.exit_code == 2
    assert "there is nothing to maintain" in result.stderr


def test_a_version_that_maintenance_made_stands_for_the_one_that_it_found():
    runs = [
        published(1, "run", {"a": 3, "b": 1}),
        published(2, "maintain", settings='{"rewritten": {"a": [3, 4]}}'),
        published(3, "run"),
        published(4, "maintain", settings='{"rewritten": {"a": [4, 6], "b": [2, 3]}}'),
    ]
    assert versions_now(runs, runs[0]) == {"a": 6, "b": 1}


def published(number, job, versions=None, settings=None):
    return PublishedRun(
        run_number=number, run_id=f"r{number}", cluster_id="c", job=job, counts={},
        table_versions=versions or {}, settings_text=settings,
    )  # fmt: skip
