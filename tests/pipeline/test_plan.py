"""Where a cluster is decided, by what the run has before it."""

from __future__ import annotations

import os

import pytest

from aclkit.pipeline import plan
from aclkit.pipeline.plan import DECIDE_WITH, Plan, plan_deciding

FEW, MANY = 40_000_000, 40_000_001
"""Pairs that one process decides, and one more."""
LARGE = 64 << 30


@pytest.fixture(autouse=True)
def ours(monkeypatch):
    """The memory of the driver is ours to plan, as it is where no job was submitted."""
    monkeypatch.setattr(plan.memory, "IS_OURS", True)


def planned(asked="auto", *, acls=0, pairs=FEW, available=LARGE, processors=4):
    return plan_deciding(asked, acls=acls, pairs=pairs, available=available, processors=processors)


@pytest.mark.parametrize("asked", ["auto", "local"])
@pytest.mark.parametrize(
    ("pairs", "processors", "engine", "workers"),
    [
        (FEW, 4, "here", 1),
        (MANY, 4, "processes", 4),
        (MANY, 1, "here", 1),
        (0, 4, "here", 1),
    ],
)
def test_many_pairs_are_decided_in_processes_where_there_are_several_processors(
    asked, pairs, processors, engine, workers
):
    found = planned(asked, pairs=pairs, processors=processors)
    assert (found.engine, found.workers) == (engine, workers)


@pytest.mark.parametrize("pairs", [FEW, MANY])
def test_spark_decides_where_it_is_asked_for(pairs):
    assert planned("spark", pairs=pairs) == Plan("spark")


@pytest.mark.parametrize(
    ("asked", "engine"), [("auto", "spark"), ("spark", "spark"), ("local", "here")]
)
def test_a_submitted_job_is_decided_in_its_tasks_unless_asked_otherwise(monkeypatch, asked, engine):
    monkeypatch.setattr(plan.memory, "IS_OURS", False)
    assert planned(asked).engine == engine


@pytest.mark.parametrize(
    ("acls", "pairs", "available", "entries"),
    [
        (0, FEW, LARGE, 8_000_000),
        (0, FEW, 1 << 30, (1 << 29) // 200),
        (0, MANY, 1 << 30, (1 << 29) // 800),
        (100_000, FEW, 1 << 30, ((1 << 29) - 100_000_000) // 200),
        (0, FEW, 1 << 20, 100_000),
        (10_000_000, FEW, 1 << 30, 100_000),
    ],
    ids=["most", "half-of-memory", "shared-by-workers", "without-acls", "least", "too-many-acls"],
)
def test_slices_are_as_large_as_half_of_the_memory_holds_within_bounds(
    acls, pairs, available, entries
):
    assert planned(acls=acls, pairs=pairs, available=available).entries == entries


def test_memory_and_processors_are_those_of_this_machine_unless_given(monkeypatch):
    monkeypatch.setattr(plan.memory, "memory_limit", lambda: 1 << 30)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2})
    assert plan_deciding("auto", acls=0, pairs=MANY) == Plan("processes", 3, (1 << 29) // 600, 12)


def test_a_machine_of_unknown_memory_is_taken_for_a_small_one(monkeypatch):
    monkeypatch.setattr(plan.memory, "memory_limit", lambda: None)
    found = plan_deciding("local", acls=0, pairs=MANY, processors=2)
    assert found == Plan("processes", 2, (2 << 30) // 400, 8)


def test_a_plan_without_more_is_one_process_and_the_largest_slices():
    assert Plan() == planned("local")
    assert DECIDE_WITH == ("auto", "local", "spark")
