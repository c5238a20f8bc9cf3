"""What is told of large runs: what they hold and spill, the table, the picture."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Event
from xml.etree import ElementTree

import pytest

from tests.tools.benchmarks.cold import ROOT
from tests.tools.benchmarks.scale import SHAPES, Limits, spilled
from tests.tools.benchmarks.scale_picture import picture
from tests.tools.benchmarks.scale_table import (
    BEGIN,
    END,
    Row,
    amount,
    latest,
    many,
    replaced,
    table,
)
from tests.tools.benchmarks.watching import Peaks, held, kill_family, stored

MIB = 2**20
BEGIN_TO_HOLD = f"import os, subprocess, sys; text = b'x' * (64 * {MIB}); "
SAY_SO = "print('ready', flush=True); sys.stdin.read()"
HOLDING = BEGIN_TO_HOLD + SAY_SO
FORKED = f"{BEGIN_TO_HOLD} os.fork() or {SAY_SO.partition('; ')[0]}; sys.stdin.read()"
ABOVE = BEGIN_TO_HOLD + "subprocess.Popen(sys.argv[1:]); sys.stdin.read()"
ROW = Row(
    case="B1", day="2026-11-24", machine="2 cores, of some make", heap="4g",
    decisions=80_000_000, acls=19_600, rulings=400_000, wall=20.0, cpu=31.4, jobs=60,
    memory=3 * 2**30, jvm=2 * 2**30, driver=2**30, workers=90 * MIB,
    spilled_memory=0, spilled_disk=0, temporary=2**30, duckdb=0,
)  # fmt: skip
ROWS = [
    replace(ROW, case=name, decisions=shape.decisions, acls=shape.acls, rulings=shape.acls * 40,
            wall=shape.acls / 900)
    for name, shape in SHAPES.items()
]  # fmt: skip


@contextmanager
def holding(*below):
    """Run a program that holds 64 MiB, and perhaps another below it, and end them."""
    words = ["-c", ABOVE, *below] if below else ["-c", HOLDING]
    with subprocess.Popen(
        [sys.executable, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        try:
            assert process.stdout.readline() == b"ready\n"
            yield process
        finally:
            process.stdin.close()


@pytest.fixture
def java(tmp_path):
    """A program that is called as a JVM is."""
    path = tmp_path / "java"
    path.symlink_to(Path(sys.executable).resolve())
    return path


def test_the_most_that_was_told_is_kept():
    told, asked = [{"a": 1, "b": 7}, {"a": 5}, {"a": 3}], Event()

    def look():
        if not told:
            asked.set()
        return told.pop(0) if told else {}

    with Peaks(look, seconds=0) as peaks:
        assert asked.wait(60)
    assert (peaks.most["a"], peaks.most["b"], peaks.most["c"]) == (5, 7, 0)


def test_what_the_look_raises_is_raised():
    with pytest.raises(ZeroDivisionError), Peaks(lambda: {"a": 1 // 0}):
        pass


def test_memory_is_that_of_a_process_and_of_all_below_it():
    with holding(sys.executable, "-c", HOLDING) as process:
        found = held(process.pid)
    assert found["driver"] > 64 * MIB
    assert found["workers"] > 64 * MIB
    assert found["jvm"] == 0
    assert found["memory"] == found["driver"] + found["workers"]


def test_a_jvm_is_no_worker(java):
    with holding(java, "-c", HOLDING) as process:
        found = held(process.pid)
    assert found["jvm"] > 64 * MIB
    assert found["workers"] == 0


def test_a_jvm_that_is_about_to_start_a_program_counts_once(java):
    with holding(java, "-c", FORKED) as process:
        found = held(process.pid)
    assert 64 * MIB < found["jvm"] < 128 * MIB


def test_more_memory_than_there_may_be_ends_all_of_a_run(tmp_path):
    limits = Limits(memory=64 * MIB, seconds=600)
    with holding(sys.executable, "-c", HOLDING) as process:
        limits.look(process.pid, tmp_path)
        assert process.stdout.read() == b""  # both hold it open
    assert process.returncode < 0
    assert limits.reason.startswith("more than 0.0625 GiB of memory")


def test_a_run_that_takes_too_long_is_ended(tmp_path):
    limits = Limits(memory=2**40, seconds=0)
    with holding() as process:
        limits.look(process.pid, tmp_path)
    assert process.returncode < 0
    assert limits.reason == "more than 0 s"


def test_a_run_within_its_limits_is_left_alone(tmp_path):
    (tmp_path / "run" / "duckdb").mkdir(parents=True)
    (tmp_path / "run" / "duckdb" / "block").write_bytes(bytes(100))
    (tmp_path / "run" / "shuffled").write_bytes(bytes(11))
    limits = Limits(memory=2**40, seconds=600)
    with holding() as process:
        found = limits.look(process.pid, tmp_path)
        assert process.poll() is None
    assert (found["temporary"], found["duckdb"], limits.reason) == (111, 100, None)


def test_who_has_ended_is_not_killed_and_holds_nothing(tmp_path):
    process = subprocess.Popen([sys.executable, "-c", ""])
    # Its id stays its own until it is waited for.
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    kill_family(process.pid)
    assert held(process.pid)["memory"] == 0
    assert process.wait() == 0
    assert stored(tmp_path / "gone") == 0


def test_what_failed_has_a_cost_too(tmp_path):
    # In a process of its own: whoever measures waits for all of its children.
    program = f"""if True:
        import os, sys
        from pathlib import Path
        from tests.tools.benchmarks.cold_process import run
        folder = Path({str(tmp_path)!r})
        command = [sys.executable, "-c", "import sys; sys.exit('so it ends')"]
        ended = run(command, os.environ, folder, folder)
        print(ended.code, ended.said.strip(), ended.cost.wall > 0, ended.cost.jobs)
    """
    told = subprocess.check_output([sys.executable, "-c", program], cwd=ROOT, encoding="utf-8")
    assert told == "1 so it ends True 0\n"


def test_what_tasks_spilled_is_added_up_as_far_as_the_log_goes():
    task = {
        "Event": "SparkListenerTaskEnd",
        "Task Metrics": {"Memory Bytes Spilled": 100, "Disk Bytes Spilled": 7},
    }
    line = json.dumps(task, separators=(",", ":")) + "\n"
    failed = '{"Event":"SparkListenerTaskEnd"}\n'
    other = line.replace("TaskEnd", "StageCompleted")
    assert spilled([line, other, failed, line, line[:60]]) == (200, 14)


def test_shapes_grow_to_a_hundred_billion_decisions():
    decisions = {name: shape.decisions for name, shape in SHAPES.items()}
    assert list(decisions) == ["B1", "B2", "S10", "S30", "S100"]
    assert [decisions[name] for name in ("S10", "S30", "S100")] == [10**10, 3 * 10**10, 10**11]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (3.25e-7, "325 ns"), (5.6e-8, "56.0 ns"), (9.994e-9, "9.99 ns"), (9.996e-9, "10.0 ns"),
        (9.996e-7, "1.00 µs"), (1.276e-3, "1.28 ms"), (2, "2.00 s"),
    ],
)  # fmt: skip
def test_seconds_have_three_figures_and_the_unit_that_fits(seconds, text):
    assert amount(seconds) == text


@pytest.mark.parametrize(
    ("count", "text"),
    [(80_000_000, "80 million"), (10**9, "1 billion"), (10**11, "100 billion"), (999, "999"),
     (1_500_000_000, "1.50 billion")],
)  # fmt: skip
def test_numbers_are_written_as_they_are_said(count, text):
    assert many(count) == text


def test_the_last_row_of_a_case_counts_and_the_smallest_case_is_first():
    large, again = replace(ROW, case="B2", decisions=10**9), replace(ROW, wall=19.0)
    assert latest([large, ROW, again]) == [again, large]


def test_the_table_says_what_each_thing_cost():
    text = table([ROW])
    assert "| wall for each decision | 250 ns |" in text
    assert "| wall for each ruling | 50.0 µs |" in text
    assert "| wall for each ACL | 1.02 ms |" in text
    assert "| memory at most, GiB | 3.00 |" in text


def test_a_run_that_was_stopped_says_why_and_costs_nothing():
    text = table([ROW, replace(ROW, case="S100", rulings=None, stopped="more than 16 GiB")])
    assert "| wall for each ruling | 50.0 µs | – |" in text
    assert "| result | published | stopped |" in text
    assert text.endswith("\n\nS100 was stopped: more than 16 GiB.")


def test_the_table_of_all_cases_is_at_most_100_columns_wide():
    assert max(map(len, table(ROWS).splitlines())) <= 100


def test_the_table_takes_the_place_of_the_one_before():
    page = f"before\n\n{BEGIN}\nold\n{END}\nafter\n"
    assert replaced(page, "new") == f"before\n\n{BEGIN}\n\nnew\n\n{END}\nafter\n"
    assert replaced(replaced(page, "old"), "new") == replaced(page, "new")


def test_a_page_without_marks_is_refused():
    with pytest.raises(ValueError, match="expected"):
        replaced("before", "new")


SVG = "{http://www.w3.org/2000/svg}"


def test_the_picture_has_all_costs_within_its_frame():
    root = ElementTree.fromstring(picture(ROWS))
    _, _, width, height = map(float, root.get("viewBox").split())
    assert [len(root.findall(f".//{SVG}circle[@class='dot {tone}']")) for tone in "abc"] == [5] * 3
    for dot in root.iter(f"{SVG}circle"):
        assert 0 < float(dot.get("cx")) < width
        assert 0 < float(dot.get("cy")) < height
    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert {"for each decision", "for each ruling", "for each ACL", *SHAPES} <= set(texts)


def test_ten_times_as_many_are_as_far_apart_everywhere():
    costs = [replace(ROW, case=f"{n}", decisions=10**n, wall=10.0 ** (n - 8)) for n in (8, 9, 10)]
    root = ElementTree.fromstring(picture(costs))
    dots = root.findall(f".//{SVG}circle[@class='dot b']")
    for axis in ("cx", "cy"):
        first, second, third = (float(dot.get(axis)) for dot in dots)
        assert third - second == pytest.approx(second - first, abs=0.2)
        assert first != second


def test_the_picture_has_colours_for_both_themes_and_leaves_out_what_was_stopped():
    text = picture([ROW, replace(ROWS[1], stopped="more than 16 GiB"), ROWS[2]])
    assert "prefers-color-scheme:dark" in text
    assert ">B1<" in text
    assert ">B2<" not in text


def test_there_is_no_picture_of_nothing():
    with pytest.raises(ValueError, match="expected"):
        picture([replace(ROW, stopped="more than 16 GiB")])
