"""``python -m tests.tools.suite_cost [PYTEST ARGUMENTS]``: where the tests' time goes.

It runs pytest with itself as a plugin and prints, by file and by kind, wall and CPU seconds: of the
test process (setup, call, teardown), of processes that ended while a test ran, and how many were
started, of which sort. A process that outlives the test that started it (Spark's JVM, a server) is
told by the time that the test waited. With no arguments it runs what ``make test`` runs; the rows
stay in ``build/suite-cost.jsonl``, and ``--read`` prints them again.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Generator, Iterable, Sequence
from pathlib import Path
from typing import Any

import click
import pytest

ROOT = Path(__file__).parents[2]
ROWS = ROOT / "build" / "suite-cost.jsonl"
_AS_MAKE_TEST = ("-n", "2", "--dist", "loadgroup", "-m", "not slow and not object_store")
_FOLDER = "SUITE_COST_FOLDER"
_MOST_FILES = 40

_started: Counter[str] = Counter()
_told = os.environ.get(_FOLDER)
"""The folder for rows, read at once: tests clear the environment, so workers are told."""
_rows_of: list[Path] = []


def _sort_of(command: Any) -> str:
    """Return what sort of process a command is, by its words."""
    words = [command] if isinstance(command, str | bytes | os.PathLike) else command or ()
    text = " ".join(map(os.fsdecode, words))
    for sort in ("spark-submit", "java", "aclkit", "python", "bash", "git"):
        if sort in text:
            return sort
    return "other"


def _hear(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "subprocess.Popen":
        _started[_sort_of(arguments[1])] += 1


def pytest_configure(config: pytest.Config) -> None:
    """Count the processes that this one starts from now on."""
    told = getattr(config, "workerinput", {}).get(_FOLDER, _told)
    if told:
        _rows_of.append(Path(told))
        sys.addaudithook(_hear)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a worker of pytest-xdist where the rows go."""
    node.workerinput[_FOLDER] = str(_rows_of[0])


def _cpu() -> tuple[float, float]:
    own, below = (
        resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    return own.ru_utime + own.ru_stime, below.ru_utime + below.ru_stime


def _phase(item: pytest.Item, phase: str) -> Generator[None, Any, None]:
    began, (own, below), started = time.perf_counter(), _cpu(), Counter(_started)
    yield
    now_own, now_below = _cpu()
    row = {
        "file": item.nodeid.split("::")[0],
        "test": item.nodeid,
        "phase": phase,
        "wall": round(time.perf_counter() - began, 4),
        "own": round(now_own - own, 4),
        "below": round(now_below - below, 4),
        "started": dict(_started - started),
    }
    with (_rows_of[0] / f"{os.getpid()}.jsonl").open("a", encoding="utf-8") as file:
        file.write(f"{json.dumps(row)}\n")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, Any, None]:
    """Measure the fixtures of a test."""
    yield from _phase(item, "setup")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, None]:
    """Measure a test itself."""
    yield from _phase(item, "call")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, Any, None]:
    """Measure what a test leaves to be cleaned up."""
    yield from _phase(item, "teardown")


Row = dict[str, Any]


def tables(rows: Sequence[Row]) -> str:
    """Return the costs by phase, by sort of process and by file, as Markdown."""
    lines = [_head("phase")]
    lines += [_line(name, some) for name, some in _grouped(rows, "phase")]
    sorts: Counter[str] = Counter()
    for row in rows:
        sorts.update(row["started"])
    lines += ["", "| process started | times |", "|---|---|"]
    lines += [f"| {sort} | {times:,} |" for sort, times in sorts.most_common()]
    lines += ["", _head("file")]
    lines += [_line(name, some) for name, some in _grouped(rows, "file")[:_MOST_FILES]]
    return "\n".join(lines)


def _head(what: str) -> str:
    return f"| {what} | tests | wall s | CPU s | in processes | started |\n|{'---|' * 6}"


def _grouped(rows: Iterable[Row], by: str) -> list[tuple[str, list[Row]]]:
    found: defaultdict[str, list[Row]] = defaultdict(list)
    for row in rows:
        found[row[by]].append(row)
    return sorted(found.items(), key=lambda item: -sum(row["wall"] for row in item[1]))


def _line(name: str, rows: Sequence[Row]) -> str:
    wall, own, below = (sum(row[of] for row in rows) for of in ("wall", "own", "below"))
    started = sum(sum(row["started"].values()) for row in rows)
    tests = len({row["test"] for row in rows})
    return f"| {name} | {tests:,} | {wall:,.1f} | {own + below:,.1f} | {below:,.1f} | {started:,} |"


def main(arguments: Sequence[str]) -> int:
    """Run the tests and print the tables; the exit code is pytest's."""
    code = 0
    if list(arguments) != ["--read"]:
        folder = ROWS.parent / "suite-cost"
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.glob("*.jsonl"):
            old.unlink()
        command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.tools.suite_cost"]
        env = {**os.environ, _FOLDER: str(folder), "PYTHONPATH": str(ROOT)}
        code = subprocess.run(
            [*command, *(arguments or _AS_MAKE_TEST)], cwd=ROOT, env=env, check=False
        ).returncode
        with ROWS.open("w", encoding="utf-8") as file:
            file.writelines(each.read_text(encoding="utf-8") for each in folder.glob("*.jsonl"))
    rows = [json.loads(line) for line in ROWS.read_text(encoding="utf-8").splitlines()]
    click.echo(tables(rows))
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
