"""What stops at a moment: a wait, a thread of Python, the main thread."""

from __future__ import annotations

import threading
import time

import pytest

from aclkit.runtime.deadline import Deadline, TimeUpError, alarm, interrupt, start, within


def test_a_deadline_counts_down_to_nothing():
    deadline = Deadline(60)
    assert 50 < deadline.left <= 60
    assert not deadline.is_over
    assert Deadline(0).is_over
    assert Deadline(-1).left == 0.0


def test_the_clock_of_a_deadline_can_stop():
    deadline = Deadline(60)
    with deadline.paused():
        time.sleep(0.2)
    assert deadline.left > 59.9


def test_work_in_time_is_returned_and_its_error_raised():
    def fail():
        raise LookupError("x")

    assert within(60, lambda: 7) == 7
    with pytest.raises(LookupError, match="x"):
        within(60, fail)


def test_work_that_does_not_end_is_abandoned():
    over = threading.Event()
    with pytest.raises(TimeoutError):
        within(0.05, over.wait)
    over.set()


def test_a_thread_of_python_is_interrupted():
    began = threading.Event()

    def spin():
        try:
            began.set()
            while True:
                time.sleep(0.001)
        except TimeUpError:
            return "stopped"

    result = start(spin, "spinning")
    assert began.wait(60)
    (thread,) = (one for one in threading.enumerate() if one.name == "spinning")
    interrupt(thread)
    assert result.result(60) == "stopped"


def test_the_main_thread_is_woken_whatever_it_waits_for():
    with pytest.raises(TimeUpError), alarm(0.05):
        threading.Event().wait(60)


def test_no_alarm_rings_after_its_time():
    with alarm(0.05):
        pass
    time.sleep(0.1)
