"""A trial of the tests: mistakes drawn by a seed, and which of them no test sees.

``python -m tests.tools.mutation --seed 1 --count 50`` draws lines of the rules, of explain and of
replay, makes one mistake in each, and runs the tests of its folder on a copy of the project that is
thrown away. ``--path`` keeps to some modules, ``--without-spark`` to tests without it. A survivor
is either the same program in other words or a test that is missing.

mutmut and cosmic-ray draw no sample, work within the tree, and do not look into SQL.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import click

from tests.tools.mutation.mutants import Mutant, draw, mutants_of

ROOT = Path(__file__).parents[3]
TESTS_OF = {
    "aclkit/rules/patterns": ("aclkit/rules/patterns", "tests/rules"),
    "aclkit/rules/names": ("aclkit/rules/names", "tests/rules/names"),
    "aclkit/rules/decide": ("aclkit/rules/decide", "tests/rules/decide", "tests/kafka/kips"),
    "aclkit/pipeline/explain": (
        "aclkit/pipeline/explain",
        "tests/pipeline/explain",
        # Whole runs: what they alone would see, no test of a step sees.
        "--ignore=tests/pipeline/explain/test_against_rules.py",
        "--ignore=tests/pipeline/explain/test_incremental.py",
    ),
    "aclkit/pipeline/replay": ("aclkit/pipeline/replay", "tests/pipeline/replay"),
}
"""Each folder whose lines are drawn → the tests that have to see a mistake there, for pytest."""
COPIED = ("aclkit", "jobs", "tests", "pyproject.toml")

KILLED, SURVIVED, TOO_LONG = "killed", "SURVIVED", "too long"


def main(words: Sequence[str]) -> int:
    """Draw mutants, try each of them, and tell what became of it."""
    options = _options(words)
    paths = [path for room in TESTS_OF for path in sorted((ROOT / room).rglob("*.py"))]
    mutants = [
        mutant
        for name, path in ((str(path.relative_to(ROOT)), path) for path in paths)
        if any(part in name for part in options.path)
        for mutant in mutants_of(name, path.read_text(encoding="utf-8"))
    ]
    drawn = draw(mutants, options.seed, options.count)
    click.echo(f"{len(mutants):,} mutants; seed {options.seed} draws {len(drawn)}")
    if options.list:
        click.echo("\n".join(f"{m.path}:{m.line} {m.mistake}\n{m.difference()}" for m in drawn))
        return 0
    with tempfile.TemporaryDirectory(prefix="mutation-") as folder:
        copy = Path(folder)
        _copy_to(copy)
        for room in sorted({room_of(mutant) for mutant in drawn}):
            fate, seconds, said = _try(copy, room, options)
            click.echo(f"{room} without a mistake: {seconds:.0f} s")
            if fate != SURVIVED:
                click.echo(f"the tests fail as it is:\n{said}", err=True)
                return 1
        fates = Counter(_tell(copy, mutant, options) for mutant in drawn)
    click.echo(", ".join(f"{fate} {fates[fate]}" for fate in (KILLED, TOO_LONG, SURVIVED)))
    return 0


def room_of(mutant: Mutant) -> str:
    """Return the folder of a mutant's module."""
    return next(room for room in TESTS_OF if mutant.path.startswith(room + "/"))


def _tell(copy: Path, mutant: Mutant, options: argparse.Namespace) -> str:
    """Try one mutant, and print what became of it."""
    module = copy / mutant.path
    module.write_text(mutant.after, encoding="utf-8")
    fate, seconds, said = _try(copy, room_of(mutant), options)
    module.write_text(mutant.before, encoding="utf-8")
    click.echo(f"{fate} {seconds:5.1f} s  {mutant.path}:{mutant.line} {mutant.mistake}")
    if fate == SURVIVED:
        click.echo(mutant.difference())
    elif seen := [line for line in said.splitlines() if line.startswith(("FAILED", "ERROR"))]:
        click.echo(f"    {seen[0][:140]}")
    return fate


def _try(copy: Path, room: str, options: argparse.Namespace) -> tuple[str, float, str]:
    """Run the tests of a folder: what became of the mutant, after how long, and what they said."""
    marks = "not slow and not kafka" + (" and not spark" if options.without_spark else "")
    command = [sys.executable, "-m", "pytest", "-x", "-q", "--no-header", "-p", "no:cacheprovider"]
    # No bytecode: two mutants of one second and one length would be the same file to Python.
    surroundings = {**os.environ, "PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
    started = time.monotonic()
    with subprocess.Popen(
        [*command, "-m", marks, *TESTS_OF[room]],
        cwd=copy,
        env=surroundings,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        start_new_session=True,
    ) as process:
        try:
            said, _ = process.communicate(timeout=options.limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return TOO_LONG, time.monotonic() - started, ""
    fate = KILLED if process.returncode else SURVIVED
    return fate, time.monotonic() - started, said


def _copy_to(folder: Path) -> None:
    """Copy what the tests need; the mistakes are made there and not in the tree."""
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(source, folder / name, ignore=ignored)
        else:
            shutil.copy(source, folder / name)


def _options(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.tools.mutation")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument(
        "--path", nargs="+", default=[""], help="keep to modules whose path holds it"
    )
    parser.add_argument("--limit", type=float, default=300, help="seconds that one mutant has")
    parser.add_argument("--without-spark", action="store_true")
    parser.add_argument("--list", action="store_true", help="print the mutants, and try none")
    return parser.parse_args(words)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
