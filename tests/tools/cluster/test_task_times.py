"""Event logs written by hand, as Spark writes them."""

from __future__ import annotations

import json

import pytest

from tests.tools.cluster.task_times import TaskTimes, read_times, spread


def added(executor):
    return {"Event": "SparkListenerExecutorAdded", "Timestamp": 1, "Executor ID": executor}


def removed(executor):
    return {"Event": "SparkListenerExecutorRemoved", "Timestamp": 9, "Executor ID": executor}


def ended(executor, milliseconds):
    """The end of a task; None for one that was lost with its executor."""
    event = {"Event": "SparkListenerTaskEnd", "Task Info": {"Executor ID": executor}}
    if milliseconds is not None:
        event["Task Metrics"] = {"Executor Run Time": milliseconds, "Executor CPU Time": 5}
    return event


def log(tmp_path, *events, rest=""):
    path = tmp_path / "app-1"
    path.write_text("".join(json.dumps(event) + "\n" for event in events) + rest, encoding="utf-8")
    return path


def test_run_times_are_summed_by_executor(tmp_path):
    found = read_times(
        log(tmp_path, added("0"), added("1"), ended("0", 1500), ended("1", 250), ended("0", 500))
    )
    assert {name: times.seconds for name, times in found.items()} == {"0": [1.5, 0.5], "1": [0.25]}
    assert found["0"].total == 2.0


def test_an_executor_without_tasks_is_told_too(tmp_path):
    assert str(read_times(log(tmp_path, added("0")))["0"]) == "no task"


def test_a_removed_executor_is_lost_and_its_lost_tasks_do_not_count(tmp_path):
    events = (added("0"), ended("0", 100), removed("0"), ended("0", None))
    assert read_times(log(tmp_path, *events)) == {"0": TaskTimes([0.1], is_lost=True)}


def test_other_events_are_passed_over(tmp_path):
    other = {"Event": "SparkListenerStageCompleted", "Stage Info": {"Stage ID": 0}}
    assert read_times(log(tmp_path, other)) == {}


def test_the_last_line_may_be_half_of_one(tmp_path):
    path = log(tmp_path, added("0"), ended("0", 100), rest='{"Event":"SparkListenerTas')
    assert read_times(path)["0"].seconds == [0.1]


def test_a_broken_line_before_the_last_is_an_error(tmp_path):
    path = log(tmp_path, added("0"), rest='{"Event"\n' + json.dumps(ended("0", 100)) + "\n")
    with pytest.raises(ValueError, match="Expecting"):
        read_times(path)


def test_the_spread_is_the_busiest_against_the_least_busy():
    assert spread([TaskTimes([3.0]), TaskTimes([1.0, 1.0])]) == 1.5


def test_the_spread_against_one_that_did_nothing_has_no_bound():
    assert spread([TaskTimes([3.0]), TaskTimes()]) == float("inf")
