"""aclkit run --rebuild: what was lost is computed again, or named before it is given up."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from aclkit.warehouse.published import open_warehouse
from tests.cli.running import Warehouse
from tests.nightly.test_nightly import FIRST_NIGHT, SECOND_NIGHT
from tests.nightly.test_paused import MAINTAIN, Clusters, good
from tests.warehouse.aging import Killed, kill_at

pytestmark = [pytest.mark.usefixtures("spark"), pytest.mark.timeout(1_800)]

HISTORY = ("acl_log", "log_range", "acl_history", "resource_lifetime", "broker")
TABLES = (*HISTORY, "principal", "explain")


@pytest.fixture(scope="module")
def two(_session, tmp_path_factory):
    """Two clusters in one warehouse, each two nights old."""
    found = Clusters(tmp_path_factory.mktemp("two"))
    for lines in (FIRST_NIGHT, SECOND_NIGHT):
        for cluster in "ab":
            good(found.night(cluster, *lines))
    return found


@pytest.fixture
def copy(two, tmp_path):
    again = Clusters(shutil.copytree(two.folder, tmp_path / "copy"))
    again.lines = {name: list(lines) for name, lines in two.lines.items()}
    return again


def tables(clusters, cluster, names=TABLES):
    return Warehouse(clusters.warehouse).tables(names, cluster)


def files_of(clusters):
    found = (path for path in clusters.warehouse.rglob("*") if path.is_file())
    return {path: path.read_bytes() for path in found}


def lose_rows(folder: Path) -> None:
    for path in folder.glob("*.parquet"):
        path.unlink()


def cut_rows(folder: Path) -> None:
    for path in folder.glob("*.parquet"):
        path.write_bytes(path.read_bytes()[:100])


def spoil_rows(folder: Path) -> None:
    for path in folder.glob("*.parquet"):
        content = path.read_bytes()
        path.write_bytes(content[:8] + bytes(192) + content[200:])


def lose_first_entry(folder: Path) -> None:
    (folder / "_delta_log" / f"{0:020}.json").unlink()


def cut_last_entry(folder: Path) -> None:
    sorted((folder / "_delta_log").glob("*.json"))[-1].write_text("{", encoding="utf-8")


def lose_last_entry(folder: Path) -> None:
    sorted((folder / "_delta_log").glob("*.json"))[-1].unlink()


OF_ROWS = (lose_rows, cut_rows, spoil_rows)
HARMS = (*OF_ROWS, lose_first_entry, cut_last_entry, lose_last_entry)
QUESTION = ("who-can", "ANY", "topic:pay.in", "--all")


@pytest.mark.parametrize("harm", HARMS)
def test_whoever_meets_a_lost_file_is_told_the_way_out(copy, harm):
    harm(copy.warehouse / "explain_pair")
    for command in (QUESTION, ("audit", "--fail-on", "never"), ("maintain",)):
        result = copy.call("--cluster", "a", *command)
        if result.exit_code == 0 and (command != ("maintain",) or harm in OF_ROWS):
            continue  # it has no need of the table, or of its rows
        assert result.exit_code == 4, result.output
        assert "aclkit run --rebuild" in result.stderr
    result = copy.night("a", *[])
    assert result.exit_code == 4, result.output
    assert "aclkit run --rebuild" in result.stderr


@pytest.mark.parametrize("harm", [lose_rows, cut_last_entry])
def test_lost_decisions_are_made_anew_and_those_of_other_clusters_count_as_not_made(
    two, copy, harm
):
    harm(copy.warehouse / "explain_pair")
    result = copy.night("a", options=("--rebuild",))
    good(result)
    notes = open_warehouse(str(copy.warehouse)).run.notes
    assert "Computed again, because files were lost: explain_pair." in notes
    assert tables(copy, "a") == tables(two, "a")
    assert tables(copy, "b", HISTORY) == tables(two, "b", HISTORY)
    refused = copy.call("--cluster", "b", *QUESTION)
    assert refused.exit_code == 2
    assert "No decisions exist for cluster b yet" in refused.stderr
    good(copy.night("b"))
    assert tables(copy, "b") == tables(two, "b")
    good(copy.night("a"))
    good(copy.call(*MAINTAIN))
    assert tables(copy, "a") == tables(two, "a")


@pytest.mark.parametrize("harm", [lose_rows, lose_first_entry])
def test_lost_history_of_acls_is_computed_from_the_facts_for_all_clusters(two, copy, harm):
    harm(copy.warehouse / "acl_history")
    good(copy.night("a", options=("--rebuild",)))
    for cluster in "ab":
        assert tables(copy, cluster) == tables(two, cluster)
    good(copy.call("--cluster", "b", *QUESTION))


@pytest.mark.parametrize("table", ["acl_log", "access_change", "finding", "job_run"])
def test_what_nothing_brings_back_is_named_and_kept_until_it_is_given_up(two, copy, table):
    lose_rows(copy.warehouse / table)
    before = files_of(copy)
    refused = copy.night("a", options=("--rebuild",))
    assert refused.exit_code == 2, refused.output
    assert f"{table} cannot be read" in refused.stderr
    assert "loses for ever" in refused.stderr
    assert files_of(copy) == before
    good(copy.night("a", options=("--rebuild", "--force")))
    assert tables(copy, "a") == tables(two, "a")
    good(copy.night("b"))
    assert tables(copy, "b") == tables(two, "b")
    good(copy.call(*MAINTAIN))


def test_a_sound_warehouse_loses_nothing_by_a_rebuild(two, copy):
    good(copy.night("a", options=("--rebuild",)))
    for cluster in "ab":
        assert tables(copy, cluster) == tables(two, cluster)
        good(copy.call("--cluster", cluster, *QUESTION))
    assert len(open_warehouse(str(copy.warehouse)).runs) == 5


@pytest.mark.slow
@pytest.mark.parametrize("harm", [lose_rows, lose_first_entry])
@pytest.mark.parametrize("point", ["commit-1", "commit-3", "after-facts", "before-job-run"])
def test_a_rebuild_that_is_killed_shows_nothing_false_and_can_be_done_again(two, copy, harm, point):
    harm(copy.warehouse / "explain_pair")
    with pytest.MonkeyPatch.context() as patch:
        kill_at(patch, point)
        with pytest.raises(Killed):
            copy.night("a", options=("--rebuild",))
    assert copy.call("--cluster", "b", *QUESTION).exit_code == 4
    good(copy.night("a", options=("--rebuild",)))
    assert tables(copy, "a") == tables(two, "a")
    good(copy.night("b"))
    assert tables(copy, "b") == tables(two, "b")


def test_force_without_rebuild_is_a_mistake(copy):
    result = copy.night("a", options=("--force",))
    assert result.exit_code == 2
    assert "--force needs --rebuild" in result.stderr
