"""Units done in Spark's tasks: what is shared, what comes back, what fails."""

from __future__ import annotations

import mmap
import os
import pickle
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pytest

from aclkit.pipeline.explain.deciding import Unit
from aclkit.runtime import shared_work
from aclkit.runtime.shared_work import in_tasks, load_mapped, save_mapped
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


@dataclass(frozen=True)
class Value:
    """Arrays of several kinds, and what is none."""

    numbers: object
    flags: object
    texts: object
    words: tuple


VALUE = Value(
    np.arange(1_000), np.array([True, False]), pa.array(["a", None, "é"]), ("x", {"y": 1})
)


def loaded(path, value):
    save_mapped(value, path)
    return load_mapped(path)


def test_a_value_is_loaded_as_it_was_saved(tmp_path):
    found = loaded(tmp_path / "v", VALUE)
    assert found.numbers.tolist() == VALUE.numbers.tolist()
    assert found.flags.tolist() == [True, False]
    assert (found.texts, found.words) == (VALUE.texts, VALUE.words)


@pytest.mark.parametrize(
    "array",
    [
        np.zeros(0, np.int64),
        np.arange(6).reshape(2, 3),
        np.asfortranarray(np.arange(6).reshape(2, 3)),
        np.arange(10)[::3],
    ],
    ids=["empty", "rows", "columns", "with-gaps"],
)
def test_arrays_of_any_form_are_equal(tmp_path, array):
    found, again = loaded(tmp_path / "v", [array, array + 1])
    assert (found.shape, found.tolist()) == (array.shape, array.tolist())
    assert again.tolist() == (array + 1).tolist()


def test_a_value_without_arrays_is_saved_too(tmp_path):
    assert loaded(tmp_path / "v", {"a": [1, 2]}) == {"a": [1, 2]}


def test_arrays_are_mapped_and_not_read(tmp_path):
    found = loaded(tmp_path / "v", VALUE).numbers
    base = found
    while not isinstance(base, memoryview):
        base = base.base
    assert isinstance(base.obj, mmap.mmap)


def test_each_array_begins_at_a_line_of_the_cache(tmp_path):
    found = loaded(tmp_path / "v", [np.ones(1, np.int8), np.ones(3), np.ones(5)])
    assert [array.__array_interface__["data"][0] % 64 for array in found] == [0, 0, 0]


def test_a_loaded_array_cannot_be_written_to(tmp_path):
    found = loaded(tmp_path / "v", VALUE).numbers
    with pytest.raises(ValueError, match="read-only"):
        found[0] = 1


def test_a_file_that_exists_is_not_written_over(tmp_path):
    (tmp_path / "v").write_text("of another", encoding="utf-8")
    with pytest.raises(FileExistsError):
        save_mapped(VALUE, tmp_path / "v")
    assert (tmp_path / "v").read_text(encoding="utf-8") == "of another"


def test_a_value_stays_readable_after_its_file_was_removed(tmp_path):
    found = loaded(tmp_path / "v", VALUE)
    (tmp_path / "v").unlink()
    assert int(found.numbers.sum()) == 499_500


def test_another_process_loads_the_same(tmp_path):
    save_mapped([np.arange(5), pa.array(["a", "b"])], tmp_path / "v")
    program = (
        "import sys, pathlib; from aclkit.runtime.shared_work import load_mapped; "
        "numbers, texts = load_mapped(pathlib.Path(sys.argv[1])); "
        "print(numbers.sum(), texts.to_pylist())"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "v")],
        capture_output=True, encoding="utf-8", check=True,
    )  # fmt: skip
    assert ran.stdout == "10 ['a', 'b']\n"


def test_the_file_holds_each_array_once(tmp_path):
    array = np.arange(10_000)
    save_mapped([array, array], tmp_path / "v")
    assert (tmp_path / "v").stat().st_size < array.nbytes + len(pickle.dumps([])) + 1_000
