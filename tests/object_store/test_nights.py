"""Nights in a bucket end in the tables of the same nights on a local disk, killed or not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner

from aclkit.cli import cli
from aclkit.warehouse.duck import connect
from aclkit.warehouse.lease import LEASE
from aclkit.warehouse.location import Location
from aclkit.warehouse.published import open_warehouse
from aclkit.warehouse.schemas import TABLES
from aclkit.warehouse.store import SCRATCH
from tests.nightly.test_nightly import FIRST_NIGHT, SECOND_NIGHT, Nights, add, remove, topic
from tests.object_store.copies import put_folder

pytestmark = [pytest.mark.object_store, pytest.mark.timeout(900)]

COMPARED = tuple(name for name in TABLES if name != "job_run")
OF_A_RUN = ("source", "run_id")
OF_THE_MOMENT = ("setting", "finding")
OFTEN_ASKED = ("who-can", "ANY", "topic:pay.in", "--all", "--format", "csv")
LATER_NIGHTS = [
    SECOND_NIGHT,
    [topic(10, "pay.late"), add(11, "User:dan", "pay.late")],
    [],
    [remove(12, 11)],
    [add(13, "User:eve", "p", pattern=4, operation=2), add(14, "User:eve", "pay.in", permission=2)],
    [topic(15, "other")],
    [add(16, "User:*", "*", operation=8)],
    [remove(17, 16), remove(18, 7)],
    [add(19, "User:ann", "other", operation=2)],
]


class NightsInABucket(Nights):
    """As ``Nights``, but the warehouse lies in a bucket."""

    def __init__(self, folder: Path, uri: str) -> None:
        super().__init__(folder)
        self.uri = uri

    def call(self, *arguments: str):
        return CliRunner().invoke(cli, ["--warehouse", self.uri, *arguments])


def seen(place):
    """Return all rows of the tables, without who wrote them and when a night happened to be."""
    with connect(open_warehouse(str(place))) as connection:
        return {name: rows_of(connection, name) for name in COMPARED}


def rows_of(connection, table):
    names = [row[0] for row in connection.execute(f"DESCRIBE {table}").fetchall()]
    kept = ", ".join(name for name in names if name not in OF_A_RUN)
    rows = connection.execute(f"SELECT {kept} FROM {table}").fetchall()
    if table in OF_THE_MOMENT:
        rows = [tuple(value for value in row if type(value) is not datetime) for row in rows]
    return sorted(rows, key=repr)


@pytest.mark.spark
@pytest.mark.usefixtures("session_on_s3")
def test_ten_nights_leave_the_tables_of_a_local_disk_whatever_the_clock_of_the_store(
    bucket, tmp_path
):
    (tmp_path / "here").mkdir()
    here, there = Nights(tmp_path / "here"), NightsInABucket(tmp_path, f"{bucket.uri}/acls")
    nights = [FIRST_NIGHT, *LATER_NIGHTS]
    for number, lines in enumerate(nights):
        bucket.store.set_clock(timedelta(days=number) if number % 2 else -timedelta(hours=number))
        both = [each.run(*lines, options=("--fail-on", "never")) for each in (here, there)]
        for result in both:
            assert result.exit_code == 0, result.output
        if number in (4, 9):
            for each in (here, there):
                done = each.call("maintain", "--keep-days", "0", "--keep-runs", "2")
                assert done.exit_code == 0, done.output
        assert seen(there.uri) == seen(here.folder / "warehouse"), number
    asked = [each.call(*OFTEN_ASKED) for each in (here, there)]
    assert asked[0].stdout == asked[1].stdout
    assert asked[0].exit_code == asked[1].exit_code == 0
    places = (here.folder / "warehouse", there.uri)
    assert len({len(open_warehouse(str(place)).runs) for place in places}) == 1


BY_SPARK = ("--fail-on", "never", "--decide-with", "spark")


@pytest.mark.spark
@pytest.mark.usefixtures("session_on_s3")
def test_readings_that_spark_decides_are_compared_in_a_bucket_and_leave_nothing_there(
    bucket, tmp_path
):
    (tmp_path / "here").mkdir()
    here, there = Nights(tmp_path / "here"), NightsInABucket(tmp_path, f"{bucket.uri}/acls")
    for each in (here, there):
        result = each.run(*FIRST_NIGHT, add(9, "User:a*", "pay.in"), options=BY_SPARK)
        assert result.exit_code == 0, result.output
        assert "of this run would change." in result.output
    assert seen(there.uri) == seen(here.folder / "warehouse")
    assert [*Location(there.uri).files.tree(SCRATCH)] == []


def in_a_process(uri, source, *options, **env):
    command = [sys.executable, "-m", "aclkit", "--warehouse", uri, "run"]
    return subprocess.run(
        [*command, "--source", f"records:{source}", "--fail-on", "never", "--lock-timeout", "0",
         *options],
        env={**os.environ, **env}, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8",
        timeout=280, check=False,
    )  # fmt: skip


def let_the_lease_end(uri):
    """Put the end of the turn into the past, as if the time had gone by; the owner stays."""
    files = Location(uri).files
    content, tag = files.read_tagged(LEASE)
    turn = json.loads(content)
    assert turn["owner"]
    turn["until"] = datetime(2020, 1, 1, tzinfo=UTC).isoformat()
    assert files.replace(LEASE, json.dumps(turn).encode(), tag)


@pytest.mark.spark
@pytest.mark.usefixtures("session_on_s3")
def test_a_night_with_nothing_new_is_done_in_a_bucket_where_there_is_no_java(bucket, tmp_path):
    here, nowhere = Nights(tmp_path), str(tmp_path / "no-java")
    # Else each night has a row of its own that tells that super users are unknown.
    known = "--no-super-users"
    assert here.run(*FIRST_NIGHT, options=("--fail-on", "never", known)).exit_code == 0
    uri = put_folder(here.folder / "warehouse", bucket, "acls")
    before = seen(uri)
    done = in_a_process(uri, tmp_path / "records.jsonl", known, JAVA_HOME=nowhere, PATH=nowhere)
    assert done.returncode == 0, done.stderr
    assert [run.run_number for run in open_warehouse(uri).runs] == [0, 1]
    assert seen(uri) == before


PHASES = ("commit-1", "after-facts", "commit-9", "before-job-run")


def test_a_night_that_was_killed_in_any_phase_is_done_by_the_next_one(bucket, tmp_path):
    here, uri = Nights(tmp_path), f"{bucket.uri}/acls"
    source = tmp_path / "records.jsonl"
    assert here.run(*FIRST_NIGHT, options=("--fail-on", "never")).exit_code == 0
    assert in_a_process(uri, source).returncode == 0
    before = seen(uri)
    assert before == seen(here.folder / "warehouse")
    assert here.run(*SECOND_NIGHT, options=("--fail-on", "never")).exit_code == 0
    after = seen(here.folder / "warehouse")
    for phase in PHASES:
        killed = in_a_process(uri, source, ACLKIT_FAIL_POINT=phase)
        assert killed.returncode == -9, killed.stderr
        assert seen(uri) == before, phase
        second = in_a_process(uri, source)
        assert second.returncode == 4, second.stderr
        assert "Another run holds the lease" in second.stderr
        let_the_lease_end(uri)
    last = in_a_process(uri, source)
    assert last.returncode == 0, last.stderr
    assert "Undid the changes of an unfinished run" in last.stderr
    assert seen(uri) == after
