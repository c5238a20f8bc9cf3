"""``make soak``: the nightly run, killed at random moments and started again.

One night is done once, undisturbed. Then, round by round, the same night begins on a copy of the
warehouse, is killed with its JVM at a random moment, and is started again; in one round of four
the new start is killed too. After each kill readers must see what they saw before, or the whole
night; after the last start every table must be that of the undisturbed night.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from aclkit.warehouse.schemas import TABLES
from tests.cli.running import KRAFT, SEGMENT, Warehouse, split_batches, write_segment

Tables = dict[str, list[tuple[Any, ...]]]
COMPARED = tuple(name for name in TABLES if name != "job_run")
ANOTHER_KILL = 0.25
LEAST_SECONDS = 600
NIGHT = (
    "run", "--super-users", "User:ANONYMOUS;User:admin", "--dense", "always",
    "--fail-on", "never",
)  # fmt: skip


class Difference(Exception):
    """What was seen is not what an undisturbed run gives."""


@dataclass(frozen=True, slots=True)
class Undisturbed:
    """The warehouse before the night, and what it is after it.

    Attributes:
        started: it, one night old.
        before: its tables.
        after: its tables when the night has passed.
        seconds: how long the night took.
    """

    started: Warehouse
    before: Tables
    after: Tables
    seconds: float


@click.command()
@click.option("--rounds", type=click.IntRange(1), default=20, show_default=True)
@click.option("--seed", type=int, help="Choose the same moments again.  [default: a new one]")
@click.option("--minutes", type=float, default=120, show_default=True, help="Give up after these.")
def main(rounds: int, seed: int | None, minutes: float) -> None:
    """Kill the nightly run at random moments; exit 1 where it does not recover."""
    # So that a run that was started is killed also where this is told to end.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    seed = random.SystemRandom().randrange(1_000_000) if seed is None else seed
    _say(f"{rounds} rounds; the same moments again: python -m tests.tools.soak --seed {seed}")
    end = time.monotonic() + minutes * 60
    with _scratch() as folder:
        try:
            night = _undisturbed(folder)
            for number in range(1, rounds + 1):
                if time.monotonic() > end:
                    raise Difference(f"{minutes:g} minutes are over after {number - 1} rounds")
                # A round's moments do not hang on how the rounds before it went.
                moments = random.Random(f"{seed} {number}")
                _round(night, folder / f"round-{number}", moments, f"{number}/{rounds}")
        except (Difference, subprocess.TimeoutExpired) as error:
            _say(f"FAILED (seed {seed}): {error}")
            sys.exit(1)
    _say(f"all {rounds} rounds ended in the tables of the undisturbed run")


def _undisturbed(folder: Path) -> Undisturbed:
    """Do the first night, with half of the log, and the second one on a copy."""
    started = Warehouse(folder / "started")
    batches = list(split_batches((KRAFT / SEGMENT).read_bytes()))
    _finish(started, write_segment(folder / "half", batches[: len(batches) // 2]), LEAST_SECONDS)
    done = started.copy(folder / "done")
    began = time.monotonic()
    _finish(done, KRAFT, LEAST_SECONDS)
    seconds = time.monotonic() - began
    before, after = started.tables(COMPARED), done.tables(COMPARED)
    changed = [name for name in COMPARED if before[name] != after[name]]
    _say(f"an undisturbed night takes {seconds:.0f} s and changes {', '.join(changed)}")
    return Undisturbed(started, before, after, seconds)


def _round(night: Undisturbed, path: Path, moments: random.Random, number: str) -> None:
    """Kill at least one run, let another end by itself, compare, and tidy up."""
    warehouse = night.started.copy(path)
    while not _kill(night, warehouse, moments.uniform(0, night.seconds), number):
        shutil.rmtree(path)
        warehouse = night.started.copy(path)
    while moments.random() < ANOTHER_KILL:
        _kill(night, warehouse, moments.uniform(0, night.seconds), number)
    _finish(warehouse, KRAFT, max(LEAST_SECONDS, 10 * night.seconds))
    _require_same(warehouse.tables(COMPARED), night.after, f"round {number}, started again")
    nights = [(run.job, run.status, run.head_offset) for run in warehouse.published().runs]
    # What was killed between its row and its end is followed by a run with nothing new.
    if len(set(nights[1:])) != 1:
        raise Difference(f"round {number}: job_run says {nights}")
    _say(f"round {number}: started again, same tables")
    shutil.rmtree(path)


def _kill(night: Undisturbed, warehouse: Warehouse, seconds: float, number: str) -> bool:
    """Start the night, kill it after some seconds, and look at what readers see.

    Returns:
        False where it ended by itself before that: the machine was busier when it was timed.
    """
    files = _files(warehouse)
    with _night(warehouse, KRAFT) as (process, log):
        try:
            code = process.wait(seconds)
        except subprocess.TimeoutExpired:
            code = None
    if code not in (None, 0):
        raise Difference(f"round {number}: exit {code}\n{log.read_text(encoding='utf-8')[-4000:]}")
    steps = [line for line in log.read_text(encoding="utf-8").splitlines() if line.endswith("…")]
    where = steps[-1] if steps else "before its first word"
    is_published = len(warehouse.published().runs) > 1
    told = "it had ended before that" if code == 0 else f"killed at: {where}"
    left = len(_files(warehouse) - files)
    _say(f"round {number}: after {seconds:.1f} s {told}; {left} new files, published: "
         f"{'the night' if is_published else 'nothing'}")  # fmt: skip
    seen = warehouse.tables(COMPARED)
    _require_same(seen, night.after if is_published else night.before, f"round {number}, killed")
    return code is None


def _files(warehouse: Warehouse) -> set[Path]:
    return set(warehouse.path.rglob("*.parquet"))


def _finish(warehouse: Warehouse, log: Path, seconds: float) -> None:
    """Do a night that nobody disturbs."""
    with _night(warehouse, log) as (process, said):
        code = process.wait(seconds)
    if code:
        told = said.read_text(encoding="utf-8")[-4000:]
        raise Difference(f"exit {code} from a run that nobody disturbed\n{told}")


@contextmanager
def _night(warehouse: Warehouse, log: Path) -> Iterator[tuple[subprocess.Popen[bytes], Path]]:
    """Start a nightly run in a process group of its own; whatever of it is left is killed."""
    said = warehouse.path.with_suffix(".stderr")
    with said.open("wb") as stderr:
        process = subprocess.Popen(
            [
                *(sys.executable, "-c", "from aclkit.cli import cli; cli()"),
                *("--warehouse", str(warehouse.path), "--cluster", "soak"),
                *(*NIGHT, "--source", f"metadata-log:{log}"),
            ],
            env={**os.environ, "TMPDIR": str(warehouse.path.parent)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=stderr,
            start_new_session=True,
        )
        try:
            yield process, said
        finally:
            _kill_group(process)


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    """Send SIGKILL to the run, its JVM and all else of its group.

    A run that has been waited for has ended, and its JVM with it; its number may be another's.
    """
    if process.returncode is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _require_same(seen: Tables, expected: Tables, when: str) -> None:
    for name in COMPARED:
        if seen[name] != expected[name]:
            lost = [row for row in expected[name] if row not in seen[name]]
            more = [row for row in seen[name] if row not in expected[name]]
            raise Difference(
                f"{when}: {name} has {len(seen[name])} rows, expected {len(expected[name])}; "
                f"{len(lost)} are missing, as {lost[:1]}, {len(more)} too many, as {more[:1]}"
            )


@contextmanager
def _scratch() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="aclkit-soak-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def _say(text: str) -> None:
    click.echo(f"{time.strftime('%H:%M:%S')} {text}")


if __name__ == "__main__":
    main()
