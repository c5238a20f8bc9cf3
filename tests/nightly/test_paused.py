"""A cluster that pauses finds its way back: what its next run opens stays, whatever others do."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from pyspark.sql import SparkSession

from aclkit.cli import cli
from aclkit.warehouse.published import open_warehouse
from tests.nightly.test_nightly import FIRST_NIGHT, SECOND_NIGHT, add
from tests.warehouse.aging import Killed, kill_at

pytestmark = [pytest.mark.usefixtures("spark"), pytest.mark.timeout(900)]

MAINTAIN = ("maintain", "--keep-days", "0", "--keep-runs", "1")


class Clusters:
    """One warehouse, and the nights of several clusters in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.warehouse = folder / "warehouse"
        self.lines: dict[str, list[str]] = {}

    def night(self, cluster: str, *lines: str, options: tuple[str, ...] = ()) -> Result:
        """Do a night of a cluster, whose log has gone on by some lines."""
        self.lines.setdefault(cluster, []).extend(lines)
        source = self.folder / f"{cluster}.jsonl"
        source.write_text("\n".join(self.lines[cluster]) + "\n", encoding="utf-8")
        named = ("--source", f"records:{source}", "--fail-on", "never")
        return self.call("--cluster", cluster, "run", *named, *options)

    def call(self, *arguments: str) -> Result:
        return CliRunner().invoke(cli, ["--warehouse", str(self.warehouse), *arguments])

    def kill(self, cluster: str, *lines: str) -> None:
        """Let a night end before it is published; its log is then what it was before."""
        before = list(self.lines[cluster])
        with pytest.MonkeyPatch.context() as patch:
            kill_at(patch, "before-job-run")
            with pytest.raises(Killed):
                self.night(cluster, *lines)
        self.lines[cluster] = before


@pytest.fixture(scope="module")
def paused(_session: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Clusters:
    """A cluster killed, quiet and maintained, and another one's nights and maintenance since."""
    found = Clusters(tmp_path_factory.mktemp("paused"))
    good(found.night("a", *FIRST_NIGHT))
    found.kill("a", *SECOND_NIGHT)
    good(found.night("a"))
    assert any("Nothing new" in note for note in open_warehouse(str(found.warehouse)).run.notes)
    good(found.call(*MAINTAIN))
    # Two of its nights may share files with the tables of this one; three do not.
    for lines in (FIRST_NIGHT, SECOND_NIGHT, [add(10, "User:dee", "pay.out")]):
        good(found.night("b", *lines))
        good(found.call(*MAINTAIN))
    return found


def good(result: Result) -> None:
    assert result.exit_code == 0, result.output


@pytest.fixture
def copy(paused: Clusters, tmp_path: Path) -> Clusters:
    again = Clusters(shutil.copytree(paused.folder, tmp_path / "copy"))
    again.lines = {name: list(lines) for name, lines in paused.lines.items()}
    return again


@pytest.mark.parametrize("options", [(), ("--full",)], ids=["as-ever", "full"])
def test_a_paused_cluster_goes_on_after_the_maintenance_of_others(copy, options):
    good(copy.night("a", *SECOND_NIGHT, options=options))
    found = open_warehouse(str(copy.warehouse))
    assert found.run.counts["access_changes"] > 0


def test_full_decides_on_a_quiet_night_too(copy):
    good(copy.night("b"))
    good(copy.night("b", options=("--full",)))
    run = open_warehouse(str(copy.warehouse)).run
    assert run.decided_in == run.run_number
    assert not any("Nothing new" in note for note in run.notes)


@pytest.mark.parametrize("room", [0, -1], ids=["just-enough", "one-too-few"])
def test_the_dense_table_is_bounded_for_all_clusters_that_it_holds(copy, monkeypatch, room):
    published = open_warehouse(str(copy.warehouse))
    rows = sum(published.last_materialize(name).counts["rows_expected"] for name in "ab")
    monkeypatch.setattr("aclkit.pipeline.explain.materialize.DENSE_LIMIT", rows + room)
    good(copy.night("b", options=("--full",)))
    assert ("explain" in open_warehouse(str(copy.warehouse)).run.table_versions) == (room == 0)
    assert copy.call("--cluster", "a", "who-can", "ANY", "topic:pay.in", "--all").exit_code == 0
