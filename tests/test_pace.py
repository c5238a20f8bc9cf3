"""Time limits follow the machine: tried with a clock and a loop that are told what to say."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from tests import pace


@pytest.fixture
def machine(monkeypatch):
    """A machine: ``now`` is the time, ``loop`` the seconds of a plain loop."""
    machine = SimpleNamespace(now=0.0, loop=0.02)
    monkeypatch.setattr(pace, "loop_seconds", lambda _clock: machine.loop)
    monkeypatch.setattr(pace, "time", SimpleNamespace(monotonic=lambda: machine.now))
    return machine


def ends_after(machine, seconds):
    """Return after how many seconds a limit is over, looked at every second."""
    limit = pace.Limit(seconds)
    while not limit.is_over():
        machine.now += 1
    return machine.now


@pytest.mark.parametrize(("loop", "slowness"), [(0.02, 1), (0.06, 3), (0.01, 1)])
def test_slowness_is_a_ratio_of_loops_and_at_least_one(machine, loop, slowness):
    machine.loop = loop
    assert pace.slowness() == pytest.approx(slowness)


def test_a_limit_is_over_after_its_seconds_where_the_machine_is_idle(machine):
    assert 60 < ends_after(machine, 60) <= 75


def test_a_limit_lasts_twice_as_long_where_a_loop_does(machine):
    machine.loop = 0.04
    assert 120 < ends_after(machine, 60) <= 150


def test_a_short_limit_is_looked_at_more_often(machine):
    assert 4 < ends_after(machine, 4) <= 5
