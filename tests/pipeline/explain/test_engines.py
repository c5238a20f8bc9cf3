"""Engines: units done in this process or in processes, both with one result."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from aclkit.errors import SurroundingsError
from aclkit.model.semantics import KAFKA, KIP_1042
from aclkit.pipeline.explain.deciding import (
    InProcesses,
    InThisProcess,
    Unit,
    decide,
    engine_of,
)
from aclkit.pipeline.explain.prepared import Resources, prepare
from aclkit.pipeline.plan import Plan
from aclkit.runtime import shared_work
from aclkit.warehouse.duck_beside import ask_files
from aclkit.warehouse.store import Store
from aclkit.warehouse.table_files import read_files
from tests.pipeline.explain.decided import DECIDED, acl_table
from tests.pipeline.explain.frames import scope_of
from tests.pipeline.explain.test_against_rules import random_acls
from tests.pipeline.explain.units import Killed, Refused, Slow, Sums

SEVERAL = Plan("processes", 2, 40)
UNITS = [
    Unit(0),
    Unit(1, np.array([5, 6])),
    Unit(2, is_first=True),
    Unit(3, np.array([], np.int64)),
]
RESULTS = [(0, 10), (1, 21), (2, 10), (3, 10)]
SUMS = Sums(np.arange(5))


@pytest.fixture(autouse=True)
def temporary(tmp_path, monkeypatch, request):
    """The folder of what units share; each test must leave it empty, and no process.

    Spark's files stay there: it gives them to executors that start later, too.
    """
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(shared_work, "scratch", lambda: folder)
    yield folder
    assert "spark" in request.fixturenames or [*folder.iterdir()] == []
    assert multiprocessing.active_children() == []


def scope_and_acls(seed=1, semantics=KIP_1042, more=()):
    acls = [
        replace(one, acl_id=f"{part} {one.acl_id}")
        for part in range(6)
        for one in random_acls(f"engines {seed} {part}")
    ] + [*more]
    resources = [
        (kind, name) for kind in ("GROUP", "TOPIC") for name in ("a", "ab", "b", "!", "zz")
    ]
    return scope_of(
        acls,
        principals=("User:a", "User:ab", "User:c", "User:root"),
        hosts=("10.0.0.1", "10.0.0.2"),
        resources=resources,
        super_users=frozenset({"User:root"}),
        semantics=semantics,
    ), acls


def tables_by(engine, folder, seed=1, semantics=KIP_1042, store=None, more=()):
    """Every table that an engine writes: its rows, sorted."""
    scope, acls = scope_and_acls(seed, semantics, more)
    store = store or Store(None, str(folder))
    decide(scope, acl_table(acls), store, engine, allow_everyone=True)
    return {
        table: sorted(
            map(repr, ask_files("t", read_files(store.place, table, None), "SELECT * FROM t"))
        )
        for table in DECIDED
    }


# -- in this process ------------------------------------------------------------------------------


def test_this_process_does_units_in_their_order():
    with InThisProcess(Plan()).start(SUMS) as do:
        done = [*do(UNITS)]
    assert [each[:2] for each in done] == RESULTS
    assert {each[2] for each in done} == {os.getpid()}


@pytest.mark.parametrize("engine", [InThisProcess(Plan()), InProcesses(SEVERAL)])
def test_the_driver_finds_the_patterns_of_each_name(engine):
    scope, acls = scope_and_acls()
    keys, index = Resources.of(scope).keys, prepare(scope, acl_table(acls)).index
    assert [*engine.match(index, keys)] == [index.matches(*key) for key in keys]
    assert [*engine.match(index, [])] == []


@pytest.mark.parametrize("kind", [InThisProcess, InProcesses])
def test_a_plan_names_its_engine(kind):
    plan = Plan({InThisProcess: "here", InProcesses: "processes"}[kind])
    assert engine_of(plan) == kind(plan)


# -- in processes ---------------------------------------------------------------------------------


def test_processes_do_units_and_give_back_what_they_return_in_the_order_of_the_units():
    with InProcesses(SEVERAL).start(SUMS) as do:
        done = [*do(UNITS)]
        assert [*do([])] == []
    assert [each[:2] for each in done] == RESULTS
    assert os.getpid() not in {each[2] for each in done}


@pytest.mark.parametrize("semantics", [KIP_1042, KAFKA], ids=["kip-1042", "kafka"])
def test_processes_write_the_same_tables_as_this_process(tmp_path, semantics):
    here = tables_by(InThisProcess(Plan()), tmp_path / "here", semantics=semantics)
    several = tables_by(InProcesses(SEVERAL), tmp_path / "several", semantics=semantics)
    assert {table: len(rows) for table, rows in here.items() if not rows} == {}
    assert several == here


def test_what_units_share_is_one_file_while_they_are_done(temporary):
    with InProcesses(SEVERAL).start(SUMS) as do:
        (file,) = temporary.iterdir()
        [*do(UNITS)]
        assert [*temporary.iterdir()] == [file]


def test_a_killed_process_is_an_environment_error():
    with (
        pytest.raises(SurroundingsError, match=r"was killed, perhaps because.* out of memory"),
        InProcesses(SEVERAL).start(Killed()) as do,
    ):
        [*do(UNITS)]


def test_an_error_in_a_process_is_raised_as_it_is():
    with (
        pytest.raises(SurroundingsError, match=r"^The disk is full at unit 0\.$"),
        InProcesses(SEVERAL).start(Refused()) as do,
    ):
        [*do(UNITS)]


def test_processes_end_at_once_where_the_work_is_given_up(tmp_path):
    start = time.monotonic()
    with suppress(KeyboardInterrupt), InProcesses(SEVERAL).start(Slow(tmp_path)) as do:
        do(UNITS[:2])
        wait_until(lambda: len([*tmp_path.glob("?.*")]) == 2)
        raise KeyboardInterrupt
    assert time.monotonic() - start < 50


RUN = """
import sys
from pathlib import Path
from aclkit.pipeline.explain.deciding import InProcesses, Unit
from aclkit.pipeline.plan import Plan
from tests.pipeline.explain.units import Slow

if __name__ == "__main__":
    with InProcesses(Plan("processes", 2)).start(Slow(Path(sys.argv[1]))) as do:
        [*do([Unit(0), Unit(1)])]
"""


def test_processes_end_with_the_process_that_started_them(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(RUN, encoding="utf-8")
    folder = tmp_path / "running"
    folder.mkdir()
    root = str(Path(__file__).parents[3])
    run = subprocess.Popen(
        [sys.executable, str(program), str(folder)],
        env={**os.environ, "PYTHONPATH": root, "TMPDIR": str(tmp_path)},
        stderr=subprocess.DEVNULL,  # what the tracker of multiprocessing cleans up
    )
    try:
        wait_until(lambda: len([*folder.iterdir()]) == 2 or run.poll() is not None)
        children = [int(path.suffix[1:]) for path in folder.iterdir()]
        assert (len(children), run.poll()) == (2, None)
    finally:
        run.kill()
        run.wait()
    wait_until(lambda: not any(is_running(child) for child in children))


def is_running(number):
    with suppress(FileNotFoundError, ProcessLookupError):
        return (
            Path(f"/proc/{number}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
            != "Z"
        )
    return False


def wait_until(is_so):
    end = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.01)
