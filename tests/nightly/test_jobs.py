"""A small night takes no job of Spark, and leaves tables that everybody can read."""

from __future__ import annotations

import shutil

import pytest
from click.testing import CliRunner
from deltalake import DeltaTable

from aclkit.cli import cli
from tests.cli.running import KRAFT


@pytest.fixture(scope="module")
def nights(_session, tmp_path_factory):
    """A warehouse after two nights, and how many jobs each took."""
    folder = tmp_path_factory.mktemp("jobs")
    log = folder / "__cluster_metadata-0"
    shutil.copytree(KRAFT, log)
    (segment,) = log.glob("*.log")
    whole = segment.read_bytes()
    jobs = []
    for content in (whole[: batches(whole)[-5]], whole):
        segment.write_bytes(content)
        before = jobs_of(_session)
        words = ["--warehouse", str(folder / "w"), "run", "--source", f"metadata-log:{log}"]
        result = CliRunner().invoke(cli, [*words, "--fail-on", "never"])
        assert result.exit_code == 0, result.output
        jobs.append(jobs_of(_session) - before)
    return folder / "w", jobs


def batches(content):
    """Return where the batches of a segment begin."""
    begins, at = [], 0
    while at < len(content):
        begins.append(at)
        at += 12 + int.from_bytes(content[at + 8 : at + 12])
    return begins


def jobs_of(spark):
    return spark.sparkContext._jsc.sc().dagScheduler().numTotalJobs()


@pytest.mark.usefixtures("spark")
def test_a_first_night_and_one_with_little_new_take_no_job(nights):
    _, jobs = nights
    assert jobs == [0, 0]


@pytest.mark.usefixtures("spark")
def test_every_table_of_a_night_can_be_read_by_every_delta_reader(nights):
    warehouse, _ = nights
    tables = [path.parent for path in warehouse.glob("*/_delta_log")]
    assert len(tables) > 15
    for table in tables:
        protocol = DeltaTable(str(table)).protocol()
        assert (protocol.min_reader_version, protocol.min_writer_version) == (1, 2), table.name
