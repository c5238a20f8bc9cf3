"""Units done in Spark's tasks: what is shared, what comes back, what fails."""

from __future__ import annotations

import os
from contextlib import suppress

import numpy as np
import pytest

from aclkit.pipeline.explain.deciding import Unit
from aclkit.runtime import shared_work
from aclkit.runtime.shared_work import in_tasks
from aclkit.warehouse.damage import is_of_spark
from tests.pipeline.explain.units import Killed, Refused, Sums

UNITS = [
    Unit(0),
    Unit(1, np.array([5, 6])),
    Unit(2, is_first=True),
    Unit(3, np.array([], np.int64)),
]
RESULTS = [(0, 10), (1, 21), (2, 10), (3, 10)]


def do(work, unit):
    return work.do(unit)


def test_tasks_do_units_and_give_back_what_they_return_in_the_order_of_the_units(
    spark, tmp_path, monkeypatch
):
    monkeypatch.setattr(shared_work, "scratch", lambda: tmp_path)
    work = in_tasks(spark, Sums(np.arange(5)), do)
    # Executors that start later can still ask for it.
    (file,) = tmp_path.iterdir()
    done = [*work(UNITS)]
    assert [each[:2] for each in done] == RESULTS
    assert os.getpid() not in {each[2] for each in done}
    assert [*tmp_path.iterdir()] == [file]


def test_work_that_was_given_up_leaves_a_session_that_does_other_work(spark):
    with suppress(KeyboardInterrupt):
        in_tasks(spark, Sums(np.arange(5)), do)
        raise KeyboardInterrupt
    assert spark.range(3).repartition(2).count() == 3


@pytest.mark.parametrize(
    ("work", "words"),
    [(Refused(), "SurroundingsError: The disk is full at unit 0."), (Killed(), "crashed")],
    ids=["refused", "killed"],
)
def test_what_fails_in_a_task_is_an_error_of_spark_which_commands_explain(spark, work, words):
    with pytest.raises(Exception, match=words) as failed:
        [*in_tasks(spark, work, do)(UNITS[:1])]
    assert is_of_spark(failed.value)
