"""Which runs stay, and which table versions they need."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aclkit.warehouse.job_run import CURRENT_RUNS, PublishedRun, decided_and_before
from aclkit.warehouse.retention import Policy, TableLog, keep, remove_unneeded
from aclkit.warehouse.run import goes_on_from
from aclkit.warehouse.store import Store
from aclkit.warehouse.table_files import read_files

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


def run(number, job="run", *, cluster="c", decided=None, days=0.0, versions=None, settings="{}"):
    """Make a run that was published so many days ago."""
    return PublishedRun(
        run_number=number, run_id=f"r{number}", cluster_id=cluster, job=job,
        finished_at=(NOW - timedelta(days=days)).replace(tzinfo=None), settings_text=settings,
        counts={} if decided is None else {"decided_in_run": decided},
        table_versions={"acl_log": number} if versions is None else versions,
    )  # fmt: skip


def kept(runs, *, days=0.0, runs_kept=1):
    found = keep(runs, Policy(keep_days=days, keep_runs=runs_kept), NOW)
    return [run.run_number for run in found.runs], {k: set(v) for k, v in found.versions.items()}


def nights(number, decided=0):
    """Make nights of which the last was published now, and each a day before the next."""
    return [run(n, decided=decided, days=number - 1 - n) for n in range(number)]


def test_so_many_of_the_newest_runs_stay_with_their_versions():
    numbers, versions = kept(nights(10), runs_kept=3)
    assert numbers == [0, 7, 8, 9]
    assert versions["acl_log"] == {0, 7, 8, 9}


def test_a_run_stays_as_long_as_readers_saw_it_within_the_days():
    # Run 6 ended three days ago, and readers saw it until run 7 came two days ago.
    assert kept(nights(10), days=2.5)[0] == [0, 6, 7, 8, 9]


def test_the_newest_run_of_each_job_stays_in_each_cluster():
    runs = [
        run(0, "replay"), run(1, "usage"), run(2, "usage", cluster="d"), run(3, "usage"),
        run(4, "replay", cluster="d"), run(5, "replay"),
    ]  # fmt: skip
    assert kept([*runs, *[run(n, "maintain") for n in range(6, 9)]])[0] == [2, 3, 4, 5, 8]


def test_old_runs_that_stay_as_rows_keep_no_versions():
    numbers, versions = kept([run(0, "usage"), run(1, "replay"), run(2, "replay")])
    assert numbers == [0, 2]
    assert versions["acl_log"] == {2}


def test_the_run_that_decided_and_the_one_before_it_stay_with_their_versions():
    runs = [run(0, decided=0), run(1, decided=0), run(2, decided=2)]
    runs += [run(n, decided=2) for n in range(3, 8)]
    numbers, versions = kept(runs)
    assert numbers == [0, 1, 2, 7]
    assert versions["acl_log"] == {1, 2, 7}


def test_the_run_whose_decisions_a_kept_run_took_over_stays_with_its_findings():
    runs = [run(0, decided=0), *[run(n, decided=0) for n in range(1, 6)], run(6, decided=6)]
    assert 0 in kept(runs, runs_kept=3)[0]


def test_versions_that_maintenance_put_in_place_of_others_are_those_that_old_rows_name():
    runs = [
        run(0, decided=0, versions={"acl_log": 1}),
        run(1, "maintain", decided=0, settings='{"rewritten": {"acl_log": [1, 2]}}'),
        run(2, "maintain", decided=0, settings='{"rewritten": {"acl_log": [2, 3]}}'),
        run(3, "maintain", decided=0, versions={"acl_log": 3}),
    ]
    found = keep(runs, Policy(keep_days=0, keep_runs=1), NOW)
    assert [(run.run_number, run.table_versions) for run in found.runs] == [
        (0, {"acl_log": 3}), (3, {"acl_log": 3}),
    ]  # fmt: skip
    assert found.versions == {"acl_log": {3}}


def test_a_clock_that_went_back_lets_no_run_of_the_last_days_go():
    runs = nights(10)
    for at in (8, 9):
        runs[at] = run(at, decided=0, days=9 - at + 25 / 24)
    assert kept(runs, days=2.5)[0] == [0, *range(6, 10)]


def test_a_run_before_a_time_yet_to_come_lasted_as_long_as_the_run_behind():
    # Run 1 was published by a clock that was an hour ahead; run 2 came after it, an hour ago.
    runs = [run(0, days=2), run(1, days=-1 / 24), run(2, days=1 / 24), run(3)]
    assert kept(runs, days=1.0)[0] == [0, 1, 2, 3]


def test_a_time_yet_to_come_keeps_nothing_for_ever():
    runs = nights(10)
    runs[2] = run(2, decided=0, days=-30_000)
    assert kept(runs)[0] == [0, 9]


@given(
    st.lists(
        st.tuples(
            st.sampled_from("cd"), st.sampled_from(["run", "materialize", "replay", "usage"]),
            st.booleans(),
        ),
        min_size=1, max_size=12,
    ),
    st.integers(1, 3),
)  # fmt: skip
def test_what_stands_always_stays_and_still_stands(standing, jobs, runs_kept):
    decided: dict[str, int] = {}
    runs = []
    for number, (cluster, job, decides) in enumerate(jobs):
        if job in ("run", "materialize") and (decides or cluster not in decided):
            decided[cluster] = number
        of_job = decided.get(cluster) if job in ("run", "materialize") else None
        runs.append(run(number, job, cluster=cluster, decided=of_job))
    found = keep(runs, Policy(keep_days=0, keep_runs=runs_kept), NOW)
    stands = standing(runs)
    assert standing(found.runs) == stands
    assert set(stands) <= {run.run_number for run in found.runs}
    assert found.runs[-1].run_number == runs[-1].run_number


def opened(runs, cluster):
    """Return the versions that somebody opens of a table: the next run of a cluster, and readers.

    Those who ask what changed open the tables of the run before the one that decided.
    """
    told = [(run.run_number, run.job, run.counts) for run in runs if run.cluster_id == cluster]
    decided, next_run = decided_and_before(told), goes_on_from(runs, cluster)
    before = decided[1] if decided else None
    found = {run.table_versions["t"] for run in runs if run.run_number == before}
    return found | ({next_run.table_versions["t"]} if next_run else set())


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["night", "quiet", "killed and quiet", "maintain", "rewriting"]),
            st.sampled_from("cd"),
        ),
        max_size=14,
    ),
    st.integers(1, 3),
)
def test_whatever_happens_the_versions_that_somebody_opens_are_kept(happened, runs_kept):
    runs, there, version = [run(0, decided=0, versions={"t": 0})], {0}, 0
    decided = {"c": 0}
    for number, (kind, cluster) in enumerate(happened, start=1):
        if kind in ("maintain", "rewriting"):
            made = version + (kind == "rewriting")
            rewritten = f'{{"rewritten": {{"t": [{version}, {made}]}}}}'
            found = keep(runs, Policy(keep_days=0, keep_runs=runs_kept), NOW)
            of_newest = {"cluster": runs[-1].cluster_id, "decided": runs[-1].decided_in}
            runs = [*found.runs, run(number, "maintain", **of_newest, versions={"t": made},
                                     settings=rewritten if made != version else "{}")]  # fmt: skip
            version, there = made, {*found.versions["t"], made}
        else:
            # A killed run's version comes before the one that takes it back.
            version += 2 * (kind == "killed and quiet")
            if kind == "night" or cluster not in decided:
                version, decided[cluster] = version + 1, number
            at = {"decided": decided[cluster], "versions": {"t": version}}
            runs.append(run(number, cluster=cluster, **at))
            there.add(version)
        for each in decided:
            assert opened(runs, each) <= there


@pytest.fixture(scope="module")
def standing():
    """Ask the SQL that readers ask for the rows that stand."""
    kinds = {
        "run_number": pa.int64(), "cluster_id": pa.string(), "job": pa.string(),
        "counts": pa.map_(pa.string(), pa.int64()),
    }  # fmt: skip
    with duckdb.connect() as connection:

        def asked(runs):
            rows = [{name: getattr(run, name) for name in kinds} for run in runs]
            connection.register("job_run", pa.Table.from_pylist(rows, pa.schema(kinds)))
            return [row[0] for row in connection.execute(CURRENT_RUNS).fetchall()]

        yield asked


def test_a_pinned_run_stays_with_its_versions_and_any_other_goes():
    pinned = keep(nights(10), Policy(keep_days=0, keep_runs=1), NOW, frozenset({"r4", "strange"}))
    assert [run.run_number for run in pinned.runs] == [0, 4, 9]
    assert 4 in pinned.versions["acl_log"]


def log(commits, checkpoints=()):
    names = [f"{v:020}.json" for v in commits] + [f".{v:020}.json.crc" for v in commits]
    names += [f"{v:020}.checkpoint.parquet" for v in checkpoints] + ["_last_checkpoint"]
    return TableLog.of_names(names)


def test_a_version_is_read_from_the_checkpoint_before_it_or_from_the_beginning():
    found = log(range(25), (10, 20))
    assert [found.base_of(v) for v in (0, 9, 10, 19, 20, 24)] == [0, 0, 10, 10, 20, 20]


def test_a_version_whose_commits_are_gone_is_lost():
    found = log([3, 4, 11, 12], (10,))
    assert [found.base_of(v) for v in (4, 10, 12, 13)] == [None, 10, 10, None]


def test_entries_before_the_checkpoint_of_the_oldest_needed_version_go_the_oldest_first():
    gone = list(log(range(25), (10, 20)).obsolete([13, 24]))
    versions = [int(name.lstrip(".")[:20]) for name in gone]
    assert versions == sorted(versions)
    assert set(versions) == set(range(10))


def test_without_a_checkpoint_before_it_all_stays():
    assert not list(log(range(9)).obsolete([8]))
    assert not list(log(range(25), (20,)).obsolete([13, 24]))


def test_where_a_needed_version_is_lost_no_entry_of_the_log_goes():
    found = log(range(5, 25), (20,))
    assert found.lost([7, 20, 24]) == [7]
    assert not list(found.obsolete([7, 24]))
    assert list(found.obsolete([24]))


def test_a_checkpoint_of_several_parts_is_none_to_begin_with():
    name = f"{10:020}.checkpoint.{1:010}.{2:010}.parquet"
    found = TableLog.of_names([*(f"{v:020}.json" for v in range(12)), name])
    assert found.base_of(11) == 0


@pytest.fixture
def store(tmp_path):
    """A table of three versions, whose second one is needed; the third has files of its own."""
    found = Store(None, str(tmp_path))
    found.run_id = "r"
    for number in range(3):
        found.replace("log_range", [("c", 0, number + 1, None, "record", -1)], None)
    return found


def files_of(store):
    return {path for path in Path(store.place.text).rglob("*") if path.is_file()}


def test_files_of_no_needed_version_go(store):
    needed = {file.name for v in (1, 2) for file in read_files(store.place, "log_range", v).files}
    assert remove_unneeded(store, {"log_range": {1}}) == []
    assert {path.name for path in files_of(store) if path.suffix == ".parquet"} == needed


@pytest.mark.parametrize("harm", ["gone", "cut"])
def test_of_a_table_whose_needed_version_cannot_be_followed_nothing_goes_and_it_is_told(
    store, harm
):
    entry = Path(store.place.of_table("log_range")) / "_delta_log" / f"{1:020}.json"
    entry.unlink() if harm == "gone" else entry.write_text("{", encoding="utf-8")
    before = files_of(store)
    (told,) = remove_unneeded(store, {"log_range": {1}})
    assert "No file of the table log_range was removed" in told
    assert files_of(store) == before
