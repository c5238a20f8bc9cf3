"""What a killed run left is taken back however old all is, and no version is forgotten."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime

import pytest
from deltalake import DeltaTable

from aclkit.warehouse.commits import KEEPING
from aclkit.warehouse.formats import FORMAT, GROWN, STEPS
from aclkit.warehouse.frames import TableFrames
from aclkit.warehouse.published import open_warehouse
from aclkit.warehouse.run import begin_run, publish
from aclkit.warehouse.schemas import TABLES
from aclkit.warehouse.table_files import columns_of
from tests.warehouse.aging import Killed, age, be_older_aclkit, kill_at

SINCE = datetime(2026, 11, 21, tzinfo=UTC)
PUBLISHED = {
    "setting": 7, "log_range": 8, "acl_reject": 9,
    "resource_lifetime": 1, "finding": 1, "acl_log": 1, "log_file": 1,
}  # fmt: skip
"""Table → its published version. Behind them lie two commits that no run has published, so that
putting a table back is its version 10, 11, 12 or 4: Delta writes a checkpoint with version 10."""


def row_of(table, number):
    said = {"cluster_id": "c", "since_time": SINCE, "allow_everyone": False, "epoch": None}
    values = {"BIGINT": number, "STRING": f"{number}", "ARRAY<STRING>": [f"{number}"]}
    return [said.get(name, values.get(kind)) for name, kind, _ in TABLES[table].columns]


def rows_of(frame):
    return sorted(frame.select(frame.columns[1]).collect(), key=str)


def write(spark, warehouse, commits, first=0):
    """Publish a run that writes each table so often."""
    with begin_run(spark, warehouse, "replay", lock_timeout=0) as run:
        run.cluster_id = "c"
        for table, number in commits.items():
            for n in range(first, first + number):
                run.store.append(table, [row_of(table, n)])
        publish(run)
        return run.store.versions


def kill_of_older_aclkit(folder):
    """Make a warehouse of an older aclkit whose last run was killed before it published."""
    with pytest.MonkeyPatch.context() as patch:
        be_older_aclkit(patch, GROWN)
        versions = write(None, folder, {table: v + 1 for table, v in PUBLISHED.items()})
        assert {name: versions[name] for name in PUBLISHED} == PUBLISHED
        kill_at(patch, "before-job-run")
        with pytest.raises(Killed):
            write(None, folder, dict.fromkeys(PUBLISHED, 2), first=100)


@pytest.fixture(scope="module")
def killed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("killed") / "warehouse"
    kill_of_older_aclkit(str(folder))
    return folder


@pytest.fixture
def aged(killed, tmp_path, request):
    """Copy that warehouse, and age it by the days of the test."""
    folder = tmp_path / "warehouse"
    shutil.copytree(killed, folder)
    age(folder, getattr(request, "param", 40))
    return folder


def require_readable(folder, spark=None):
    """Insist that readers open what was published, Spark too; return the newest run."""
    newest = open_warehouse(str(folder)).run
    for table, number in PUBLISHED.items():
        path, version = str(folder / table), newest.table_versions[table]
        found = DeltaTable(path, version=version).to_pyarrow_dataset().count_rows()
        assert found == number + 1, table
        if spark is not None:
            reader = spark.read.format("delta").option("versionAsOf", version)
            assert reader.load(path).count() == found, table
    return newest


def properties_of(folder):
    tables = [path for path in folder.iterdir() if (path / "_delta_log").is_dir()]
    return {path.name: DeltaTable(str(path)).metadata().configuration for path in tables}


def described(folder):
    return {
        name: DeltaTable(str(folder / name)).metadata().description
        for name in properties_of(folder)
    }


SLOW = pytest.mark.slow


@pytest.mark.parametrize(
    "aged", [pytest.param(8, marks=SLOW), 40, pytest.param(400, marks=SLOW)], indirect=True
)
def test_a_killed_run_is_taken_back_however_long_ago(aged, spark):
    require_readable(aged, spark)
    with begin_run(spark, str(aged), "replay", lock_timeout=0) as run:
        run.cluster_id = "c"
        for table, number in PUBLISHED.items():
            assert TableFrames(run.store).read(table).count() == number + 1
        publish(run)
    require_readable(aged, spark)


def test_the_tables_of_an_older_aclkit_get_the_format_of_this_one_with_the_next_run(aged):
    assert not any(described(aged).values())
    with begin_run(None, str(aged), "replay", lock_timeout=0):
        pass
    found = described(aged)
    assert set(found) == {*PUBLISHED, "job_run"}
    assert all(found.values())
    for grown in GROWN:
        assert columns_of(str(aged / grown)) == list(TABLES[grown].column_names)
    # It is published at once, as maintenance that keeps the rows, and done only once.
    newest = require_readable(aged)
    assert (newest.job, newest.run_number, newest.format_number) == ("maintain", 1, FORMAT)
    assert newest.notes == tuple(step.says for step in STEPS)
    with begin_run(None, str(aged), "replay", lock_timeout=0) as run:
        assert run.run_number == 2
        assert run.store.versions == newest.table_versions


def test_a_new_table_has_the_properties_whichever_engine_makes_it(spark, tmp_path):
    with begin_run(spark, str(tmp_path), "replay", lock_timeout=0) as run:
        run.cluster_id = "c"
        run.store.append("setting", [row_of("setting", 1)])
        run.store.replace("log_range", [row_of("log_range", 1)], "c")
        frames = TableFrames(run.store)
        frames.append("acl_reject", frames.read("acl_reject"))
        publish(run)
    found = properties_of(tmp_path)
    assert set(found) == {"setting", "log_range", "acl_reject", "job_run"}
    assert all(KEEPING.items() <= properties.items() for properties in found.values())


@SLOW
@pytest.mark.timeout(900)
def test_a_kill_at_any_commit_while_that_is_done_harms_nothing(aged):
    for number in range(1, 100):
        with pytest.MonkeyPatch.context() as patch:
            kill_at(patch, f"commit-{number}")
            try:
                with begin_run(None, str(aged), "replay", lock_timeout=0) as run:
                    break
            except Killed:
                require_readable(aged)
    # Two commits a table and more, the run that publishes them, and the description of job_run.
    assert number > 2 * len(PUBLISHED)
    assert run.store.runs
    require_readable(aged)
    assert all(KEEPING.items() <= p.items() for p in properties_of(aged).values())
    assert all(described(aged).values())
    for grown in GROWN:
        assert columns_of(str(aged / grown)) == list(TABLES[grown].column_names)


@SLOW
def test_a_checkpoint_after_a_quiet_time_forgets_no_version(aged, spark):
    write(spark, str(aged), {"setting": 1}, first=200)
    then = open_warehouse(str(aged)).run.table_versions["setting"]
    age(aged, 400)
    write(spark, str(aged), {"setting": 15}, first=300)
    reader = spark.read.format("delta")
    for version in range(PUBLISHED["setting"], then + 1):
        assert DeltaTable(str(aged / "setting"), version=version).version() == version
        reader.option("versionAsOf", version).load(str(aged / "setting")).count()
