"""A run that is killed leaves nothing to see, and started again gives what it would have given."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from tests.cli.running import (
    MATERIALIZED,
    REPLAYED,
    SEGMENT,
    SYNTHETIC,
    half_read,
)

# Each test starts a JVM of its own, on a machine that may be busy.
pytestmark = [pytest.mark.usefixtures("spark"), pytest.mark.slow, pytest.mark.timeout(900)]

LOG = SYNTHETIC / "basic"
REPLAY = ("replay", "--source", f"metadata-log:{LOG}")
MATERIALIZE = ("materialize", "--super-users", "User:admin")


@pytest.fixture(scope="module")
def started(_session, tmp_path_factory):
    """A warehouse that has read the first half of the log."""
    return half_read(LOG / SEGMENT, tmp_path_factory.mktemp("kill"))


@pytest.fixture(scope="module")
def whole(started, tmp_path_factory):
    """A warehouse that has read the whole log, undisturbed."""
    warehouse = started.copy(tmp_path_factory.mktemp("kill") / "whole")
    warehouse.run(*REPLAY)
    return warehouse


@pytest.fixture(scope="module")
def undisturbed(whole, tmp_path_factory):
    """A warehouse that has been materialized too."""
    warehouse = whole.copy(tmp_path_factory.mktemp("kill") / "undisturbed")
    warehouse.run(*MATERIALIZE)
    return warehouse


def kill_at(fail_point, warehouse, command):
    """Run a command in a process of its own, which is killed at a fail point."""
    before = files_of(warehouse)
    ended = subprocess.run(
        [
            *(sys.executable, "-c", "from aclkit.cli import cli; cli()"),
            *("--warehouse", str(warehouse.path), *command),
        ],
        env={**os.environ, "ACLKIT_FAIL_POINT": fail_point},
        capture_output=True,
        encoding="utf-8",
        timeout=600,
        check=False,
    )
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    assert files_of(warehouse) > before, "the run was killed before it wrote anything"


def files_of(warehouse):
    return set(warehouse.path.rglob("*.parquet"))


def test_replay_killed_after_its_facts(started, whole, tmp_path):
    warehouse = started.copy(tmp_path / "warehouse")
    kill_at("after-facts", warehouse, REPLAY)

    assert warehouse.tables() == started.tables()
    assert warehouse.published().runs == started.published().runs
    warehouse.run("who-can", "READ", "topic:orders", code=2)

    warehouse.run(*REPLAY)
    assert warehouse.tables() == whole.tables() != started.tables()


def test_replay_killed_at_its_third_commit(started, whole, tmp_path):
    warehouse = started.copy(tmp_path / "warehouse")
    kill_at("commit-3", warehouse, REPLAY)

    assert warehouse.tables() == started.tables()
    warehouse.run(*REPLAY)
    assert warehouse.tables() == whole.tables()


def test_forgetting_killed_after_its_facts(whole, tmp_path):
    warehouse = whole.copy(tmp_path / "warehouse")
    command = ("replay", "--forget", "2-")
    kill_at("after-facts", warehouse, command)
    assert warehouse.tables() == whole.tables()

    warehouse.run(*command)
    assert warehouse.published().run.head_offset == 2
    warehouse.run(*REPLAY)
    assert warehouse.tables() == whole.tables()


def test_materialize_killed_between_pairs_and_rulings(whole, undisturbed, tmp_path):
    warehouse = whole.copy(tmp_path / "warehouse")
    kill_at("between-pairs-and-rulings", warehouse, MATERIALIZE)

    assert warehouse.tables() == whole.tables()
    assert warehouse.table("explain") == []
    assert "materialize" in warehouse.run("who-can", "READ", "topic:orders", code=2).stderr

    warehouse.run(*MATERIALIZE)
    every = REPLAYED + MATERIALIZED
    assert warehouse.tables(every) == undisturbed.tables(every)


def test_materialize_killed_before_its_row_of_job_run(undisturbed, tmp_path):
    warehouse = undisturbed.copy(tmp_path / "warehouse")
    kill_at("before-job-run", warehouse, ("materialize", "--super-users", "User:bob"))

    every = REPLAYED + MATERIALIZED
    assert warehouse.tables(every) == undisturbed.tables(every)
    question = ("who-can", "ANY", "topic:orders", "--all", "--format", "csv")
    assert warehouse.run(*question).stdout == undisturbed.run(*question).stdout

    # Whatever runs next takes back what the killed run wrote.
    warehouse.run(*REPLAY)
    assert warehouse.tables(every) == undisturbed.tables(every)
