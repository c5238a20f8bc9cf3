"""What maintain leaves of many runs: what is asked for stays, and the rest goes."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime, timedelta

import pytest
from click.testing import CliRunner
from deltalake.exceptions import DeltaError

from aclkit.cli import cli
from aclkit.model.findings import Finding
from aclkit.questions.query.lifetimes import first_seen
from aclkit.warehouse import run as publishing
from aclkit.warehouse.duck import connect
from aclkit.warehouse.location import Location
from aclkit.warehouse.maintenance import maintain
from aclkit.warehouse.published import open_warehouse
from aclkit.warehouse.retention import Policy
from aclkit.warehouse.run import begin_run, continue_from_newest, publish
from aclkit.warehouse.table_files import read_files
from tests.warehouse.aging import Killed, age, kill_at

ONE = Policy(keep_days=0, keep_runs=1)


def found(subject):
    return Finding(
        finding="orphan-principal", severity="low", subject=subject, message="m", fix="f",
        holds_for="inventory",
    )  # fmt: skip


def do(spark, where, job="run", cluster="c", subjects=(), decides=True):
    """Publish a run with findings about so many subjects."""
    with begin_run(spark, str(where), job, lock_timeout=0) as run:
        run.cluster_id = cluster
        before = run.previous(("run",))
        if job == "run" and (decides or before is None):
            run.counts["decided_in_run"] = run.run_number
        elif before is not None:
            run.counts["decided_in_run"] = before.decided_in
        run.findings = [found(subject) for subject in subjects]
        publish(run)
        return run


def keep_house(spark, where, policy=ONE):
    with begin_run(spark, str(where), "maintain", lock_timeout=0) as run:
        continue_from_newest(run)
        return {row.table: row for row in maintain(run, policy, dry_run=False)}


def rows(where, query):
    with connect(open_warehouse(str(where))) as connection:
        return connection.execute(query).fetchall()


def numbers(where):
    return [run.run_number for run in open_warehouse(str(where)).runs]


def readable_files(where, table):
    """Name the files of all versions that kept runs name and that can still be read."""
    files = set()
    for run in open_warehouse(str(where)).runs:
        with suppress(DeltaError):
            found = read_files(Location(str(where)), table, run.table_versions[table])
            files |= {file.name for file in found.files}
    return files


def since(where, cluster="c"):
    """Ask since when the findings in force are there."""
    with connect(open_warehouse(str(where))) as connection:
        in_force = connection.execute(
            "SELECT subject FROM finding_current WHERE cluster_id = ?", [cluster]
        ).fetchall()
        findings = [found(subject) for (subject,) in in_force]
        return {f.subject: first_seen(connection, cluster, [f])[f.fingerprint] for f in findings}


def test_rows_of_runs_go_with_them_and_what_is_needed_stays(spark, tmp_path):
    path = tmp_path / "warehouse"
    where = str(path)
    first = do(spark, where, subjects=["old", "gone"])
    do(spark, where, "usage", subjects=["unused"])
    do(spark, where, cluster="d", subjects=["old"])
    for _ in range(3):
        do(spark, where, subjects=["old"])
    do(spark, where, subjects=["old", "new"])
    do(spark, where, decides=False)
    before, answers = since(path), rows(path, "SELECT fingerprint FROM finding_current ORDER BY 1")
    assert before["old"] == first.started_at.replace(microsecond=before["old"].microsecond)
    newest = open_warehouse(str(path)).run.run_number

    done = keep_house(spark, where)
    # Of the first cluster: the usage, the run before the one that decided, that one, the newest,
    # which took its decisions over, and the maintenance; of the second its only run.
    assert numbers(path) == [1, 2, 5, 6, 7, 8]
    assert newest == 7
    assert done["finding"].rows_removed == 4
    assert done["finding"].files_after == done["job_run"].files_after == 1
    assert rows(path, "SELECT fingerprint FROM finding_current ORDER BY 1") == answers
    assert since(path) == before
    assert set(since(path, "d")) == {"old"}

    # Run numbers go on, and nothing is lost with the next maintenance either.
    do(spark, where, subjects=["old", "new"])
    assert numbers(path)[-1] == 9
    keep_house(spark, where)
    assert since(path)["old"] == before["old"]
    assert numbers(path)[-1] == 10
    assert {file.name for file in path.glob("finding/*.parquet")} <= readable_files(path, "finding")
    assert len(list(path.glob("job_run/*.parquet"))) <= 4


def test_many_runs_are_opened_as_quickly_as_few(spark, tmp_path):
    for number in range(70):
        with begin_run(spark, str(tmp_path), "replay", lock_timeout=0) as run:
            run.cluster_id = f"{number % 2}"
            publish(run)
    published = open_warehouse(str(tmp_path))
    assert len(published.job_run.files) <= 7
    assert [run.run_number for run in published.standing] == [68, 69]
    assert [run.run_number for run in published.runs] == list(range(70))


def test_a_clock_that_goes_back_an_hour_harms_nothing(spark, tmp_path, monkeypatch):
    do(spark, tmp_path, subjects=["old"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(publishing, "datetime", AnHourLater)
        later = do(spark, tmp_path, subjects=["old", "new"])
    # As if those commits had been made an hour from now: the next ones come before them.
    age(tmp_path, -1 / 24)
    kill_at(monkeypatch, "before-job-run")
    with pytest.raises(Killed):
        do(spark, tmp_path, subjects=["lost"])
    monkeypatch.undo()
    newest = do(spark, tmp_path, subjects=["old"])
    assert newest.started_at < later.started_at
    assert set(since(tmp_path)) == {"old"}
    keep_house(spark, tmp_path, Policy(keep_days=1, keep_runs=1))
    assert numbers(tmp_path) == [0, 1, 2, 3]
    keep_house(spark, tmp_path)
    # The run that decided, the one before it, and both runs of maintenance: the newest of its kind.
    assert numbers(tmp_path) == [1, 2, 3, 4]
    assert set(since(tmp_path)) == {"old"}
    reader = spark.read.format("delta").option("versionAsOf", newest.store.versions["finding"])
    assert reader.load(str(tmp_path / "finding")).count() >= 1


class AnHourLater(datetime):
    """A clock that is an hour ahead."""

    @classmethod
    def now(cls, tz=UTC):
        return datetime.now(tz) + timedelta(hours=1)


def test_the_days_that_maintain_keeps_are_noted(spark, tmp_path):
    do(spark, tmp_path)
    for given, days in ((["--keep-days", "8"], 8.0), ([], 30.0)):
        result = CliRunner().invoke(cli, ["--warehouse", str(tmp_path), "maintain", *given])
        assert result.exit_code == 0, result.output
        assert open_warehouse(str(tmp_path)).run.settings.keep_days == days
